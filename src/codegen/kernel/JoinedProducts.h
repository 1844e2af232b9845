//===- JoinedProducts.h - products of which a result needs several columns at once ------------------===//
// The cell of a recurrent network multiplies its input and its state by wide matrices, cuts the sums into
// gates and makes of the gates, element by element, the next state. An element of the state needs one column
// of each gate. Here the columns are packed so that a register tile holds the same block of all gates:
// whatever follows runs on the accumulators.
#pragma once
#include "codegen/kernel/KernelContext.h"

namespace tokamak::codegen {

/// A plan for products with constant right operands whose results are read at their own rows and at columns a
/// constant number away from the result's; nothing for other groups.
std::optional<KernelStrategy> planJoinedProducts(KernelBody &body, const KernelMemory &memory,
                                                 const TargetDescription &target);

} // namespace tokamak::codegen
