//===- DepthwiseConvolution.h - convolutions of each channel by itself --------------------===//
#pragma once
#include "codegen/anchors/Convolution.h"

namespace tokamak::codegen {

/// Plans for groups of one input and one output channel, from a channel-blocked input; plain and transposed.
/// Lanes run over channels. The weights are [channel block][kd][kh][kw][lanes].
llvm::Expected<std::unique_ptr<ConvolutionPlan>> createDepthwiseConvolution(const ConvolutionShape &shape,
                                                                            const TargetDescription &target);

} // namespace tokamak::codegen
