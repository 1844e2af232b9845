//===- FoldBatchNorm.cpp - batch norm into the convolution before it ---------------------------===//
// y = s * (W x + b) + t with s = gamma / sqrt(variance + epsilon), t = beta - mean * s is a convolution with
// weights s W and bias s b + t. Contract: reassociating. Factors are computed in double and rounded once, so
// each term of the sum carries one more rounding of its weight, and the sum one less for the norm.
//
// The weights are new constants: others may share the old ones. A convolution whose result anything else
// reads, the graph's outputs included, stays as it is.
#include "rewrite/BatchNormFactors.h"
#include "rewrite/ConstantOperands.h"
#include "rewrite/LinearOperator.h"
#include "rewrite/Passes.h"

namespace tokamak {
#define GEN_PASS_DEF_FOLDBATCHNORM
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;
using rewrite::BatchNormFactors;
using rewrite::LinearOperator;

namespace {
struct FoldBatchNorm : tokamak::impl::FoldBatchNormBase<FoldBatchNorm> {
  explicit FoldBatchNorm(PassStatePtr state) : state(std::move(state)) {}

  void runOnOperation() override {
    llvm::SmallVector<tk::BatchNormOp> norms;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (llvm::isa<tk::CompositeOp, tk::FusionOp>(op))
        return WalkResult::skip();
      if (auto norm = llvm::dyn_cast<tk::BatchNormOp>(op))
        norms.push_back(norm);
      return WalkResult::advance();
    });
    for (tk::BatchNormOp norm : norms)
      fold(norm);
  }

private:
  void fold(tk::BatchNormOp norm) {
    std::optional<LinearOperator> conv = rewrite::linearOperator(norm.getInput().getDefiningOp());
    if (!conv || !conv->takesBias || !conv->op->hasOneUse())
      return;
    std::optional<BatchNormFactors> factors = rewrite::batchNormFactors(norm);
    if (!factors)
      return;
    std::optional<Tensor> weight = conv->weightForScaledResult(factors->scale);
    std::optional<Tensor> bias = conv->scaledAndShiftedBias(factors->scale, factors->shift);
    if (!weight || !bias || !state->fuel.take(getArgument(), norm.getLoc()))
      return;

    OpBuilder builder(conv->op);
    Location loc = conv->op->getLoc();
    Operation *merged = conv->rebuild(builder, mergeLocations(loc, norm.getLoc()), conv->input(),
                                      rewrite::makeConstant(builder, loc, *weight),
                                      rewrite::makeConstant(builder, loc, *bias));
    state->removed.merged(norm.getLoc(), loc);
    norm->replaceAllUsesWith(merged);
    norm->erase();
    conv->op->erase();
  }

  PassStatePtr state;
};
} // namespace

std::unique_ptr<Pass> tokamak::createFoldBatchNormPass(PassStatePtr state) {
  return std::make_unique<FoldBatchNorm>(orFresh(std::move(state)));
}
