//===- ConvolutionChain.h - convolutions of one group that compute each other's inputs ---------------===//
// Where the input of a convolution depends on another convolution of the group, each task has the band of it
// that it reads computed into its scratch, by the other convolution, whose own input may come about in the
// same way. So the values between them are as large as a few bands, and never leave the cache. The rows that
// two bands have in common are computed for both.
#pragma once
#include "codegen/kernel/KernelContext.h"

namespace tokamak::codegen {

/// A plan for a group of several anchors, or of one whose results are also summed; nothing if they are no
/// chain, or if one row of it needs more scratch than the second cache level keeps.
std::optional<KernelStrategy> planConvolutionChain(KernelBody &body, const KernelMemory &memory,
                                                   const TargetDescription &target);

/// Rows of the bands in which a kernel of the group, a chain of one convolution or more, would best add up
/// its results (BandSums.h); nothing if it is none. Sums that ride there already say it.
std::optional<int64_t> bandRowsOf(KernelBody &body, const KernelMemory &memory,
                                  const TargetDescription &target);

/// The operators of `heavy` that `value` depends on through others that are not.
llvm::SmallVector<mlir::Operation *> heavyBehind(mlir::Value value, llvm::ArrayRef<mlir::Operation *> heavy);

} // namespace tokamak::codegen
