//===- FoldBatchNorm.cpp - batch norm into the convolution before it ---------------------------===//
// y = s * (W x + b) + t with s = gamma / sqrt(variance + epsilon), t = beta - mean * s is a convolution with
// weights s W and bias s b + t. Contract: reassociating. Factors are computed in double and rounded once, so
// each term of the sum carries one more rounding of its weight, and the sum one less for the norm.
//
// The weights are new constants: others may share the old ones. A convolution whose result anything else
// reads, the graph's outputs included, stays as it is.
#include "rewrite/BatchNormFactors.h"
#include "rewrite/Passes.h"
#include <cmath>

namespace tokamak {
#define GEN_PASS_DEF_FOLDBATCHNORM
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;
using rewrite::BatchNormFactors;

/// Output channel of weight element `i`: of conv, weights are [M, C/group, ...]; of conv_transpose [C,
/// M/group, ...], where input channels [g C/group, (g+1) C/group) feed output channels [g M/group, (g+1)
/// M/group).
static int64_t outputChannel(Operation *conv, const Tensor &weight, int64_t i) {
  const int64_t kernel = weight.size() / (weight.shape()[0] * weight.shape()[1]);
  const int64_t row = i / (weight.shape()[1] * kernel), column = i / kernel % weight.shape()[1];
  auto transposed = llvm::dyn_cast<tk::ConvTransposeOp>(conv);
  if (!transposed)
    return row;
  const int64_t rowsPerGroup = weight.shape()[0] / static_cast<int64_t>(transposed.getGroup());
  return row / rowsPerGroup * weight.shape()[1] + column;
}

/// The weights with each output channel scaled; nothing where one would not be finite.
static std::optional<Tensor> scaledWeight(Operation *conv, const Tensor &weight,
                                          const BatchNormFactors &norm) {
  Tensor result(weight.type(), weight.shape());
  for (int64_t i = 0; i < weight.size(); ++i) {
    result.setDouble(i, weight.doubleAt(i) * norm.scale[outputChannel(conv, weight, i)]);
    if (!std::isfinite(result.doubleAt(i)))
      return std::nullopt;
  }
  return result;
}

static std::optional<Tensor> shiftedBias(const std::optional<Tensor> &bias, DataType type,
                                         const BatchNormFactors &norm) {
  const auto channels = static_cast<int64_t>(norm.scale.size());
  Tensor result(type, {channels});
  for (int64_t c = 0; c < channels; ++c) {
    result.setDouble(c, (bias ? bias->doubleAt(c) : 0.0) * norm.scale[c] + norm.shift[c]);
    if (!std::isfinite(result.doubleAt(c)))
      return std::nullopt;
  }
  return result;
}

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
    Operation *conv = norm.getInput().getDefiningOp();
    if (!conv || !llvm::isa<tk::ConvOp, tk::ConvTransposeOp>(conv) || !conv->hasOneUse())
      return;
    std::optional<BatchNormFactors> factors = rewrite::batchNormFactors(norm);
    std::optional<Tensor> weight = tk::constantValue(conv->getOperand(1));
    std::optional<Tensor> bias;
    if (conv->getNumOperands() == 3) {
      bias = tk::constantValue(conv->getOperand(2));
      if (!bias)
        return;
    }
    if (!factors || !weight || weight->size() == 0)
      return;
    std::optional<Tensor> newWeight = scaledWeight(conv, *weight, *factors);
    std::optional<Tensor> newBias = shiftedBias(bias, weight->type(), *factors);
    if (!newWeight || !newBias || !state->fuel.take(getArgument(), norm.getLoc()))
      return;

    OpBuilder builder(conv);
    auto constant = [&](const Tensor &tensor) -> Value {
      return builder.create<tk::ConstantOp>(conv->getLoc(), tensor.mlirType(&getContext()),
                                            tensor.toAttr(&getContext()));
    };
    OperationState merged(mergeLocations(conv->getLoc(), norm.getLoc()), conv->getName(),
                          {conv->getOperand(0), constant(*newWeight), constant(*newBias)},
                          conv->getResultTypes(), conv->getAttrs());
    state->removed.merged(norm.getLoc(), conv->getLoc());
    norm->replaceAllUsesWith(builder.create(merged));
    norm->erase();
    conv->erase();
  }

  PassStatePtr state;
};
} // namespace

std::unique_ptr<Pass> tokamak::createFoldBatchNormPass(PassStatePtr state) {
  return std::make_unique<FoldBatchNorm>(orFresh(std::move(state)));
}
