//===- ConvolutionChain.h - convolutions of one group that compute each other's inputs ---------------===//
// Where the input of a convolution depends on another convolution of the group, each task has the band of it
// that it reads computed into its scratch, by the other convolution, whose own input may come about in the
// same way. So the values between them are as large as a few bands, and never leave the cache. The rows that
// two bands have in common are computed for both.
#pragma once
#include "codegen/kernel/KernelContext.h"

namespace tokamak::codegen {

/// A plan for a group of several anchors; nothing if they are no chain, or if one row of it needs more
/// scratch than the second cache level keeps.
std::optional<KernelStrategy> planConvolutionChain(KernelBody &body, const KernelMemory &memory,
                                                   const TargetDescription &target);

} // namespace tokamak::codegen
