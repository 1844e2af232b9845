//===- Traffic.cpp - bytes moved and arithmetic done ---------------------------------------===//
#include "analysis/Traffic.h"
#include "analysis/KernelOperands.h"
#include "ir/Tk.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::analysis;

static constexpr int64_t maximum = std::numeric_limits<int64_t>::max();

static int64_t saturatingAdd(int64_t a, int64_t b) {
  int64_t sum;
  return llvm::AddOverflow(a, b, sum) ? maximum : sum;
}
static int64_t saturatingMul(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? maximum : product;
}

Traffic &Traffic::operator+=(const Traffic &other) {
  kernels = saturatingAdd(kernels, other.kernels);
  bytesRead = saturatingAdd(bytesRead, other.bytesRead);
  bytesWritten = saturatingAdd(bytesWritten, other.bytesWritten);
  weightBytes = saturatingAdd(weightBytes, other.weightBytes);
  flops = saturatingAdd(flops, other.flops);
  return *this;
}

int64_t analysis::tensorBytes(Value value) {
  auto type = llvm::dyn_cast<RankedTensorType>(value.getType());
  std::optional<DataType> element = type ? fromMlir(type.getElementType()) : std::nullopt;
  if (!element)
    return 0;
  int64_t bytes = static_cast<int64_t>(byteSize(*element));
  for (int64_t extent : type.getShape())
    bytes = saturatingMul(bytes, extent);
  return bytes;
}

bool analysis::isFree(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>() || op->hasTrait<OpTrait::IsTerminator>() ||
         llvm::isa<tk::ReshapeOp>(op) || op->hasAttr(viewAttribute);
}

Value analysis::bufferOf(Value value) {
  while (auto view = value.getDefiningOp<tk::ReshapeOp>())
    value = view.getInput();
  return value;
}

/// True where `op` reads of its operand `use` only the elements that it writes.
static bool readsOnlyWhatItWrites(OpOperand &use) {
  return llvm::isa<tk::SliceOp>(use.getOwner()) ||
         (use.getOperandNumber() == 0 &&
          llvm::isa<tk::GatherOp, tk::GatherElementsOp, tk::GatherNDOp>(use.getOwner()));
}

int64_t analysis::bytesReadThrough(Value value, llvm::ArrayRef<OpOperand *> uses) {
  int64_t whole = tensorBytes(value), parts = 0;
  for (OpOperand *use : uses) {
    if (!readsOnlyWhatItWrites(*use))
      return whole;
    parts = saturatingAdd(parts, tensorBytes(use->getOwner()->getResult(0)));
  }
  return std::min(whole, parts);
}

static Traffic costlier(const Traffic &a, const Traffic &b) {
  auto bytes = [](const Traffic &t) {
    return saturatingAdd(saturatingAdd(t.bytesRead, t.bytesWritten), t.weightBytes);
  };
  return bytes(a) >= bytes(b) ? a : b;
}

/// Iterations of a loop as far as the graph tells: of its scan outputs, or of a constant limit; else one.
static int64_t tripsOf(tk::LoopOp loop) {
  if (loop.getOutputs().size() > loop.getCarried().size())
    return static_cast<int64_t>(loop.getScanTrips());
  if (loop.getTripLimit())
    if (std::optional<Tensor> limit = tk::constantValue(loop.getTripLimit()))
      return limit->size() == 1 ? std::max<int64_t>(limit->intAt(0), 0) : 1;
  return 1;
}

static Traffic repeated(Traffic traffic, int64_t times) {
  for (int64_t *sum :
       {&traffic.kernels, &traffic.bytesRead, &traffic.bytesWritten, &traffic.weightBytes, &traffic.flops})
    *sum = saturatingMul(*sum, times);
  return traffic;
}

Traffic analysis::trafficOf(Operation *op) {
  if (isFree(op))
    return {};
  if (auto branch = llvm::dyn_cast<tk::IfOp>(op))
    return costlier(trafficOf(branch.getThenRegion().front()), trafficOf(branch.getElseRegion().front()));
  if (auto loop = llvm::dyn_cast<tk::LoopOp>(op))
    return repeated(trafficOf(loop.getBody().front()), tripsOf(loop));

  Traffic traffic;
  traffic.kernels = 1;
  const KernelOperands operands = operandsOf(op);
  for (const KernelOperands::Buffer &read : operands.reads) {
    int64_t &sum = isWeight(read.value) ? traffic.weightBytes : traffic.bytesRead;
    sum = saturatingAdd(sum, read.bytes);
  }
  for (const KernelOperands::Buffer &write : operands.writes)
    traffic.bytesWritten = saturatingAdd(traffic.bytesWritten, write.bytes);
  if (auto counted = llvm::dyn_cast<tk::TrafficInterface>(op))
    traffic.flops = std::max<int64_t>(counted.getFlops(), 0);
  return traffic;
}

int64_t analysis::timesRun(Operation *op) {
  int64_t times = 1;
  for (auto loop = op->getParentOfType<tk::LoopOp>(); loop; loop = loop->getParentOfType<tk::LoopOp>())
    times = saturatingMul(times, tripsOf(loop));
  return times;
}

Traffic analysis::trafficOf(Block &block) {
  Traffic sum;
  for (Operation &op : block)
    sum += trafficOf(&op);
  return sum;
}
