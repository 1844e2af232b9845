//===- ConvolutionShape.h - extents of a convolution, and its taps along one axis ---------===//
#pragma once
#include "llvm/ADT/SmallVector.h"
#include <array>
#include <cstdint>

namespace tokamak::codegen {

/// Extents and attributes of tk.conv, tk.conv_transpose or tk.window. Always three spatial axes: leading axes
/// of extent 1 stand for the ones that a 1- or 2-dimensional convolution lacks.
struct ConvolutionShape {
  using Axes = std::array<int64_t, 3>;
  int64_t batch = 1, inChannels = 1, outChannels = 1, group = 1;
  Axes input{1, 1, 1}, kernel{1, 1, 1}, output{1, 1, 1};
  Axes strides{1, 1, 1}, dilations{1, 1, 1}, padsLow{0, 0, 0};
  int64_t spatialRank = 2; ///< how many of the three axes (the last ones) the operator has
  bool transposed = false;
  /// Results of a tile along both axes by minimal filtering, where that is possible; 0: plain sums.
  int64_t winograd = 0;
  enum class Window { None, Max, Sum } window = Window::None; ///< what combines the taps, without weights
  int64_t inputBlock = 0;     ///< channels per block of the input's layout; 0: row-major
  int64_t inputPitch = 0;     ///< elements between images of a blocked input; 0: they lie side by side
  bool computesInput = false; ///< the input is computed into scratch, channel-blocked by one vector
  // Where one convolution is computed inside another (codegen/kernel/ConvolutionChain.h):
  int64_t bandRows = 0; ///< rows of results that are asked for at a time at most, with all columns; 0: tasks
  int64_t inputBlocks = 1; ///< channel blocks of the input that are computed at a time, no fewer

  int64_t inChannelsPerGroup() const { return inChannels / group; }
  int64_t outChannelsPerGroup() const { return outChannels / group; }
};

/// What a convolution reads along one axis, for outputs `outStart + q * outStep`, 0 <= q < outCount. Tap t (0
/// <= t < tapCount) multiplies the kernel element `kernelStart + t * kernelStep` by the input element `q *
/// inStep + inStart + t * inTapStep`, which lies outside [0, inExtent) where the tap falls on padding.
/// inTapStep > 0.
struct AxisTaps {
  int64_t outStart = 0, outStep = 1, outCount = 1;
  int64_t inExtent = 1, inStep = 1, inStart = 0, inTapStep = 1;
  int64_t tapCount = 1, kernelStart = 0, kernelStep = 1;

  int64_t inputIndex(int64_t q, int64_t tap) const { return q * inStep + inStart + tap * inTapStep; }
  bool isInside(int64_t q, int64_t tap) const {
    int64_t i = inputIndex(q, tap);
    return i >= 0 && i < inExtent;
  }
  /// Whether no tap of any output falls on padding.
  bool neverOutside() const;
};

/// The taps along axis `axis`. A convolution has one entry. A transposed convolution of stride s has one for
/// each output phase (the outputs of equal remainder by s): within a phase it is a convolution of stride 1
/// with every s-th tap.
llvm::SmallVector<AxisTaps> axisPhases(const ConvolutionShape &shape, unsigned axis);

/// Multiply-adds without which there are no results: taps on padding take none, minimal filtering takes one
/// for each point of a tile, of whole tiles at the edges as well.
double multiplyAdds(const ConvolutionShape &shape);

} // namespace tokamak::codegen
