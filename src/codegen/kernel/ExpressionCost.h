//===- ExpressionCost.h - what computing one element of an operator takes -----------------------===//
#pragma once
#include "analysis/TargetDescription.h"
#include "ir/Tk.h"
#include "mlir/IR/Operation.h"

namespace tokamak::codegen {

/// For `target.lanes()` result elements, read off the operator's element expression in the loops that suit it
/// best.
struct ExpressionCost {
  double cycles = 0;        ///< of arithmetic, on values and on indices that differ by lane
  int64_t instructions = 0; ///< vector instructions, calls of libm counted as one
  double loads = 0;   ///< of neighbours, or of one element for all lanes, where the operands lie in memory
  double gathers = 0; ///< loads lane by lane, and such stores of a whole group
};

/// Cycles that an emitted operation of the arith or math dialect takes, at the rate at which many of its kind
/// run; none for scalar indices, which are computed in units that would be idle.
double arithmeticCycles(mlir::Operation *emitted, const TargetDescription &target);

/// `op` has an element expression and no loop of its own (no reduction, no anchor). Constants of one element
/// are no loads.
ExpressionCost expressionCost(mlir::Operation *op, const TargetDescription &target);

/// The same for all elements of all results of a group without reductions and anchors, emitted as one kernel:
/// what is picked, repeated or selected on the way shows only there. `imagesAreBlocked`: around convolutions,
/// which have tensors of rank 4 and more by blocks of channels.
ExpressionCost pointwiseCost(tk::FusionOp group, const TargetDescription &target, bool imagesAreBlocked);

} // namespace tokamak::codegen
