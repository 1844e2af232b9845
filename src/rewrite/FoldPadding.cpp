//===- FoldPadding.cpp - padding into the operator that slides over it ------------------------===//
// Convolutions and windows pad on their own, without a padded copy in memory: zeros for a convolution, what
// changes no result for a window (0, -inf). A pad before a window that takes the maximum of what is never
// negative may hold zeros, as long as each window sees an element besides.
//
// Contract: exact. A convolution skips its padding where it would have multiplied it, so its weights have to
// be constants that are finite. Only spatial axes can be padded so, and conv_transpose not at all: its pads
// crop.
#include "mlir/IR/PatternMatch.h"
#include "rewrite/ConstantOperands.h"
#include "rewrite/Passes.h"
#include "rewrite/RewriteDriver.h"
#include "rewrite/ValueFacts.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>

namespace tokamak {
#define GEN_PASS_DEF_FOLDPADDING
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;

using Extents = llvm::SmallVector<int64_t>;

/// The pad that `value` is, where nothing else reads it and only spatial axes are padded.
static tk::PadOp spatialPad(Value value) {
  auto pad = value.hasOneUse() ? value.getDefiningOp<tk::PadOp>() : nullptr;
  if (!pad || tk::tensorType(value).getRank() < 3)
    return nullptr;
  auto isZero = [](int64_t extent) { return extent == 0; };
  return llvm::all_of(pad.getLow().take_front(2), isZero) && llvm::all_of(pad.getHigh().take_front(2), isZero)
             ? pad
             : nullptr;
}

static Extents sumOf(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  Extents sums;
  for (auto [x, y] : llvm::zip_equal(a, b))
    sums.push_back(x + y);
  return sums;
}

/// Replaces `op`, which slides over `pad`, by one that does the padding.
template <typename Op>
static LogicalResult padItself(Op op, tk::PadOp pad, PatternRewriter &rewriter) {
  Extents low = sumOf(op.getPadsLow(), pad.getLow().drop_front(2));
  Extents high = sumOf(op.getPadsHigh(), pad.getHigh().drop_front(2));
  // Of windows it is below 2^31, of tensors it need not be.
  auto isLong = [](int64_t extent) { return extent >= int64_t(1) << 31; };
  if (llvm::any_of(low, isLong) || llvm::any_of(high, isLong))
    return failure();
  Location loc = mergeLocations(op.getLoc(), pad.getLoc());
  OperationState state(loc, op->getName(), op->getOperands(), op->getResultTypes(), op->getAttrs());
  state.operands[0] = pad.getInput();
  Operation *merged = rewriter.create(state);
  llvm::cast<Op>(merged).setPadsLow(low);
  llvm::cast<Op>(merged).setPadsHigh(high);
  rewriter.replaceOp(op, merged);
  return success();
}

static LogicalResult padConvolution(tk::ConvOp op, PatternRewriter &rewriter) {
  tk::PadOp pad = spatialPad(op.getInput());
  std::optional<Tensor> value = pad ? rewrite::compactConstant(pad.getValue()) : std::nullopt;
  if (!value || value->doubleAt(0) != 0)
    return failure();
  std::optional<Tensor> weight = rewrite::compactConstant(op.getWeight());
  if (!weight || !rewrite::allElements(*weight, [](double w) { return std::isfinite(w); }))
    return failure();
  return padItself(op, pad, rewriter);
}

/// Whether each window of `op` sees an element of the input of `pad`.
static bool allWindowsMeet(tk::WindowOp op, tk::PadOp pad) {
  ArrayRef<int64_t> inner = tk::tensorType(pad.getInput()).getShape().drop_front(2);
  ArrayRef<int64_t> results = op.getType().getShape().drop_front(2);
  for (size_t axis = 0; axis < inner.size(); ++axis) {
    const int64_t low = op.getPadsLow()[axis] + pad.getLow()[axis + 2];
    for (int64_t out = 0; out < results[axis]; ++out) {
      bool meets = false;
      for (int64_t tap = 0; tap < op.getKernel()[axis] && !meets; ++tap) {
        const int64_t at = out * op.getStrides()[axis] + tap * op.getDilations()[axis] - low;
        meets = at >= 0 && at < inner[axis];
      }
      if (!meets)
        return false;
    }
  }
  return true;
}

/// The value that a window's own padding stands for, or nothing where there is no number for it.
static std::optional<double> paddingOf(tk::ReduceKind kind, DataType type) {
  if (kind == tk::ReduceKind::Sum)
    return 0;
  if (kind == tk::ReduceKind::Max && isFloat(type))
    return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

static LogicalResult padWindow(tk::WindowOp op, PatternRewriter &rewriter) {
  tk::PadOp pad = spatialPad(op.getInput());
  std::optional<Tensor> value = pad ? rewrite::compactConstant(pad.getValue()) : std::nullopt;
  if (!value)
    return failure();
  const std::optional<double> identity = paddingOf(op.getKind(), value->type());
  const bool isIdentity = identity && value->doubleAt(0) == *identity;
  const bool isBelow = op.getKind() == tk::ReduceKind::Max && value->doubleAt(0) == 0 &&
                       rewrite::isNeverNegative(pad.getInput()) && allWindowsMeet(op, pad);
  if (!isIdentity && !isBelow)
    return failure();
  return padItself(op, pad, rewriter);
}

namespace {
struct FoldPadding : tokamak::impl::FoldPaddingBase<FoldPadding> {
  explicit FoldPadding(PassStatePtr state) : state(std::move(state)) {}

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(padConvolution).add(padWindow);
    rewrite::applyRewrites(getOperation(), std::move(patterns), *state, getArgument());
  }

  PassStatePtr state;
};
} // namespace

std::unique_ptr<Pass> tokamak::createFoldPaddingPass(PassStatePtr state) {
  return std::make_unique<FoldPadding>(orFresh(std::move(state)));
}
