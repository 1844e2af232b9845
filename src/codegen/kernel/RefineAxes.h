//===- RefineAxes.h - axes cut wherever a reshape of the group cuts them ----------------------------===//
#pragma once
#include "mlir/IR/Block.h"

namespace tokamak::codegen {

/// Gives all values of a group that reduces the finest shape that its reshapes ask for: a group norm in
/// pieces, [N, C, H, W] -> [N, G, K] -> [N, C, H, W], works on [N, G, C/G, H, W], and keeps N and G apart
/// from end to end. Only arguments are still read through a reshape; what `body` yields may change its type,
/// to one of the same elements in the same row-major order. Leaves the group as it is where an operator
/// cannot work on cut axes, or cuts do not fit into each other. Exact.
void refineAxes(mlir::Block &body);

} // namespace tokamak::codegen
