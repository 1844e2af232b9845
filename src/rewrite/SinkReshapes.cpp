//===- SinkReshapes.cpp - reshapes behind the elementwise work that follows them ---------------===//
// op(reshape(x), c) -> reshape(op(x, c)). A reshape between kernels is a view and costs nothing; between a
// matrix product and its bias, activation or residual it keeps them apart, since a kernel that reduces cannot
// write through a reshape that splits or joins axes. Contract: exact.
//
// Other operands have one element, or run along a last axis that the reshape keeps, or have the full shape
// and are viewed the other way round: these are read by others as well (residuals), so that the reshape in
// front of them is not a candidate in turn.
#include "mlir/IR/PatternMatch.h"
#include "rewrite/Elementwise.h"
#include "rewrite/Passes.h"
#include "rewrite/RewriteDriver.h"
#include "llvm/ADT/STLExtras.h"

namespace tokamak {
#define GEN_PASS_DEF_SINKRESHAPES
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;

/// A reshape that joins or splits axes, of a value that nothing else reads.
static tk::ReshapeOp movableReshape(Value value) {
  auto reshape = value.hasOneUse() ? value.getDefiningOp<tk::ReshapeOp>() : nullptr;
  if (!reshape || reshape.getFusionKind() == FusionKind::Broadcast || !reshape.getInput().hasOneUse())
    return nullptr;
  Operation *producer = reshape.getInput().getDefiningOp();
  return producer && !producer->hasTrait<OpTrait::ConstantLike>() ? reshape : nullptr;
}

/// Whether an operand broadcasts alike to `inner` and to `outer`.
static bool fitsBoth(Value operand, ArrayRef<int64_t> inner, ArrayRef<int64_t> outer) {
  RankedTensorType type = tk::tensorType(operand);
  if (type.getRank() > static_cast<int64_t>(inner.size()))
    return false;
  const bool keepsLastAxis = !inner.empty() && !outer.empty() && inner.back() == outer.back();
  return type.getNumElements() == 1 || (type.getRank() == 1 && keepsLastAxis);
}

/// Whether an operand of the shape `outer` can be viewed as `inner` at no cost.
static bool canBeViewed(Value operand, ArrayRef<int64_t> inner, ArrayRef<int64_t> outer) {
  if (tk::tensorType(operand).getShape() != outer)
    return false;
  auto reshape = operand.getDefiningOp<tk::ReshapeOp>();
  return reshape ? tk::tensorType(reshape.getInput()).getShape() == inner : !operand.hasOneUse();
}

static Value viewedAs(Value operand, ArrayRef<int64_t> inner, PatternRewriter &rewriter) {
  if (auto reshape = operand.getDefiningOp<tk::ReshapeOp>())
    return reshape.getInput();
  return rewriter.create<tk::ReshapeOp>(operand.getLoc(), tk::tensorType(operand).clone(inner), operand,
                                        inner);
}

static LogicalResult sinkReshape(Operation *op, PatternRewriter &rewriter) {
  if (!rewrite::isElementwise(op))
    return failure();
  auto moved =
      llvm::find_if(op->getOperands(), [](Value operand) { return movableReshape(operand) != nullptr; });
  if (moved == op->operand_end())
    return failure();
  tk::ReshapeOp reshape = movableReshape(*moved);
  ArrayRef<int64_t> inner = tk::tensorType(reshape.getInput()).getShape(),
                    outer = reshape.getType().getShape();
  auto resultType = llvm::cast<RankedTensorType>(op->getResult(0).getType());
  if (resultType.getShape() != outer || reshape->getBlock() != op->getBlock())
    return failure();
  auto fits = [&](Value operand) {
    return operand == *moved || fitsBoth(operand, inner, outer) || canBeViewed(operand, inner, outer);
  };
  if (!llvm::all_of(op->getOperands(), fits))
    return failure();
  llvm::SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(
        operand != *moved && fitsBoth(operand, inner, outer) ? operand : viewedAs(operand, inner, rewriter));
  Operation *computed = rewriter.create(
      OperationState(op->getLoc(), op->getName(), operands, {resultType.clone(inner)}, op->getAttrs()));
  rewriter.replaceOp(
      op, rewriter.create<tk::ReshapeOp>(reshape.getLoc(), resultType, computed->getResult(0), outer));
  return success();
}

namespace {
struct SinkReshape : RewritePattern {
  explicit SinkReshape(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    return sinkReshape(op, rewriter);
  }
};

struct SinkReshapes : tokamak::impl::SinkReshapesBase<SinkReshapes> {
  explicit SinkReshapes(PassStatePtr state) : state(std::move(state)) {}

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SinkReshape>(&getContext());
    rewrite::applyRewrites(getOperation(), std::move(patterns), *state, getArgument());
  }

  PassStatePtr state;
};
} // namespace

std::unique_ptr<Pass> tokamak::createSinkReshapesPass(PassStatePtr state) {
  return std::make_unique<SinkReshapes>(orFresh(std::move(state)));
}
