//===- Sampling.cpp - reading images between their pixels ------------------------------------===//
#include "reference/Elements.h"
#include "reference/Numbers.h"
#include "reference/Register.h"
#include <algorithm>

namespace tokamak::reference {
namespace {

//===--------------------------------------------------------------------------------------------------------===//
// RoiAlign
//===--------------------------------------------------------------------------------------------------------===//

/// What a sample reads on one axis: two neighbouring pixels and their weights.
struct PixelPair {
  int64_t low, high;
  double lowWeight, highWeight;
};

/// Nothing where the sample lies more than a pixel outside the image (or is NaN).
std::optional<PixelPair> pixelPair(double position, int64_t extent) {
  if (!(position >= -1 && position <= static_cast<double>(extent)) || extent == 0)
    return std::nullopt;
  position = std::max(position, 0.0);
  const auto low = static_cast<int64_t>(position);
  if (low >= extent - 1)
    return PixelPair{extent - 1, extent - 1, 1, 0};
  const double fraction = position - static_cast<double>(low);
  return PixelPair{low, low + 1, 1 - fraction, fraction};
}

/// One axis of a region, cut into bins of `samplesPerBin` samples each.
class RegionAxis {
public:
  RegionAxis(double begin, double end, int64_t bins, tk::RoiAlignOp op) {
    const double scale = op.getSpatialScale().convertToDouble();
    const double offset = op.getHalfPixel() ? 0.5 : 0;
    start = begin * scale - offset;
    double size = end * scale - offset - start;
    if (!op.getHalfPixel() && !(size >= 1))
      size = 1; // without half pixels a region covers at least one
    binSize = size / static_cast<double>(bins);
    if (static_cast<int64_t>(op.getSamplingRatio()) > 0)
      samplesPerBin = static_cast<double>(op.getSamplingRatio());
    else if (binSize > 0)
      samplesPerBin = std::ceil(binSize);
  }

  /// How many samples a bin has, in or outside the image.
  double samplesPerBin = 0;

