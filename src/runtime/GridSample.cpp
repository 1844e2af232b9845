//===- GridSample.cpp - an image sampled at the points of a grid -----------------------===//
// ONNX GridSample-16 and -20. Coordinates are computed in double.
#include "runtime/Elements.h"
#include "runtime/Library.h"
#include "runtime/Loops.h"
#include <math.h>

using namespace tokamak::runtime;

namespace {

constexpr int32_t maxSpatial = 3;
constexpr int maxTaps = 4; // a point of cubic interpolation reads four pixels an axis

enum class Mode : int64_t { Linear, Nearest, Cubic };
enum class Padding : int64_t { Zeros, Border, Reflection };

struct Parameters {
  Mode mode;
  Padding padding;
  bool alignCorners;
};

/// `x` mirrored into [low, high] as often as it takes.
double reflect(double x, double low, double high) {
  double range = high - low;
  if (!(range > 0) || isinf(x))
    return low;
  double distance = x < low ? low - x : x - high;
  if (distance <= 0)
    return x;
  double rest = fmod(distance, 2 * range);
  bool back = rest >= range; // an even number of mirrorings besides the first leaves `rest` on the near side
  rest = back ? rest - range : rest;
  return (x < low) != back ? low + rest : high - rest;
}

/// What a sample reads along one axis: `taps` pixels, -1 for zero padding, and their weights.
struct AxisTaps {
  int taps;
  int64_t pixel[maxTaps];
  double weight[maxTaps];
};

/// The pixel that stands at integer position `at`, which may lie outside.
int64_t pixelAt(double at, int64_t extent, const Parameters &parameters) {
  double last = static_cast<double>(extent - 1);
  if (at >= 0 && at <= last)
    return static_cast<int64_t>(at);
  if (parameters.padding == Padding::Zeros)
    return -1;
  if (parameters.padding == Padding::Border)
    return at < 0 ? 0 : extent - 1;
  double inside = parameters.alignCorners ? reflect(at, 0, last) : reflect(at, -0.5, last + 0.5);
  return static_cast<int64_t>(inside < 0 ? 0 : inside > last ? last : inside);
}

/// Keys' cubic convolution kernel (1981) with a = -0.75, at the four pixels around a point `t` past the
/// second.
void cubicWeights(double t, double weight[4]) {
  constexpr double a = -0.75;
  auto inner = [](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  auto outer = [](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  weight[0] = outer(t + 1);
  weight[1] = inner(t);
  weight[2] = inner(1 - t);
  weight[3] = outer(2 - t);
}

AxisTaps tapsAt(double normalized, int64_t extent, const Parameters &parameters) {
  if (isNaN(normalized))
    normalized = -1;
  auto size = static_cast<double>(extent);
  double low = parameters.alignCorners ? 0 : -0.5, high = parameters.alignCorners ? size - 1 : size - 0.5;
  double x = parameters.alignCorners ? (normalized + 1) / 2 * (size - 1) : ((normalized + 1) * size - 1) / 2;
  if (parameters.mode == Mode::Nearest)
    x = nearbyint(x);
  if (x < low || x > high) {
    if (parameters.padding == Padding::Reflection)
      x = reflect(x, low, high);
    else // that far off all pixels are alike; keeps infinities out of the weights
      x = x < -4 ? -4 : x > size + 4 ? size + 4 : x;
  }
  AxisTaps taps;
  double base = floor(x);
  double first = base;
  switch (parameters.mode) {
  case Mode::Nearest:
    taps.taps = 1;
    taps.weight[0] = 1;
    first = nearbyint(x);
    break;
  case Mode::Linear:
    taps.taps = 2;
    taps.weight[0] = base + 1 - x;
    taps.weight[1] = x - base;
    break;
  case Mode::Cubic:
    taps.taps = 4;
    cubicWeights(x - base, taps.weight);
    first = base - 1;
    break;
  }
  for (int i = 0; i < taps.taps; ++i)
    taps.pixel[i] = pixelAt(first + i, extent, parameters);
  return taps;
}

/// The weighted sum over the taps of axes [axis, spatial) of the pixels from `offset` on.
template <typename T>
double gather(const T *plane, const int64_t *dims, const AxisTaps *taps, int32_t axis, int32_t spatial,
              int64_t offset) {
  double sum = 0;
  for (int i = 0; i < taps[axis].taps; ++i) {
    int64_t pixel = taps[axis].pixel[i];
    if (pixel < 0)
      continue;
    int64_t at = offset * dims[axis] + pixel;
    double value = axis + 1 == spatial ? static_cast<double>(load(plane[at]))
                                       : gather(plane, dims, taps, axis + 1, spatial, at);
    sum += taps[axis].weight[i] * value;
  }
  return sum;
}

} // namespace

int tk_lib_grid_sample(TkContext *context, const TkBuffer *inputs, const TkBuffer *outputs,
                       const int64_t *ints, const double *) {
  const TkBuffer &input = inputs[0], &grid = inputs[1];
  Parameters parameters{static_cast<Mode>(ints[0]), static_cast<Padding>(ints[1]), ints[2] != 0};
  int32_t spatial = input.rank - 2;
  if (spatial < 1 || spatial > maxSpatial || grid.rank != input.rank || grid.dims[grid.rank - 1] != spatial ||
      ints[0] < 0 || ints[0] > 2 || ints[1] < 0 || ints[1] > 2)
    return TK_UNSUPPORTED;
  int64_t channels = input.dims[1], points = extentProduct(grid, 1, grid.rank - 1);
  int64_t planeSize = extentProduct(input, 2, input.rank);
  return visitFloat(input.dtype, [&](auto type) {
    using T = decltype(type);
    return visitFloat(grid.dtype, [&](auto gridType) {
      const auto *coordinates = static_cast<const decltype(gridType) *>(grid.data);
      const auto *image = static_cast<const T *>(input.data);
      auto *result = static_cast<T *>(outputs[0].data);
      parallelFor(context, input.dims[0] * points, [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
          AxisTaps taps[maxSpatial];
          for (int32_t axis = 0; axis < spatial; ++axis) // the grid names the last axis first
            taps[axis] = tapsAt(load(coordinates[task * spatial + spatial - 1 - axis]), input.dims[2 + axis],
                                parameters);
          int64_t batch = task / points;
          for (int64_t c = 0; c < channels; ++c) {
            int64_t plane = batch * channels + c;
            result[plane * points + task % points] = store<T>(
                planeSize ? gather(image + plane * planeSize, input.dims + 2, taps, 0, spatial, 0) : 0.0);
          }
        }
      });
      return static_cast<int>(TK_OK);
    });
  });
}
