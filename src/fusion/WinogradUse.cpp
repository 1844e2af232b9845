//===- WinogradUse.cpp - which convolutions are computed by minimal filtering ----------------===//
#include "fusion/WinogradUse.h"
#include "analysis/PostDominatorTree.h"
#include "analysis/Traffic.h"
#include "codegen/anchors/Convolution.h"
#include "codegen/anchors/WinogradConvolution.h"
#include "codegen/host/Layouts.h"
#include "mlir/IR/Matchers.h"
#include <optional>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

bool WinogradUse::isReadInRows(Value value) const {
  return llvm::any_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    return user->hasTrait<OpTrait::IsTerminator>() ? !surroundings.leavesInBlocks(use)
                                                   : analysis::kindOf(user) == FusionKind::Opaque;
  });
}

bool WinogradUse::comesInRows(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && !surroundings.comesInBlocks(argument);
}

/// Follows what is computed element by element back to what decides.
bool WinogradUse::isComputedInRows(Value value) {
  llvm::SmallVector<Value> path;
  std::optional<bool> result;
  while (!result) {
    if (auto known = computedInRows.find(value); known != computedInRows.end()) {
      result = known->second;
      break;
    }
    path.push_back(value);
    Operation *op = value.getDefiningOp();
    if (!op) {
      result = comesInRows(value);
    } else if (auto concat = dyn_cast<tk::ConcatOp>(op);
               (concat && llvm::all_of(concat.getInputs(), [&](Value part) { return comesInRows(part); })) ||
               isa<tk::ReshapeOp, tk::TransposeOp, tk::MatMulOp>(op) ||
               codegen::joinsWithinBlocks(op, target.lanes()) || analysis::kindOf(op) == FusionKind::Opaque) {
      result = true;
    } else if (analysis::kindOf(op) > FusionKind::Broadcast || op->getNumOperands() == 0) {
      result = false;
    } else {
      auto same = llvm::find_if(op->getOperands(), [&](Value operand) {
        return tk::tensorType(operand).getShape() == tk::tensorType(value).getShape();
      });
      if (same == op->getOperands().end())
        result = true;
      else
        value = *same;
    }
  }
  for (Value passed : path)
    computedInRows[passed] = *result;
  return *result;
}

/// Whether `value` will lie in memory row by row, as the program's inputs and results do and what joins or
/// regroups channels, or follows element by element from one of these.
bool WinogradUse::liesInRows(Value value) {
  auto [read, isNew] = readInRows.try_emplace(value);
  if (isNew)
    read->second = isReadInRows(value);
  return read->second || isComputedInRows(value);
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

int64_t WinogradUse::outputs(tk::ConvOp conv) {
  if (!hasConstantWeight(conv) || liesInRows(conv.getInput()))
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
