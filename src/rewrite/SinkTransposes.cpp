//===- SinkTransposes.cpp - transposes behind elementwise work, to where they cancel ------------===//
// op(transpose(x), c) -> transpose(op(x, c')), where nothing but elementwise operators stands between that
// transpose and the next one. Graphs exported from channels-last frameworks put a pair of transposes around
// each convolution, with the bias and the activation between one pair and the next: side by side they join
// (simplify-movement-chains), and the bias and the activation are at their convolution. Contract: exact.
#include "mlir/IR/PatternMatch.h"
#include "rewrite/ConstantOperands.h"
#include "rewrite/Elementwise.h"
#include "rewrite/Passes.h"
#include "rewrite/RewriteDriver.h"
#include "llvm/ADT/STLExtras.h"

namespace tokamak {
#define GEN_PASS_DEF_SINKTRANSPOSES
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;

/// Operators followed from one transpose to the next at most.
static constexpr int mostSteps = 16;

/// Whether a transpose is all that reads `op`, or reads what elementwise operators make of it.
static bool leadsToTranspose(Operation *op) {
  for (int steps = 0; steps < mostSteps && op->hasOneUse(); ++steps) {
    op = *op->user_begin();
    if (llvm::isa<tk::TransposeOp>(op))
      return true;
    if (!rewrite::isElementwise(op))
      return false;
  }
  return false;
}

/// A constant that is one element, or runs along one axis, as one beside what is transposed.
static std::optional<Tensor> beforeTranspose(Value operand, ArrayRef<int64_t> permutation) {
  std::optional<Tensor> constant = rewrite::compactConstant(operand);
  if (!constant || constant->size() == 1)
    return constant;
  const auto rank = static_cast<int64_t>(permutation.size()), missing = rank - constant->rank();
  llvm::SmallVector<int64_t> shape(rank, 1);
  int64_t wideAxes = 0;
  for (auto [i, extent] : llvm::enumerate(constant->shape())) {
    wideAxes += extent != 1;
    shape[permutation[static_cast<int64_t>(i) + missing]] = extent;
  }
  return wideAxes == 1 ? std::optional(constant->reshaped(shape)) : std::nullopt;
}

static LogicalResult sinkTranspose(Operation *op, PatternRewriter &rewriter) {
  if (!rewrite::isElementwise(op) || !leadsToTranspose(op))
    return failure();
  auto transposeOf = [](Value value) {
    return value.hasOneUse() ? value.getDefiningOp<tk::TransposeOp>() : nullptr;
  };
  auto found = llvm::find_if(op->getOperands(), [&](Value v) { return transposeOf(v) != nullptr; });
  if (found == op->operand_end())
    return failure();
  tk::TransposeOp transpose = transposeOf(*found);
  auto resultType = llvm::cast<RankedTensorType>(op->getResult(0).getType());
  if (resultType.getShape() != transpose.getType().getShape() || transpose->getBlock() != op->getBlock())
    return failure();

  llvm::SmallVector<std::optional<Tensor>> constants;
  for (Value operand : op->getOperands()) {
    tk::TransposeOp other = transposeOf(operand);
    constants.push_back(other ? std::nullopt : beforeTranspose(operand, transpose.getPermutation()));
    if (other ? other.getPermutation() != transpose.getPermutation() : !constants.back())
      return failure();
  }
  llvm::SmallVector<Value> operands;
  for (auto [operand, constant] : llvm::zip_equal(op->getOperands(), constants))
    operands.push_back(constant ? rewrite::makeConstant(rewriter, operand.getLoc(), *constant)
                                : transposeOf(operand).getInput());
  ArrayRef<int64_t> shape = tk::tensorType(transpose.getInput()).getShape();
  Operation *computed = rewriter.create(
      OperationState(op->getLoc(), op->getName(), operands, {resultType.clone(shape)}, op->getAttrs()));
  rewriter.replaceOp(op,
                     rewriter.create<tk::TransposeOp>(transpose.getLoc(), resultType, computed->getResult(0),
                                                      transpose.getPermutation()));
  return success();
}

namespace {
struct SinkTranspose : RewritePattern {
  explicit SinkTranspose(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    return sinkTranspose(op, rewriter);
  }
};

struct SinkTransposes : tokamak::impl::SinkTransposesBase<SinkTransposes> {
  explicit SinkTransposes(PassStatePtr state) : state(std::move(state)) {}

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SinkTranspose>(&getContext());
    tk::TransposeOp::getCanonicalizationPatterns(patterns, &getContext());
    rewrite::applyRewrites(getOperation(), std::move(patterns), *state, getArgument());
  }

  PassStatePtr state;
};
} // namespace

std::unique_ptr<Pass> tokamak::createSinkTransposesPass(PassStatePtr state) {
  return std::make_unique<SinkTransposes>(orFresh(std::move(state)));
}
