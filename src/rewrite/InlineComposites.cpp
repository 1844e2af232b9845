//===- InlineComposites.cpp - composites as the operators they consist of ----------------------===//
// Rewrites see operators, not the bodies of composites. Inlined are those that share a kernel with their
// neighbours either way and have something to rewrite: arithmetic on two operands, with one matrix product or
// window in it at most (Clip, HardSwish, Gemm, AveragePool). One with a function in it (Sigmoid) has no
// constant that could go anywhere. A composite that reduces (softmax, a norm, a mean) stays one node: it runs
// row by row as a whole, and in pieces it would have to be put together again. Contract: exact.
#include "analysis/Blocks.h"
#include "mlir/IR/IRMapping.h"
#include "rewrite/Passes.h"
#include "llvm/ADT/STLExtras.h"

namespace tokamak {
#define GEN_PASS_DEF_INLINECOMPOSITES
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;

static bool isArithmetic(tk::CompositeOp composite) {
  int64_t anchors = 0;
  for (Operation &op : composite.getBody().front().without_terminator()) {
    auto kinded = llvm::dyn_cast<tk::FusionKindInterface>(op);
    if (!kinded)
      return false;
    const FusionKind kind = kinded.getFusionKind();
    if (kind == FusionKind::Anchor)
      ++anchors;
    else if (kind > FusionKind::Broadcast || op.getNumOperands() == 1)
      return false;
  }
  return anchors <= 1;
}

namespace {
struct InlineComposites : tokamak::impl::InlineCompositesBase<InlineComposites> {
  explicit InlineComposites(PassStatePtr state) : state(std::move(state)) {}

  void runOnOperation() override {
    llvm::SmallVector<tk::CompositeOp> composites;
    analysis::forEachGraphBlock(getOperation(), [&](Block &block) {
      llvm::append_range(composites, block.getOps<tk::CompositeOp>());
    });
    for (tk::CompositeOp composite : composites)
      if (isArithmetic(composite) && state->fuel.take(getArgument(), composite.getLoc()))
        inlineBody(composite);
  }

private:
  static void inlineBody(tk::CompositeOp composite) {
    OpBuilder builder(composite);
    Block &body = composite.getBody().front();
    IRMapping mapping;
    mapping.map(body.getArguments(), composite.getInputs());
    for (Operation &op : body.without_terminator())
      builder.clone(op, mapping)->setLoc(composite.getLoc());
    for (auto [result, yielded] :
         llvm::zip_equal(composite.getOutputs(), body.getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookup(yielded));
    composite.erase();
  }

  PassStatePtr state;
};
} // namespace

std::unique_ptr<Pass> tokamak::createInlineCompositesPass(PassStatePtr state) {
  return std::make_unique<InlineComposites>(orFresh(std::move(state)));
}
