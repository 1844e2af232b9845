//===- RoiAlign.cpp - regions of interest, resampled to one size -----------------------===//
// ONNX RoiAlign-16 (He et al., "Mask R-CNN", 2017): each output cell averages bilinear samples of its part of
// the region. In max mode it is the largest of the four weighted corners over the samples, as the ONNX
// reference has it.
#include "runtime/Elements.h"
#include "runtime/Library.h"
#include "runtime/Loops.h"
#include <math.h>

using namespace tokamak::runtime;

namespace {

struct Parameters {
  bool maxMode, halfPixel;
  int64_t samplingRatio;
  double spatialScale;
};

/// The part of one axis that a sample at `position` reads: two neighbours and the weight of the second.
struct Neighbours {
  int64_t low, high;
  double weightHigh;
  bool outside; // more than a pixel off: contributes nothing

  Neighbours(double position, int64_t extent) : low(0), high(0), weightHigh(0) {
    outside = !(position >= -1 && position <= static_cast<double>(extent)); // NaN is outside
    if (outside)
      return;
    position = position > 0 ? position : 0;
    low = static_cast<int64_t>(position);
    if (low >= extent - 1) {
      low = high = extent - 1;
      return;
    }
    high = low + 1;
    weightHigh = position - static_cast<double>(low);
  }
};

/// One axis of a region: where it starts, the size of a cell, and the samples in one.
struct Span {
  double start, cell;
  int64_t samples;

  Span(double low, double high, int64_t cells, const Parameters &parameters) {
    double offset = parameters.halfPixel ? 0.5 : 0.0;
    start = low * parameters.spatialScale - offset;
    double length = high * parameters.spatialScale - offset - start;
    if (!parameters.halfPixel && !(length >= 1))
      length = 1; // malformed regions become one pixel
    cell = length / static_cast<double>(cells);
    double wanted = ceil(cell);
    samples = parameters.samplingRatio > 0 ? parameters.samplingRatio
              : wanted > 0                 ? static_cast<int64_t>(wanted < 0x1p60 ? wanted : 0x1p60)
                                           : 0;
  }
  double at(int64_t index, int64_t sample) const {
    return start + static_cast<double>(index) * cell +
           (static_cast<double>(sample) + 0.5) * cell / static_cast<double>(samples);
  }

  /// The samples [begin, end) of a cell outside which all lie off the image: a region far larger than the
  /// image costs no more than the image.
  void samplesNear(int64_t index, int64_t extent, int64_t &begin, int64_t &end) const {
    begin = 0, end = samples;
    double step = cell / static_cast<double>(samples), first = start + static_cast<double>(index) * cell;
    if (!(step > 0))
      return;
    double low = (-1 - first) / step - 2, high = (static_cast<double>(extent) - first) / step + 2;
    if (low > 0)
      begin = low < static_cast<double>(samples) ? static_cast<int64_t>(low) : samples;
    if (high < static_cast<double>(samples))
      end = high > 0 ? static_cast<int64_t>(high) : 0;
    end = end > begin ? end : begin;
  }
};

template <typename T>
double sampleCell(const T *plane, int64_t height, int64_t width, const Span &rows, const Span &columns,
                  int64_t row, int64_t column, bool maxMode) {
  int64_t rowBegin, rowEnd, columnBegin, columnEnd;
  rows.samplesNear(row, height, rowBegin, rowEnd);
  columns.samplesNear(column, width, columnBegin, columnEnd);
  double sum = 0, largest = 0;
  // Samples that are skipped are zeros, which count as such in a maximum.
  bool first = rowEnd - rowBegin == rows.samples && columnEnd - columnBegin == columns.samples;
  for (int64_t i = rowBegin; i < rowEnd; ++i) {
    Neighbours y(rows.at(row, i), height);
    for (int64_t j = columnBegin; j < columnEnd; ++j) {
      Neighbours x(columns.at(column, j), width);
      double corners[4] = {};
      if (!y.outside && !x.outside) {
        corners[0] = (1 - y.weightHigh) * (1 - x.weightHigh) * load(plane[y.low * width + x.low]);
        corners[1] = (1 - y.weightHigh) * x.weightHigh * load(plane[y.low * width + x.high]);
        corners[2] = y.weightHigh * (1 - x.weightHigh) * load(plane[y.high * width + x.low]);
        corners[3] = y.weightHigh * x.weightHigh * load(plane[y.high * width + x.high]);
      }
      sum += corners[0] + corners[1] + corners[2] + corners[3];
      for (double corner : corners) {
        if (first || corner > largest)
          largest = corner;
        first = false;
      }
    }
  }
  double count = static_cast<double>(rows.samples) * static_cast<double>(columns.samples);
  return maxMode ? largest : sum / (count > 1 ? count : 1);
}

template <typename T>
void alignRegion(const T *image, const TkBuffer &input, const TkBuffer &output, const double corners[4],
                 T *result, const Parameters &parameters) {
  int64_t height = input.dims[2], width = input.dims[3], rows = output.dims[2], columns = output.dims[3];
  Span x(corners[0], corners[2], columns, parameters), y(corners[1], corners[3], rows, parameters);
  for (int64_t channel = 0; channel < input.dims[1]; ++channel)
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column)
        *result++ = store<T>(sampleCell(image + channel * height * width, height, width, y, x, row, column,
                                        parameters.maxMode));
}

} // namespace

int tk_lib_roi_align(TkContext *context, const TkBuffer *inputs, const TkBuffer *outputs, const int64_t *ints,
                     const double *floats) {
  const TkBuffer &input = inputs[0], &output = outputs[0];
  Parameters parameters{ints[0] != 0, ints[1] != 0, ints[2], floats[0]};
  int64_t regions = output.dims[0];
  if (elementCount(output) == 0)
    return TK_OK;
  return visitFloat(input.dtype, [&](auto type) {
    using T = decltype(type);
    return visitIndex(inputs[2].dtype, [&](auto indexType) {
      const auto *batches = static_cast<const decltype(indexType) *>(inputs[2].data);
      for (int64_t i = 0; i < regions; ++i)
        if (batches[i] < 0 || batches[i] >= input.dims[0])
          return static_cast<int>(TK_INDEX_OUT_OF_RANGE);
      parallelFor(context, regions, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          double corners[4];
          for (int c = 0; c < 4; ++c)
            corners[c] = load(static_cast<const T *>(inputs[1].data)[i * 4 + c]);
          alignRegion(static_cast<const T *>(input.data) + batches[i] * extentProduct(input, 1, 4), input,
                      output, corners, static_cast<T *>(output.data) + i * extentProduct(output, 1, 4),
                      parameters);
        }
      });
      return static_cast<int>(TK_OK);
    });
  });
}
