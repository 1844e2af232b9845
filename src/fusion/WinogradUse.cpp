//===- WinogradUse.cpp - which convolutions are computed by minimal filtering ----------------===//
#include "fusion/WinogradUse.h"
#include "analysis/PostDominatorTree.h"
#include "analysis/Traffic.h"
#include "codegen/anchors/Convolution.h"
#include "codegen/anchors/WinogradConvolution.h"
#include "codegen/host/Layouts.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

/// Whether `value` will lie in memory row by row, as the program's inputs and results do and what joins or
/// regroups channels, or follows element by element from one of these.
static bool liesInRows(Value value, int64_t lanes, const Surroundings &surroundings) {
  if (llvm::any_of(value.getUses(), [&](OpOperand &use) {
        Operation *user = use.getOwner();
        return user->hasTrait<OpTrait::IsTerminator>() ? !surroundings.leavesInBlocks(use)
                                                       : analysis::kindOf(user) == FusionKind::Opaque;
      }))
    return true;
  auto comesInRows = [&](Value input) {
    auto argument = dyn_cast<BlockArgument>(input);
    return argument && !surroundings.comesInBlocks(argument);
  };
  for (;;) {
    if (isa<BlockArgument>(value))
      return comesInRows(value);
    Operation *op = value.getDefiningOp();
    if (auto concat = dyn_cast<tk::ConcatOp>(op); concat && llvm::all_of(concat.getInputs(), comesInRows))
      return true;
    if (isa<tk::ReshapeOp, tk::TransposeOp, tk::MatMulOp>(op) || codegen::joinsWithinBlocks(op, lanes) ||
        analysis::kindOf(op) == FusionKind::Opaque)
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

static bool hasConstantWeight(tk::ConvOp conv) { return matchPattern(conv.getWeight(), m_Constant()); }

codegen::WeightSource fusion::convolutionWeights(ModuleOp program, const TargetDescription &target) {
  int64_t bytes = 0;
  program.walk([&](tk::ConvOp conv) {
    if (hasConstantWeight(conv))
      bytes += analysis::tensorBytes(conv.getWeight());
  });
  return bytes <= target.l3Bytes ? codegen::WeightSource::Cache : codegen::WeightSource::Memory;
}

int64_t fusion::winogradOutputs(tk::ConvOp conv, codegen::WeightSource weights,
                                const TargetDescription &target, const Surroundings &surroundings) {
  if (!hasConstantWeight(conv) || liesInRows(conv.getInput(), target.lanes(), surroundings))
    return 0;
  auto shape = codegen::ConvolutionPlan::describe(conv, codegen::Layout{.block = target.lanes()}, target);
  if (!shape) {
    llvm::consumeError(shape.takeError());
    return 0;
  }
  // Whether there is such a plan at all.
  auto plan = codegen::createWinogradConvolution(*shape, 2, target);
  if (!plan) {
    llvm::consumeError(plan.takeError());
    return 0;
  }
  return codegen::chooseWinograd(*shape, weights, target);
}
