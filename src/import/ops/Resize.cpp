//===- Resize.cpp - Resize and Upsample as one gather and weighting an axis ----------------===//
// Every mode is separable: each output position of an axis reads a few input positions with constant weights.
#include "import/ops/Common.h"
#include <algorithm>
#include <cmath>

namespace tokamak::import {

namespace {

/// How positions map and values combine: the attributes of one node.
struct Method {
  std::string mode, coordinates, nearest;
  double cubicCoefficient = -0.75, extrapolation = 0;
  bool excludeOutside = false, antialias = false;
};

/// Output positions an input position, as a fraction. The quotient of two lengths is not rounded before it is
/// used: 9 / (18 / 14) is less than 7 in doubles, and its floor another position.
struct Scale {
  double numerator = 1, denominator = 1;

  double value() const { return numerator / denominator; }
  double times(double x) const { return x * numerator / denominator; }
  double divide(double x) const { return x * denominator / numerator; }
};

/// One axis to resize; `start` and `end` are the region of interest of tf_crop_and_resize.
struct Axis {
  int64_t axis, in, out;
  Scale scale;
  double start = 0, end = 1;
};

/// The formulas of coordinate_transformation_mode.
double transformedCoordinate(const Method &m, const Axis &a, int64_t i) {
  double x = static_cast<double>(i), in = static_cast<double>(a.in), out = static_cast<double>(a.out);
  if (m.coordinates == "half_pixel" || m.coordinates == "tf_half_pixel_for_nn") {
    double shift = m.coordinates == "half_pixel" ? 0.5 : 0;
    return a.scale.divide(x + 0.5) - shift;
  }
  if (m.coordinates == "pytorch_half_pixel")
    return a.out > 1 ? a.scale.divide(x + 0.5) - 0.5 : 0;
  if (m.coordinates == "half_pixel_symmetric") {
    double adjustment = out / a.scale.times(in), centre = in / 2;
    return centre * (1 - adjustment) + a.scale.divide(x + 0.5) - 0.5;
  }
  // The length of the result is not rounded here: the standard's own cases need that.
  if (m.coordinates == "align_corners")
    return a.out > 1 ? x * (in - 1) / (a.scale.times(in) - 1) : 0;
  if (m.coordinates == "asymmetric")
    return a.scale.divide(x);
  if (m.coordinates == "tf_crop_and_resize")
    return a.out > 1 ? a.start * (in - 1) + x * (a.end - a.start) * (in - 1) / (out - 1)
                     : 0.5 * (a.start + a.end) * (in - 1);
  fault("coordinate_transformation_mode '" + m.coordinates +
        "' is unknown; use half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric, "
        "tf_crop_and_resize or tf_half_pixel_for_nn");
}

/// The coordinate in the input of output position `i`.
double sourceCoordinate(const Method &m, const Axis &a, int64_t i) {
  double x = transformedCoordinate(m, a, i);
  if (!(std::fabs(x) < 1e15)) // also NaN
    fault("coordinate " + std::to_string(x) + " of axis " + llvm::Twine(a.axis) + " is out of range");
  return x;
}

int64_t roundNearest(const Method &m, const Axis &a, double x) {
  if (m.nearest == "round_prefer_floor")
    return static_cast<int64_t>(std::ceil(x - 0.5));
  if (m.nearest == "round_prefer_ceil")
    return static_cast<int64_t>(std::floor(x + 0.5));
  if (m.nearest == "floor" || (m.nearest == "simple" && a.scale.value() >= 1))
    return static_cast<int64_t>(std::floor(x));
  if (m.nearest == "ceil" || m.nearest == "simple")
    return static_cast<int64_t>(std::ceil(x));
  fault("nearest_mode '" + m.nearest +
        "' is unknown; use round_prefer_floor, round_prefer_ceil, floor or ceil");
}

/// The interpolation kernel at distance `d`: a triangle, or Keys' cubic with coefficient a.
double kernelAt(const Method &m, double d) {
  d = std::fabs(d);
  if (m.mode == "linear")
    return std::max(1 - d, 0.0);
  double a = m.cubicCoefficient;
  if (d <= 1)
    return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/// indices[t][i], weights[t][i]: what tap t of output position i reads. Empty weights: a plain copy
/// (nearest).
struct Taps {
  std::vector<Ints> indices;
  std::vector<std::vector<double>> weights;
};

Taps tapsOf(const Method &m, const Axis &a) {
  Taps taps;
  auto clamped = [&](int64_t i) { return std::clamp<int64_t>(i, 0, a.in - 1); };
  if (m.mode == "nearest") {
    checkTable(a.out);
    taps.indices.emplace_back();
    for (int64_t i = 0; i < a.out; ++i)
      taps.indices[0].push_back(clamped(roundNearest(m, a, sourceCoordinate(m, a, i))));
    return taps;
  }
  // Antialiasing stretches the kernel over the input positions that one output position stands for.
  double stretch = m.antialias ? std::min(a.scale.value(), 1.0) : 1.0, radius = m.mode == "linear" ? 1 : 2;
  if (radius / stretch > static_cast<double>(int64_t(1) << 26))
    fault("scale " + std::to_string(a.scale.value()) + " is too small");
  int64_t first = static_cast<int64_t>(std::floor(-radius / stretch)) + 1, count = 2 - 2 * first;
  checkTable(product({count, a.out}));
  taps.indices.assign(count, Ints(a.out));
  taps.weights.assign(count, std::vector<double>(a.out));
  for (int64_t i = 0; i < a.out; ++i) {
    double x = sourceCoordinate(m, a, i), total = 0;
    int64_t base = static_cast<int64_t>(std::floor(x));
    for (int64_t t = 0; t < count; ++t) {
      int64_t source = base + first + t;
      bool outside = source < 0 || source >= a.in;
      double w = outside && m.excludeOutside ? 0 : kernelAt(m, (static_cast<double>(source) - x) * stretch);
      taps.indices[t][i] = clamped(source);
      taps.weights[t][i] = w;
      total += w;
    }
    if ((stretch < 1 || m.excludeOutside) && total != 0)
      for (int64_t t = 0; t < count; ++t)
        taps.weights[t][i] /= total;
  }
  return taps;
}

/// The repetition factor r where position i reads i / r, else 0.
int64_t repetition(const Axis &a, IntsRef indices) {
  if (a.in == 0 || a.out % a.in != 0)
    return 0;
  int64_t factor = a.out / a.in;
  for (int64_t i = 0; i < a.out; ++i)
    if (indices[i] != i / factor)
      return 0;
  return factor;
}

/// Whole repetitions become a broadcast, which needs no index tables.
Value copyAxis(Body &b, Value x, const Axis &a, IntsRef indices) {
  int64_t factor = repetition(a, indices);
  if (factor == 1)
    return x;
  if (factor == 0)
    return b.gather(x, b.constant(Tensor::fromInts(indices)), a.axis);
  Ints split(shapeOf(x)), repeated, result(shapeOf(x));
  split.insert(split.begin() + a.axis + 1, 1);
  repeated = split;
  repeated[a.axis + 1] = factor;
  result[a.axis] = a.out;
  return b.reshape(b.broadcast(b.reshape(x, split), repeated), result);
}

Value resizeAxis(Body &b, Value x, const Method &m, const Axis &a) {
  Taps taps = tapsOf(m, a);
  if (taps.weights.empty())
    return copyAxis(b, x, a, taps.indices[0]);
  Value sum;
  for (size_t t = 0; t < taps.indices.size(); ++t) {
    const std::vector<double> &w = taps.weights[t];
    if (llvm::all_of(w, [](double v) { return v == 0; }))
      continue;
    Value term = copyAxis(b, x, a, taps.indices[t]);
    bool one = llvm::all_of(w, [&](double v) { return v == w.front(); });
    if (!one)
      term = b.mul(term, alongAxis(b, b.constant(doubleTensor(w, {a.out}, typeOf(x))), a.axis, rankOf(x)));
    else if (w.front() != 1)
      term = b.mul(term, b.scalarLike(x, w.front()));
    sum = sum ? b.add(sum, term) : term;
  }
  return sum ? sum : b.mul(copyAxis(b, x, a, taps.indices[0]), b.scalarLike(x, 0));
}

/// Positions of tf_crop_and_resize that lie outside the input take the extrapolation value.
Value extrapolate(Body &b, Value x, const Method &m, const Axis &a) {
  Tensor inside(DataType::Bool, {a.out});
  bool all = true;
  for (int64_t i = 0; i < a.out; ++i) {
    double s = sourceCoordinate(m, a, i);
    bool in = s >= 0 && s <= static_cast<double>(a.in - 1);
    inside.setInt(i, in);
    all &= in;
  }
  if (all)
    return x;
  return b.select(alongAxis(b, b.constant(inside), a.axis, rankOf(x)), x, b.scalarLike(x, m.extrapolation));
}

Result resize(NodeContext &n, const Method &m, llvm::ArrayRef<Axis> axes) {
  Value x = n.input(0);
  if (m.mode != "nearest" && m.mode != "linear" && m.mode != "cubic")
    return n.error("mode '" + m.mode + "' is unknown; use nearest, linear or cubic");
  for (const Axis &a : axes)
    if (a.out < 0 || (a.in == 0 && a.out > 0) || !(a.scale.value() > 0) || !std::isfinite(a.scale.value()))
      return n.error("axis " + llvm::Twine(a.axis) + " of " + text(shapeOf(x)) + " cannot be resized to " +
                     llvm::Twine(a.out) + " by " + std::to_string(a.scale.value()));
  DataType type = typeOf(x);
  return n.composite1({x}, [&](Body &b, ValueRange xs) {
    // Copies keep the type; weights of integers are real numbers.
    Value y = m.mode == "nearest" ? xs[0] : b.cast(xs[0], isFloat(type) ? wideType(type) : DataType::Float32);
    for (const Axis &a : axes)
      if (a.out > 0)
        y = resizeAxis(b, y, m, a);
      else
        y = b.sliceAxis(y, a.axis, 0, 0);
    if (m.coordinates == "tf_crop_and_resize")
      for (const Axis &a : axes)
        y = extrapolate(b, y, m, a);
    return b.cast(y, type, /*saturate=*/!isFloat(type));
  });
}

/// floor(in * scale) in single precision, as the scales are: 10 * 0.7f is 7.
int64_t scaledExtent(int64_t in, double scale) {
  float extent = std::floor(static_cast<float>(in) * static_cast<float>(scale));
  if (!(extent >= 0) || extent > 1e12f)
    fault("scale " + std::to_string(scale) + " is out of range");
  return static_cast<int64_t>(extent);
}

/// One scale an axis of the input, as Upsample and Resize-10 take them.
Result resizeByScales(NodeContext &n, const Method &m, llvm::ArrayRef<double> scales) {
  IntsRef shape = shapeOf(n.input(0));
  if (scales.size() != shape.size())
    return n.error(llvm::Twine(scales.size()) + " scales do not fit an input of shape " + text(shape));
  std::vector<Axis> axes;
  for (size_t i = 0; i < shape.size(); ++i)
    if (scales[i] != 1)
      axes.push_back({static_cast<int64_t>(i), shape[i], scaledExtent(shape[i], scales[i]), {scales[i]}});
  return resize(n, m, axes);
}

std::vector<double> doubles(const Tensor &t) {
  std::vector<double> values(static_cast<size_t>(t.size()));
  for (int64_t i = 0; i < t.size(); ++i)
    values[i] = t.doubleAt(i);
  return values;
}

std::string modeOf(NodeContext &n) {
  std::string mode = n.stringAttr("mode", "nearest");
  return mode == "bilinear" || mode == "trilinear" ? "linear" : mode;
}

Result importUpsample(NodeContext &n) {
  Method m{modeOf(n), "asymmetric", "floor"};
  if (n.opset() < 9) {
    auto scales = n.floatsAttr("scales");
    if (!scales)
      return n.error("attribute 'scales' is missing");
    return resizeByScales(n, m, *scales);
  }
  return resizeByScales(n, m, doubles(n.constantInput(1, "the scales")));
}

Result importResize(NodeContext &n) {
  if (n.opset() < 11) // rounds up when shrinking, as the cases of that time have it
    return resizeByScales(n, Method{modeOf(n), "asymmetric", "simple"},
                          doubles(n.constantInput(1, "the scales")));
  Method m{modeOf(n), n.stringAttr("coordinate_transformation_mode", "half_pixel"),
           n.stringAttr("nearest_mode", "round_prefer_floor")};
  m.cubicCoefficient = n.floatAttr("cubic_coeff_a", -0.75);
  m.extrapolation = n.floatAttr("extrapolation_value", 0);
  m.excludeOutside = n.intAttr("exclude_outside", 0) != 0;
  m.antialias = n.intAttr("antialias", 0) != 0;
  bool crops = m.coordinates == "tf_crop_and_resize";
  IntsRef shape = shapeOf(n.input(0));
  int64_t rank = rankOf(n.input(0));
  Ints which = n.intsAttr("axes").value_or(axisRange(0, rank));
  normalizeAxes(which, rank);
  size_t count = which.size();

  std::vector<double> roi, scales;
  Ints sizes;
  if (crops) {
    roi = doubles(n.constantInput(1, "the region of interest"));
    if (roi.size() != 2 * count)
      return n.error("roi needs " + llvm::Twine(2 * count) + " entries, not " + llvm::Twine(roi.size()));
  }
  if (n.has(2))
    scales = doubles(n.constantInput(2, "the scales"));
  if (scales.empty() && n.has(3))
    sizes = n.constantInts(3, "the sizes");
  if ((scales.empty() ? sizes.size() : scales.size()) != count)
    return n.error("scales or sizes need " + llvm::Twine(count) + " entries");

  std::vector<Axis> axes;
  for (size_t i = 0; i < count; ++i) {
    int64_t axis = normalizeAxis(which[i], rank), in = shape[axis];
    Axis a{axis, in, 0, {}};
    if (crops) {
      a.start = roi[i];
      a.end = roi[i + count];
    }
    if (!scales.empty()) {
      a.scale = {scales[i]};
      a.out = scaledExtent(in, crops ? scales[i] * (a.end - a.start) : scales[i]);
    } else {
      a.out = sizes[i];
      if (in != 0)
        a.scale = {static_cast<double>(sizes[i]), static_cast<double>(in)};
    }
    axes.push_back(a);
  }
  std::string policy = n.stringAttr("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller")
    return n.error("keep_aspect_ratio_policy '" + policy +
                   "' is unknown; use stretch, not_larger or not_smaller");
  if (scales.empty() && policy != "stretch" && !axes.empty()) {
    auto isLess = [](const Axis &a, const Axis &b) { return a.scale.value() < b.scale.value(); };
    const Scale common = (policy == "not_larger" ? std::min_element(axes.begin(), axes.end(), isLess)
                                                 : std::max_element(axes.begin(), axes.end(), isLess))
                             ->scale;
    for (Axis &a : axes) {
      a.scale = common;
      a.out = static_cast<int64_t>(std::floor(common.times(static_cast<double>(a.in)) + 0.5));
    }
  }
  // A resized extent of 0 has no scale; nothing of it is read.
  for (Axis &a : axes)
    if (a.out == 0 && a.scale.value() == 0)
      a.scale = {};
  return resize(n, m, axes);
}

} // namespace

void registerResize(Registry &registry) {
  registry.add("Resize", importResize);
  registry.add("Upsample", importUpsample);
}

} // namespace tokamak::import
