//===- MaskRegisters.cpp - masked accesses of targets without mask registers ----------------------------===//
#include "codegen/object/MaskRegisters.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/bit.h"
#include <numeric>

using namespace mlir;

namespace tokamak::codegen {
namespace {

constexpr int64_t kRegisterBits = 256;

/// The access of one register at a time.
class RegisterWise {
public:
  RegisterWise(Operation *op, VectorType type, Value pointer, Value mask)
      : b(op->getLoc(), op), type(type), pointer(pointer), mask(mask),
        lanes(kRegisterBits / type.getElementTypeBitWidth()) {}

  static bool applies(VectorType type, Value mask) {
    const unsigned bits = type.getElementTypeBitWidth();
    return (bits == 32 || bits == 64) && type.getNumElements() * bits % kRegisterBits == 0 &&
           !matchPattern(mask, m_Constant());
  }

  Value load() {
    Value whole;
    for (int64_t first = 0; first < type.getNumElements(); first += lanes) {
      Value part = b.create<LLVM::CallIntrinsicOp>(partType(), b.getStringAttr(intrinsic("load")),
                                                   ValueRange{address(first), maskOf(first)})
                       .getResults();
      whole = whole ? b.create<LLVM::ShuffleVectorOp>(whole, part, iota(0, first + lanes)) : part;
    }
    return whole;
  }
  void store(Value value) {
    for (int64_t first = 0; first < type.getNumElements(); first += lanes)
      b.create<LLVM::CallIntrinsicOp>(TypeRange(), b.getStringAttr(intrinsic("store")),
                                      ValueRange{address(first), maskOf(first), partOf(value, first)});
  }

private:
  VectorType partType() const { return VectorType::get(lanes, type.getElementType()); }
  std::string intrinsic(const std::string &access) const {
    if (type.getElementType().isIntOrIndex())
      return "llvm.x86.avx2.mask" + access + (lanes == 8 ? ".d.256" : ".q.256");
    return "llvm.x86.avx.mask" + access + (lanes == 8 ? ".ps.256" : ".pd.256");
  }
  static SmallVector<int32_t> iota(int64_t first, int64_t count) {
    SmallVector<int32_t> numbers(static_cast<size_t>(count));
    std::iota(numbers.begin(), numbers.end(), static_cast<int32_t>(first));
    return numbers;
  }
  Value partOf(Value vector, int64_t first) {
    if (type.getNumElements() == lanes)
      return vector;
    return b.create<LLVM::ShuffleVectorOp>(vector, vector, iota(first, lanes));
  }
  Value maskOf(int64_t first) {
    auto integers = VectorType::get(lanes, b.getIntegerType(type.getElementTypeBitWidth()));
    return b.create<LLVM::SExtOp>(integers, partOf(mask, first));
  }
  Value address(int64_t first) {
    return b.create<LLVM::GEPOp>(pointer.getType(), type.getElementType(), pointer,
                                 ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(first)});
  }

  ImplicitLocOpBuilder b;
  VectorType type;
  Value pointer, mask;
  int64_t lanes;
};

/// The number of lanes that a constant mask has, where these are the first.
std::optional<int64_t> firstLanesOf(Value mask) {
  DenseElementsAttr bits;
  if (!matchPattern(mask, m_Constant(&bits)))
    return std::nullopt;
  auto lanes = llvm::to_vector(bits.getValues<bool>());
  const auto count = llvm::count(lanes, true);
  if (llvm::is_contained(ArrayRef<bool>(lanes).take_front(static_cast<size_t>(count)), false))
    return std::nullopt;
  return count;
}

/// Stores the first `count` lanes by registers and parts of them that are powers of two: on some processors
/// (Zen 3) a masked store takes as long as a dozen of these.
void storeFirst(LLVM::MaskedStoreOp op, int64_t count) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = cast<VectorType>(op.getValue().getType());
  const auto most = static_cast<int64_t>(kRegisterBits / type.getElementTypeBitWidth());
  for (int64_t first = 0; first < count;) {
    const auto rest = static_cast<uint64_t>(count - first);
    const int64_t lanes = std::min(most, static_cast<int64_t>(llvm::bit_floor(rest)));
    SmallVector<int32_t> picked(static_cast<size_t>(lanes));
    std::iota(picked.begin(), picked.end(), static_cast<int32_t>(first));
    Value part = b.create<LLVM::ShuffleVectorOp>(op.getValue(), op.getValue(), picked);
    Value address = b.create<LLVM::GEPOp>(op.getData().getType(), type.getElementType(), op.getData(),
                                          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(first)});
    b.create<LLVM::StoreOp>(part, address, type.getElementTypeBitWidth() / 8);
    first += lanes;
  }
}

struct MaskRegisters : PassWrapper<MaskRegisters, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MaskRegisters)
  StringRef getName() const override { return "mask-registers"; }

  void runOnOperation() override {
    SmallVector<LLVM::MaskedLoadOp> loads;
    SmallVector<LLVM::MaskedStoreOp> stores;
    getOperation().walk([&](LLVM::MaskedLoadOp op) { loads.push_back(op); });
    getOperation().walk([&](LLVM::MaskedStoreOp op) { stores.push_back(op); });
    for (LLVM::MaskedLoadOp op : loads) {
      auto type = cast<VectorType>(op.getType());
      // The instruction gives zero where the mask is false.
      const bool givesZero = op.getPassThru().size() == 1 && matchPattern(op.getPassThru().front(), m_Zero());
      const bool givesZeroFloat =
          op.getPassThru().size() == 1 && matchPattern(op.getPassThru().front(), m_AnyZeroFloat());
      if ((!givesZero && !givesZeroFloat) || !RegisterWise::applies(type, op.getMask()))
        continue;
      op.replaceAllUsesWith(RegisterWise(op, type, op.getData(), op.getMask()).load());
      op.erase();
    }
    for (LLVM::MaskedStoreOp op : stores) {
      auto type = cast<VectorType>(op.getValue().getType());
      if (std::optional<int64_t> lanes = firstLanesOf(op.getMask());
          lanes && type.getElementTypeBitWidth() >= 8) {
        storeFirst(op, *lanes);
        op.erase();
        continue;
      }
      if (!RegisterWise::applies(type, op.getMask()))
        continue;
      RegisterWise(op, type, op.getData(), op.getMask()).store(op.getValue());
      op.erase();
    }
  }
};

} // namespace

std::unique_ptr<Pass> createMaskRegistersPass() { return std::make_unique<MaskRegisters>(); }

} // namespace tokamak::codegen
