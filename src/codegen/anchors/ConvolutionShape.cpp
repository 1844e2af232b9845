//===- ConvolutionShape.cpp - extents of a convolution, and its taps along one axis -------===//
#include "codegen/anchors/ConvolutionShape.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace tokamak::codegen {

bool AxisTaps::neverOutside() const {
  return outCount == 0 || tapCount == 0 || (isInside(0, 0) && isInside(outCount - 1, tapCount - 1));
}

/// Outputs o = phase + q * stride take the kernel elements k with k * dilation = phase + pad (mod stride);
/// such an element meets the input element q + (phase + pad - k * dilation) / stride. Taps are listed by
/// ascending input, that is by descending k.
static AxisTaps transposedPhase(const ConvolutionShape &shape, unsigned axis, int64_t phase) {
  int64_t stride = shape.strides[axis], dilation = shape.dilations[axis],
          shifted = phase + shape.padsLow[axis];
  AxisTaps taps;
  taps.outStart = phase;
  taps.outStep = stride;
  taps.outCount = (shape.output[axis] - phase + stride - 1) / stride;
  taps.inExtent = shape.input[axis];
  llvm::SmallVector<int64_t> kernels;
  for (int64_t k = shape.kernel[axis] - 1; k >= 0; --k)
    if ((shifted - k * dilation) % stride == 0)
      kernels.push_back(k);
  taps.tapCount = static_cast<int64_t>(kernels.size());
  if (kernels.empty())
    return taps;
  taps.kernelStart = kernels[0];
  taps.inStart = (shifted - kernels[0] * dilation) / stride;
  if (kernels.size() > 1) {
    taps.kernelStep = kernels[1] - kernels[0];
    taps.inTapStep = (kernels[0] - kernels[1]) * dilation / stride;
  }
  return taps;
}

llvm::SmallVector<AxisTaps> axisPhases(const ConvolutionShape &shape, unsigned axis) {
  llvm::SmallVector<AxisTaps> phases;
  if (shape.transposed) {
    for (int64_t phase = 0; phase < std::min(shape.strides[axis], shape.output[axis]); ++phase)
      phases.push_back(transposedPhase(shape, axis, phase));
    return phases;
  }
  AxisTaps taps;
  taps.outCount = shape.output[axis];
  taps.inExtent = shape.input[axis];
  taps.inStep = shape.strides[axis];
  taps.inStart = -shape.padsLow[axis];
  taps.inTapStep = shape.dilations[axis];
  taps.tapCount = shape.kernel[axis];
  phases.push_back(taps);
  return phases;
}

/// For how many outputs a tap is inside the input, taps added up.
static int64_t tapsInside(const AxisTaps &axis) {
  int64_t inside = 0;
  for (int64_t tap = 0; tap < axis.tapCount; ++tap) {
    const int64_t at = axis.inputIndex(0, tap);
    const int64_t first = std::max<int64_t>(llvm::divideCeilSigned(-at, axis.inStep), 0);
    const int64_t last =
        std::min(llvm::divideFloorSigned(axis.inExtent - 1 - at, axis.inStep), axis.outCount - 1);
    inside += std::max<int64_t>(last - first + 1, 0);
  }
  return inside;
}

double multiplyAdds(const ConvolutionShape &shape) {
  auto pairs = static_cast<double>(shape.batch * shape.outChannels * shape.inChannelsPerGroup());
  for (unsigned axis = 0; axis < 3; ++axis) {
    int64_t perAxis = 0;
    if (shape.winograd != 0 && axis > 0)
      perAxis = static_cast<int64_t>(llvm::divideCeil(shape.output[axis], shape.winograd)) *
                (shape.winograd + shape.kernel[axis] - 1);
    else
      for (const AxisTaps &taps : axisPhases(shape, axis))
        perAxis += tapsInside(taps);
    pairs *= static_cast<double>(perAxis);
  }
  return pairs;
}

} // namespace tokamak::codegen