  /// The samples of a bin that read the image of `extent` pixels; the others count as zeros. A region may be
  /// far larger than the image, so only those near it are tried.
  std::vector<PixelPair> samplesInside(int64_t bin, int64_t extent) const {
    const double first = start + static_cast<double>(bin) * binSize;
    const double step = binSize / samplesPerBin;
    double from = 0, to = samplesPerBin;
    if (step > 0) {
      from = std::max(from, std::floor((-1 - first) / step) - 1);
      to = std::min(to, std::ceil((static_cast<double>(extent) - first) / step) + 1);
    }
    std::vector<PixelPair> samples;
    for (double i = from; i < to; ++i)
      if (auto pair = pixelPair(first + (i + 0.5) * binSize / samplesPerBin, extent))
        samples.push_back(*pair);
    return samples;
  }

private:
  double start, binSize;
};

/// The average of the bilinear samples, or the largest of their weighted pixels: the standard's own evaluator
/// takes the maximum before it adds the four, and so do its test data.
double poolBin(const double *plane, int64_t width, const std::vector<PixelPair> &rows,
               const std::vector<PixelPair> &columns, double sampleCount, bool maxMode) {
  double sum = 0;
  double largest = -std::numeric_limits<double>::infinity();
  for (const PixelPair &y : rows)
    for (const PixelPair &x : columns) {
      const double corners[] = {y.lowWeight * x.lowWeight * plane[y.low * width + x.low],
                                y.lowWeight * x.highWeight * plane[y.low * width + x.high],
                                y.highWeight * x.lowWeight * plane[y.high * width + x.low],
                                y.highWeight * x.highWeight * plane[y.high * width + x.high]};
      for (double corner : corners) {
        sum += corner;
        largest = maximum(largest, corner);
      }
    }
  if (!maxMode)
    return sum / std::max(sampleCount, 1.0);
  const bool anyOutside = static_cast<double>(rows.size() * columns.size()) < sampleCount;
  return anyOutside || sampleCount == 0 ? maximum(largest, 0.0) : largest;
}

Result roiAlign(tk::RoiAlignOp op, Operands operands) {
  const Tensor &image = operands[0];
  auto shape = tk::tensorType(op.getResult()).getShape();
  const int64_t channels = shape[1];
  const int64_t height = image.shape()[2];
  const int64_t width = image.shape()[3];
  const std::vector<double> pixels = load<double>(image);
  const std::vector<double> regions = load<double>(operands[1]);
  std::vector<double> results;
  results.reserve(static_cast<size_t>(product(shape)));
  for (int64_t r = 0; r < shape[0]; ++r) {
    const int64_t batch = operands[2].intAt(r);
    if (batch < 0 || batch >= image.shape()[0])
      return op.emitOpError("batch index ")
             << batch << " is out of range for " << image.shape()[0] << " images";
    const double *corners = regions.data() + r * 4; // x1, y1, x2, y2
    const RegionAxis rows(corners[1], corners[3], shape[2], op);
    const RegionAxis columns(corners[0], corners[2], shape[3], op);
    std::vector<std::vector<PixelPair>> columnSamples, rowSamples;
    columnSamples.reserve(static_cast<size_t>(shape[3]));
    rowSamples.reserve(static_cast<size_t>(shape[2]));
    for (int64_t bin = 0; bin < shape[3]; ++bin)
      columnSamples.push_back(columns.samplesInside(bin, width));
    for (int64_t bin = 0; bin < shape[2]; ++bin)
      rowSamples.push_back(rows.samplesInside(bin, height));
    for (int64_t c = 0; c < channels; ++c) {
      const double *plane = pixels.data() + (batch * channels + c) * height * width;
      for (const auto &y : rowSamples)
        for (const auto &x : columnSamples)
          results.push_back(
              poolBin(plane, width, y, x, rows.samplesPerBin * columns.samplesPerBin, op.getMaxMode()));
    }
  }
  return Tensors{store(image.type(), shape, results)};
}

//===--------------------------------------------------------------------------------------------------------===//
// GridSample
//===--------------------------------------------------------------------------------------------------------===//

/// A pixel that a grid point reads on one axis (-1: a zero outside the image) and its weight.
struct Tap {
  int64_t pixel;
  double weight;
};

/// The pixel at integer `position`, which may lie outside the image.
int64_t paddedPixel(int64_t position, int64_t extent, tk::GridSampleOp op) {
  if (extent == 0)
    return -1;
  if (position >= 0 && position < extent)
    return position;
  switch (op.getPadding()) {
  case tk::GridPadding::Zeros:
    return -1;
  case tk::GridPadding::Border:
    return std::clamp<int64_t>(position, 0, extent - 1);
  case tk::GridPadding::Reflection:
    break;
  }
  // Mirrored at the centres of the border pixels, or at their outer edges, which then appear twice.
  const int64_t period = op.getAlignCorners() ? 2 * (extent - 1) : 2 * extent;
  if (period == 0)
    return 0;
  const int64_t phase = (position % period + period) % period;
  return phase < extent ? phase : period - phase - (op.getAlignCorners() ? 0 : 1);
}

/// Keys' cubic convolution kernel with a = -0.75, as PyTorch has it.
double cubicWeight(double distance) {
  constexpr double a = -0.75;
  const double d = std::fabs(distance);
  if (d <= 1)
    return ((a + 2) * d - (a + 3)) * d * d + 1;
  return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}

/// What a grid coordinate (-1 to 1 across the image) reads along an axis of `extent` pixels. NaN counts as
/// -1.
llvm::SmallVector<Tap, 4> taps(double coordinate, int64_t extent, tk::GridSampleOp op) {
  if (std::isnan(coordinate))
    coordinate = -1;
  const auto size = static_cast<double>(extent);
  double x = op.getAlignCorners() ? (coordinate + 1) / 2 * (size - 1) : ((coordinate + 1) * size - 1) / 2;
  // Positions stay within what int64 and a double's fraction can hold; so far outside all pixels are alike.
  x = std::clamp(x, -0x1p40, 0x1p40);
  const double base = std::floor(x);
  const auto first = static_cast<int64_t>(base);
  const double fraction = x - base;
  auto pixel = [&](int64_t position) { return paddedPixel(position, extent, op); };
  switch (op.getMode()) {
  case tk::GridMode::Nearest:
    return {{pixel(static_cast<int64_t>(std::nearbyint(x))), 1.0}};
  case tk::GridMode::Linear:
    return {{pixel(first), 1 - fraction}, {pixel(first + 1), fraction}};
  case tk::GridMode::Cubic:
    return {{pixel(first - 1), cubicWeight(fraction + 1)},
            {pixel(first), cubicWeight(fraction)},
            {pixel(first + 1), cubicWeight(1 - fraction)},
            {pixel(first + 2), cubicWeight(2 - fraction)}};
  }
}

/// The weighted sum over the taps of all axes, the first of which is `axes.front()`; `offset` counts in units
/// of a slice.
double interpolate(const double *plane, llvm::ArrayRef<int64_t> extents,
                   llvm::ArrayRef<llvm::SmallVector<Tap, 4>> axes, int64_t offset) {
  if (axes.empty())
    return plane[offset];
  double sum = 0;
  for (const Tap &tap : axes.front())
    if (tap.pixel >= 0)
      sum += tap.weight * interpolate(plane, extents.drop_front(), axes.drop_front(),
                                      offset * extents.front() + tap.pixel);
  return sum;
}

Result gridSample(tk::GridSampleOp op, Operands operands) {
  const Tensor &image = operands[0];
  const Tensor &grid = operands[1];
  auto shape = tk::tensorType(op.getResult()).getShape();
  auto extents = image.shape().drop_front(2);
  const auto rank = static_cast<int64_t>(extents.size());
  const int64_t channels = shape[1];
  const int64_t points = product(shape.drop_front(2));
  const int64_t planeSize = product(extents);
  const std::vector<double> pixels = load<double>(image);
  std::vector<double> results(static_cast<size_t>(product(shape)));
  for (int64_t n = 0; n < shape[0]; ++n)
    for (int64_t point = 0; point < points; ++point) {
      llvm::SmallVector<llvm::SmallVector<Tap, 4>, 3> axes;
      for (int64_t axis = 0; axis < rank; ++axis) // the grid names the last axis first
        axes.push_back(taps(grid.doubleAt((n * points + point) * rank + rank - 1 - axis), extents[axis], op));
      for (int64_t plane = n * channels; plane < (n + 1) * channels; ++plane)
        results[plane * points + point] = interpolate(pixels.data() + plane * planeSize, extents, axes, 0);
    }
  return Tensors{store(image.type(), shape, results)};
}

} // namespace

void attachSampling(mlir::MLIRContext *context) {
  attach<tk::RoiAlignOp, roiAlign>(context);
  attach<tk::GridSampleOp, gridSample>(context);
}

} // namespace tokamak::reference
