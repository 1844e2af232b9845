//===- JoinClips.cpp - chains of minima and maxima --------------------------------------------===//
// max(max(x, a), b) -> max(x, max(a, b)); max(min(max(x, a), b), c) -> min(max(x, max(a, c)), max(b, c)), so
// that a clip of a clip, or a relu around one, is one clip; both with minima and maxima exchanged; max(x, 0)
// -> x where x is never negative, and |x| -> x.
//
// Contract: exact for every type. Minima and maxima of the dialect are those of a total order, -0 below +0,
// around NaN, which both hand on; so they are associative and distribute over each other, with bounds of NaN
// as well.
#include "mlir/IR/PatternMatch.h"
#include "rewrite/ConstantOperands.h"
#include "rewrite/Passes.h"
#include "rewrite/RewriteDriver.h"
#include "rewrite/ValueFacts.h"

namespace tokamak {
#define GEN_PASS_DEF_JOINCLIPS
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;
using rewrite::ConstantOperand;
using rewrite::constantOperand;
using rewrite::makeConstant;

/// The extremum of two bounds that `Op` computes.
template <typename Op>
static std::optional<Tensor> extremum(const Tensor &a, const Tensor &b) {
  return std::is_same_v<Op, tk::MaxOp> ? rewrite::largerOf(a, b) : rewrite::smallerOf(a, b);
}

template <typename Op>
static std::optional<ConstantOperand> asBound(Operation *op) {
  return constantOperand(llvm::dyn_cast_or_null<Op>(op));
}

template <typename Op>
static LogicalResult joinEqual(Op op, PatternRewriter &rewriter) {
  std::optional<ConstantOperand> outer = asBound<Op>(op);
  if (!outer || !outer->x.hasOneUse())
    return failure();
  std::optional<ConstantOperand> inner = asBound<Op>(outer->x.getDefiningOp());
  std::optional<Tensor> bound = inner ? extremum<Op>(inner->constant, outer->constant) : std::nullopt;
  if (!bound)
    return failure();
  Location loc = mergeLocations(outer->x.getLoc(), op.getLoc());
  rewriter.replaceOp(op,
                     rewriter.create<Op>(loc, op.getType(), inner->x, makeConstant(rewriter, loc, *bound)));
  return success();
}

/// Op(Other(Op(x, a), b), c) -> Other(Op(x, Op(a, c)), Op(b, c)).
template <typename Op, typename Other>
static LogicalResult joinAlternating(Op op, PatternRewriter &rewriter) {
  std::optional<ConstantOperand> outer = asBound<Op>(op);
  std::optional<ConstantOperand> middle =
      outer && outer->x.hasOneUse() ? asBound<Other>(outer->x.getDefiningOp()) : std::nullopt;
  std::optional<ConstantOperand> inner =
      middle && middle->x.hasOneUse() ? asBound<Op>(middle->x.getDefiningOp()) : std::nullopt;
  if (!inner)
    return failure();
  std::optional<Tensor> first = extremum<Op>(inner->constant, outer->constant);
  std::optional<Tensor> second = extremum<Op>(middle->constant, outer->constant);
  if (!first || !second)
    return failure();
  Location innerLoc = middle->x.getLoc(), loc = mergeLocations(outer->x.getLoc(), op.getLoc());
  Value bounded =
      rewriter.create<Op>(innerLoc, op.getType(), inner->x, makeConstant(rewriter, innerLoc, *first));
  rewriter.replaceOp(
      op, rewriter.create<Other>(loc, op.getType(), bounded, makeConstant(rewriter, loc, *second)));
  return success();
}

static LogicalResult dropRelu(tk::MaxOp op, PatternRewriter &rewriter) {
  std::optional<ConstantOperand> parts = constantOperand(op);
  if (!parts || !rewrite::allElements(parts->constant, [](double v) { return v <= 0; }) ||
      !rewrite::isNeverNegative(parts->x))
    return failure();
  rewriter.replaceOp(op, parts->x);
  return success();
}

static LogicalResult dropAbs(tk::AbsOp op, PatternRewriter &rewriter) {
  if (!rewrite::isNeverNegative(op.getInput()))
    return failure();
  rewriter.replaceOp(op, op.getInput());
  return success();
}

namespace {
struct JoinClips : tokamak::impl::JoinClipsBase<JoinClips> {
  explicit JoinClips(PassStatePtr state) : state(std::move(state)) {}

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(joinEqual<tk::MaxOp>)
        .add(joinEqual<tk::MinOp>)
        .add(joinAlternating<tk::MaxOp, tk::MinOp>)
        .add(joinAlternating<tk::MinOp, tk::MaxOp>)
        .add(dropRelu)
        .add(dropAbs);
    rewrite::applyRewrites(getOperation(), std::move(patterns), *state, getArgument());
  }

  PassStatePtr state;
};
} // namespace

std::unique_ptr<Pass> tokamak::createJoinClipsPass(PassStatePtr state) {
  return std::make_unique<JoinClips>(orFresh(std::move(state)));
}
