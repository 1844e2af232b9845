//===- DecomposeBatchNorm.cpp - batch norm as a multiplication and an addition ------------------===//
// What fold-batch-norm leaves would compute a square root and a division for every element. Contract:
// reassociating; gamma / sqrt(variance + epsilon) and beta - mean * that are computed in double and rounded
// once.
#include "rewrite/BatchNormFactors.h"
#include "rewrite/Passes.h"

namespace tokamak {
#define GEN_PASS_DEF_DECOMPOSEBATCHNORM
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;
using rewrite::BatchNormFactors;

namespace {
struct DecomposeBatchNorm : tokamak::impl::DecomposeBatchNormBase<DecomposeBatchNorm> {
  explicit DecomposeBatchNorm(PassStatePtr state) : state(std::move(state)) {}

  void runOnOperation() override {
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (llvm::isa<tk::CompositeOp, tk::FusionOp>(op))
        return WalkResult::skip();
      if (auto norm = llvm::dyn_cast<tk::BatchNormOp>(op)) {
        decompose(norm);
        return WalkResult::skip(); // it may be gone
      }
      return WalkResult::advance();
    });
  }

private:
  void decompose(tk::BatchNormOp norm) {
    std::optional<BatchNormFactors> factors = rewrite::batchNormFactors(norm);
    if (!factors || !state->fuel.take(getArgument(), norm.getLoc()))
      return;
    OpBuilder builder(norm);
    // [C] against axis 1 of [N, C, spatial...] is [C, 1...] as broadcasting aligns shapes.
    RankedTensorType type = norm.getType();
    llvm::SmallVector<int64_t> shape(std::max<int64_t>(type.getRank() - 1, 1), 1);
    shape.front() = static_cast<int64_t>(factors->scale.size());
    auto constant = [&](const std::vector<double> &values) -> Value {
      Tensor tensor(*fromMlir(type.getElementType()), shape);
      for (int64_t c = 0; c < tensor.size(); ++c)
        tensor.setDouble(c, values[c]);
      return builder.create<tk::ConstantOp>(norm.getLoc(), tensor.mlirType(&getContext()),
                                            tensor.toAttr(&getContext()));
    };
    Value scaled = builder.create<tk::MulOp>(norm.getLoc(), type, norm.getInput(), constant(factors->scale));
    norm->replaceAllUsesWith(
        builder.create<tk::AddOp>(norm.getLoc(), type, scaled, constant(factors->shift)));
    norm->erase();
  }

  PassStatePtr state;
};
} // namespace

std::unique_ptr<Pass> tokamak::createDecomposeBatchNormPass(PassStatePtr state) {
  return std::make_unique<DecomposeBatchNorm>(orFresh(std::move(state)));
}
