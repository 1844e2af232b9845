//===- DenseConvolution.h - convolutions that sum over many input channels ----------------===//
#pragma once
#include "codegen/anchors/Convolution.h"

namespace tokamak::codegen {

/// Plans for one group, or for groups of whole vectors of output channels; plain and transposed. The weights
/// of a tile of output channels are one panel, [tile][input channel block][kd][kh][kw][channel][vectors *
/// lanes].
llvm::Expected<std::unique_ptr<ConvolutionPlan>> createDenseConvolution(const ConvolutionShape &shape,
                                                                        const TargetDescription &target);

} // namespace tokamak::codegen
