//===- TransposedToPointwise.cpp - transposed convolutions whose taps do not overlap
//------------------------===//
// Where the kernel is as long as the stride, each result has one tap: the transposed convolution is a 1x1
// convolution to a channel for each tap of each result channel, whose results are then laid side by side.
// Kernels have a lane for each channel they compute, so one of a single result channel, as at the end of a
// segmenting network, is idle but for one lane; as a 1x1 convolution it has as many as taps.
//
// Contract: exact, the same products added up in the same order.
#include "mlir/IR/PatternMatch.h"
#include "rewrite/Passes.h"
#include "rewrite/RewriteDriver.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

namespace tokamak {
#define GEN_PASS_DEF_TRANSPOSEDTOPOINTWISE
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;

using Extents = llvm::SmallVector<int64_t>;

/// Most result channels: with more, lanes are busy enough not to move all results once more.
static constexpr int64_t kMostChannels = 4;

static int64_t productOf(ArrayRef<int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t(1), std::multiplies<>());
}

/// Whether each result has one tap, and all of them are kept.
static bool hasOneTapAResult(tk::ConvTransposeOp op) {
  auto all = [](ArrayRef<int64_t> values, int64_t wanted) {
    return llvm::all_of(values, [&](int64_t value) { return value == wanted; });
  };
  return op.getStrides() == tk::tensorType(op.getWeight()).getShape().drop_front(2) &&
         all(op.getDilations(), 1) && all(op.getPadsLow(), 0) && all(op.getPadsHigh(), 0) &&
         all(op.getOutputPadding(), 0);
}

/// `value` with its axes in the order `permutation`, as `shape`.
static Value rearranged(PatternRewriter &rewriter, Location loc, Value value, ArrayRef<int64_t> permutation,
                        ArrayRef<int64_t> shape) {
  auto type = tk::tensorType(value);
  Extents moved;
  for (int64_t axis : permutation)
    moved.push_back(type.getShape()[static_cast<size_t>(axis)]);
  Value transposed = rewriter.create<tk::TransposeOp>(loc, type.clone(moved), value, permutation);
  return rewriter.create<tk::ReshapeOp>(loc, type.clone(shape), transposed, shape);
}

static LogicalResult toPointwise(tk::ConvTransposeOp op, PatternRewriter &rewriter) {
  auto input = tk::tensorType(op.getInput()), weight = tk::tensorType(op.getWeight());
  ArrayRef<int64_t> taps = weight.getShape().drop_front(2), plane = input.getShape().drop_front(2);
  const int64_t images = input.getDimSize(0), inputs = input.getDimSize(1), outputs = weight.getDimSize(1);
  const auto axes = static_cast<int64_t>(taps.size());
  if (op.getGroup() != 1 || outputs > kMostChannels || productOf(taps) == 1 || !hasOneTapAResult(op))
    return failure();
  const Location loc = op.getLoc();
  const int64_t channels = outputs * productOf(taps);

  // Weights [C, M, taps...] as [M taps..., C, 1...], and a bias for each tap.
  Extents order(static_cast<size_t>(axes + 2)), kernel{channels, inputs};
  std::iota(order.begin(), order.end(), 1);
  order.back() = 0;
  kernel.append(static_cast<size_t>(axes), 1);
  Value weights = rearranged(rewriter, loc, op.getWeight(), order, kernel), bias;
  if (op.getBias()) {
    auto type = tk::tensorType(op.getBias());
    const Extents column{outputs, 1}, repeated{outputs, productOf(taps)};
    bias = rewriter.create<tk::ReshapeOp>(loc, type.clone(column), op.getBias(), column);
    bias = rewriter.create<tk::BroadcastOp>(loc, type.clone(repeated), bias, repeated);
    bias = rewriter.create<tk::ReshapeOp>(loc, type.clone(ArrayRef(channels)), bias, ArrayRef(channels));
  }
  const Extents ones(static_cast<size_t>(axes), 1), zeros(static_cast<size_t>(axes), 0);
  Extents computed{images, channels};
  llvm::append_range(computed, plane);
  Value results = rewriter.create<tk::ConvOp>(loc, input.clone(computed), op.getInput(), weights, bias, ones,
                                              ones, zeros, zeros, /*group=*/1, /*winograd=*/IntegerAttr());

  // [N, M, taps..., plane...] to [N, M, row, tap row, column, tap column, ...].
  Extents apart{images, outputs}, side{0, 1};
  llvm::append_range(apart, taps);
  llvm::append_range(apart, plane);
  for (int64_t axis = 0; axis < axes; ++axis) {
    side.push_back(2 + axes + axis);
    side.push_back(2 + axis);
  }
  results = rewriter.create<tk::ReshapeOp>(loc, input.clone(apart), results, apart);
  rewriter.replaceOp(op, rearranged(rewriter, loc, results, side, op.getType().getShape()));
  return success();
}

namespace {
struct TransposedToPointwise : tokamak::impl::TransposedToPointwiseBase<TransposedToPointwise> {
  explicit TransposedToPointwise(PassStatePtr state) : state(std::move(state)) {}

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(toPointwise);
    rewrite::applyRewrites(getOperation(), std::move(patterns), *state, getArgument());
  }

  PassStatePtr state;
};
} // namespace

std::unique_ptr<Pass> tokamak::createTransposedToPointwisePass(PassStatePtr state) {
  return std::make_unique<TransposedToPointwise>(orFresh(std::move(state)));
}
