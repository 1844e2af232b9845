//===- NarrowGroupConvolution.h - convolutions of groups within one vector ----------------===//
#pragma once
#include "codegen/anchors/Convolution.h"

namespace tokamak::codegen {

/// Plans for groups so narrow that one vector of output channels holds whole groups (depthwise: groups of one
/// channel), from a channel-blocked input; plain and transposed. Lanes run over output channels; the input
/// channels of each lane's group are brought to it by a shuffle. The weights are [channel
/// block][kd][kh][kw][channel of the group][lanes].
llvm::Expected<std::unique_ptr<ConvolutionPlan>>
createNarrowGroupConvolution(const ConvolutionShape &shape, const TargetDescription &target);

} // namespace tokamak::codegen
