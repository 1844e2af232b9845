//===- RowMajorDepthwise.h - depthwise convolutions of row-major images ---------------------===//
#pragma once
#include "codegen/anchors/Convolution.h"

namespace tokamak::codegen {

/// Plans for groups of one input channel that read a row-major input, as a graph's inputs are, over one or
/// two spatial axes. Lanes run over columns, so nothing is gathered; columns are not strided. Several rows
/// are computed together: a vector of the input that lies across cache lines, as most do, is read once for
/// all of them. Weights stay in ONNX order.
llvm::Expected<std::unique_ptr<ConvolutionPlan>> createRowMajorDepthwise(const ConvolutionShape &shape,
                                                                         const TargetDescription &target);

} // namespace tokamak::codegen
