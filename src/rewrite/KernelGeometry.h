//===- KernelGeometry.h - centred kernels --------------------------------------------------------===//
#pragma once
#include "rewrite/WeightedAnchor.h"

namespace tokamak::rewrite {

/// Whether the convolution's result has the extents of its input and each tap lies as far to one side as its
/// mirror image to the other: stride 1, odd kernel, half of it as padding on either side.
bool isCentred(tk::ConvOp conv);

/// The weights with zeros around, so that the kernel has the extents `kernel`; both are odd.
mlir::Value embedKernel(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value weight,
                        llvm::ArrayRef<int64_t> kernel);

/// Extents of the spatial axes of weights.
llvm::ArrayRef<int64_t> kernelOf(mlir::Value weight);

} // namespace tokamak::rewrite
