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

/// Bytes that the tasks of such a convolution move, all of them together.
struct FilteringTraffic {
  int64_t weights = 0;      ///< of the transformed filters, which lie in memory in place of the weights
  int64_t weightPasses = 1; ///< times that all of them are read: each block of tiles does
  int64_t inputPasses = 1;  ///< times that the input is read: for each part of the output channels
  int64_t scratch = 0;      ///< that a task needs, for its inputs and products
  int64_t scratchRead = 0, scratchWritten = 0;
};

/// As `createWinogradConvolution` would have it, or why there is none.
llvm::Expected<FilteringTraffic> filteringTraffic(const ConvolutionShape &shape, int64_t outputs,
                                                  const TargetDescription &target);

} // namespace tokamak::codegen
