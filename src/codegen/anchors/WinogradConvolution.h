//===- WinogradConvolution.h - 3x3 convolutions by minimal filtering
//--------------------------------------===//
#pragma once
#include "codegen/anchors/Convolution.h"

namespace tokamak::codegen {

/// A plan for a two-dimensional convolution of 3x3 taps, without stride, dilation or groups, of a
/// channel-blocked input in memory: tiles of `outputs` x `outputs` results (2 or 4) take (outputs + 2)^2
/// products instead of 9 outputs^2. A task transforms the inputs of some tiles into scratch, multiplies them
/// by the filters that were transformed when compiling, one matrix product for each of the factors, and
/// transforms back; everything between stays in the second cache level. A NaN or an infinity spreads over its
/// tile. See docs/winograd.md.
llvm::Expected<std::unique_ptr<ConvolutionPlan>>
createWinogradConvolution(const ConvolutionShape &shape, int64_t outputs, const TargetDescription &target);

} // namespace tokamak::codegen
