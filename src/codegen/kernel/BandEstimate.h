//===- BandEstimate.h - whether a reduction can ride on a group's kernel ----------------------------===//
// What partitioners ask about BandSums.h.
#pragma once
#include "analysis/TargetDescription.h"
#include "ir/Tk.h"
#include <optional>

namespace tokamak::codegen {

/// Whether `op` is a tk.window over bands of rows that touch, with all columns. Padding below the last row
/// only makes up the last band.
bool sumsBands(mlir::Operation *op);

/// Rows of the bands in which a kernel of convolutions adds up its results while it computes them: a
/// tk.window of them may join the group. Nothing where no such kernel can be.
std::optional<int64_t> bandRowsOf(tk::FusionOp group, const TargetDescription &target);

} // namespace tokamak::codegen
