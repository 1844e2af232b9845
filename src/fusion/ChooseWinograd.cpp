//===- ChooseWinograd.cpp - convolutions that are computed by minimal filtering --------------===//
// A convolution of 3x3 taps without stride takes 2.25 or 4 times fewer multiplications by F(2x2, 3x3) or
// F(4x4, 3x3), but transforms of its input and result, and weights of 1.8 or 4 times the size. Which way it
// goes is noted at the operator; a kernel that cannot go that way, a band of a chain say, computes plain
// sums.
//
// Contract: reassociating. The error of F(2x2) is below that of the plain sum, that of F(4x4) about twice as
// large. A NaN or an infinity in the input reaches all results of the tiles that read it.
#include "analysis/PostDominatorTree.h"
#include "codegen/anchors/Convolution.h"
#include "codegen/anchors/WinogradChoice.h"
#include "codegen/anchors/WinogradConvolution.h"
#include "codegen/host/Layouts.h"
#include "rewrite/Passes.h"

namespace tokamak {
#define GEN_PASS_DEF_CHOOSEWINOGRAD
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;

namespace {

/// Whether `value` will lie in memory row by row, as the program's inputs and results do and what joins or
/// regroups channels, or follows element by element from one of these.
bool liesInRows(Value value, int64_t lanes) {
  if (llvm::any_of(value.getUsers(), [](Operation *user) {
        return user->hasTrait<OpTrait::IsTerminator>() || analysis::kindOf(user) == FusionKind::Opaque;
      }))
    return true;
  for (;;) {
    Operation *op = value.getDefiningOp();
    if (!op || isa<tk::ReshapeOp, tk::TransposeOp, tk::MatMulOp>(op) ||
        codegen::joinsWithinBlocks(op, lanes) || analysis::kindOf(op) == FusionKind::Opaque)
      return true;
    if (analysis::kindOf(op) > FusionKind::Broadcast || op->getNumOperands() == 0)
      return false;
    auto same = llvm::find_if(op->getOperands(), [&](Value operand) {
      return tk::tensorType(operand).getShape() == tk::tensorType(value).getShape();
    });
    if (same == op->getOperands().end())
      return true;
    value = *same;
  }
}

struct ChooseWinograd : tokamak::impl::ChooseWinogradBase<ChooseWinograd> {
  explicit ChooseWinograd(PassStatePtr state) : state(std::move(state)) {}

  void runOnOperation() override {
    llvm::SmallVector<tk::ConvOp> convolutions;
    int64_t weightBytes = 0;
    getOperation().walk([&](tk::ConvOp conv) {
      std::optional<Tensor> weight = tk::constantValue(conv.getWeight());
      if (!weight)
        return;
      weightBytes += static_cast<int64_t>(weight->byteCount());
      convolutions.push_back(conv);
    });
    // All of them are read in every run.
    const auto source =
        weightBytes <= state->target.l3Bytes ? codegen::WeightSource::Cache : codegen::WeightSource::Memory;
    for (tk::ConvOp conv : convolutions)
      choose(conv, source);
  }

private:
  void choose(tk::ConvOp conv, codegen::WeightSource source) {
    const TargetDescription &target = state->target;
    if (liesInRows(conv.getInput(), target.lanes()))
      return;
    auto shape = codegen::ConvolutionPlan::describe(conv, codegen::Layout{.block = target.lanes()}, target);
    if (!shape)
      return llvm::consumeError(shape.takeError());
    // Whether there is such a plan at all.
    auto plan = codegen::createWinogradConvolution(*shape, 2, target);
    if (!plan)
      return llvm::consumeError(plan.takeError());
    const int64_t outputs = codegen::chooseWinograd(*shape, source, target);
    if (outputs != 0 && state->fuel.take(getArgument(), conv.getLoc()))
      conv.setWinograd(outputs);
  }

  PassStatePtr state;
};

} // namespace

std::unique_ptr<Pass> tokamak::createChooseWinogradPass(PassStatePtr state) {
  return std::make_unique<ChooseWinograd>(orFresh(std::move(state)));
}
