//===- CalibrateKernels.h - what share of the machine's rate our own kernels reach -------------===//
#pragma once
#include "analysis/TargetDescription.h"
#include "tokamak/Session.h"

namespace tokamak::tool {

/// Compiles a small graph for each family of kernels, times it on one thread, and stores in
/// `target.efficiency` the time that the cost model expects at full efficiency over the one measured, at most
/// 1. `target` must hold this machine's speeds; where clock and peak turn out higher in between, it is told.
Status measureKernels(TargetDescription &target);

/// Stores what one more kernel takes in a program where it has nothing to do.
Status measureCall(TargetDescription &target);

} // namespace tokamak::tool
