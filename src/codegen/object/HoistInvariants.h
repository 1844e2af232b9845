//===- HoistInvariants.h - what a loop need not repeat leaves it ----------------------------------------===//
#pragma once
#include "mlir/Pass/Pass.h"

namespace tokamak::codegen {

/// Moves out of loops what does not depend on them: MLIR's loop-invariant code motion, which leaves all loads
/// where they are, and beside it loads that are marked invariant, with what is computed from them. A sigmoid
/// of a value a row is then computed once a row, not for each vector of the row.
std::unique_ptr<mlir::Pass> createHoistInvariantsPass();

} // namespace tokamak::codegen
