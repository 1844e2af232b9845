//===- Interleave.h - the columns of short rows that lie one behind the other ------------------------===//
#pragma once
#include "analysis/TargetDescription.h"
#include "codegen/anchors/LoopBuilder.h"

namespace tokamak::codegen {

/// `vectors` hold rows of as many elements as there are vectors, one row behind the other. Gives a vector for
/// each column, with a row in each lane.
LoopBuilder::Values columnsOf(LoopBuilder &loops, llvm::ArrayRef<mlir::Value> vectors);
/// The inverse.
LoopBuilder::Values rowsOf(LoopBuilder &loops, llvm::ArrayRef<mlir::Value> columns);

/// Instructions that either takes for rows of `width` elements.
int64_t stepsOfInterleaving(int64_t width, const TargetDescription &target);

} // namespace tokamak::codegen
