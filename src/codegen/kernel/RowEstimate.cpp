//===- RowEstimate.cpp - what a group would be as a row kernel -----------------------------------===//
#include "codegen/kernel/RowEstimate.h"
#include "codegen/kernel/RowPlan.h"

namespace tokamak::codegen {

RowEstimate estimateRows(tk::FusionOp group, const TargetDescription &target) {
  KernelBody body(group);
  KernelMemory memory;
  for (mlir::Value argument : body.arguments())
    memory.addArgument(argument, Layout(), false);
  for (auto [result, type] : llvm::zip(body.results(), group.getResultTypes()))
    memory.addOutput(result, type, Layout());
  RowPlan plan = planRows(body, memory, target);
  RowEstimate estimate;
  estimate.rowsAtOnce = plan.isTransposed ? target.lanes() : 1;
  estimate.lanesAreRows = plan.lanesAreRows();
  estimate.vectorsAtOnce = plan.vectorsAtOnce;
  estimate.rereadsMemory = plan.rereadsMemory;
  estimate.isWorthSharing = body.isWorthSharing();
  estimate.scratchBytes = plan.scratchBytes;
  plan.vectorsAtOnce = 1;
  estimate.rows = plan.isTransposed ? plan.rows() : plan.tasks(target.lanes());
  return estimate;
}

} // namespace tokamak::codegen
