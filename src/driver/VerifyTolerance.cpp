//===- VerifyTolerance.cpp - when a compiled value counts as the evaluator's -----------------===//
#include "driver/VerifyTolerance.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <limits>
#include <random>

namespace tokamak::driver {

namespace {

/// The distance between neighbours at 1.
double unitInLastPlace(DataType type) {
  switch (type) {
  case DataType::Float16:
    return 0x1p-10;
  case DataType::BFloat16:
    return 0x1p-7;
  case DataType::Float32:
    return 0x1p-23;
  default:
    return 0x1p-52;
  }
}

/// Below it rounding is not relative any more.
double smallestNormal(DataType type) {
  switch (type) {
  case DataType::Float16:
    return 0x1p-14;
  case DataType::BFloat16:
  case DataType::Float32:
    return 0x1p-126;
  default:
    return std::numeric_limits<double>::min();
  }
}

double rootMeanSquare(const Tensor &tensor) {
  double sum = 0;
  int64_t count = 0;
  for (int64_t i = 0; i < tensor.size(); ++i)
    if (double x = tensor.doubleAt(i); std::isfinite(x))
      sum += x * x, ++count;
  return count ? std::sqrt(sum / static_cast<double>(count)) : 0;
}

std::string describe(const Tensor &got, const Tensor &expected, int64_t at) {
  std::string index;
  int64_t rest = at;
  for (int64_t axis = expected.rank() - 1; axis >= 0; --axis) {
    int64_t extent = expected.shape()[static_cast<size_t>(axis)];
    index = std::to_string(rest % extent) + (index.empty() ? "" : ",") + index;
    rest /= extent;
  }
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "element [" << index << "]: ";
  if (isFloat(expected.type()))
    out << llvm::format("%.9g instead of %.9g", got.doubleAt(at), expected.doubleAt(at));
  else
    out << got.intAt(at) << " instead of " << expected.intAt(at);
  return text;
}

/// Where elements are off, and how far moved inputs move them.
class Comparison {
public:
  Comparison(const Tensor &got, const Tensor &expected, Tolerance tolerance)
      : got(got), expected(expected), tolerance(tolerance),
        scale(isFloat(expected.type()) ? rootMeanSquare(expected) : 0),
        absolute(tolerance.absolute * (scale > 0 ? std::min(1.0, scale) : 1)) {}

  bool isWithin(int64_t i, double more) const {
    if (!isFloat(expected.type()))
      return got.intAt(i) == expected.intAt(i);
    return isNear(got.doubleAt(i), expected.doubleAt(i), more);
  }

  bool isLeftOpen(int64_t i, const Latitude &latitude) const {
    if (!isFloat(expected.type()))
      return (latitude.low.intAt(i) <= got.intAt(i) && got.intAt(i) <= latitude.high.intAt(i)) ||
             llvm::any_of(latitude.instead,
                          [&](const Tensor &other) { return other.intAt(i) == got.intAt(i); });
    double a = got.doubleAt(i);
    // The nearest that is right; comparisons with NaN are false.
    double low = latitude.low.doubleAt(i), high = latitude.high.doubleAt(i);
    double nearest = a < low ? low : a > high ? high : a;
    if (std::isfinite(a) && low <= high && isNear(a, nearest, 0))
      return true;
    return llvm::any_of(latitude.instead,
                        [&](const Tensor &other) { return isNear(a, other.doubleAt(i), 0); });
  }

  void measure(int64_t i, Deviation &deviation) const {
    double a = got.doubleAt(i), b = expected.doubleAt(i);
    if (!std::isfinite(a) || !std::isfinite(b))
      return;
    double off = std::abs(a - b), by = std::max(std::abs(b), scale);
    deviation.maxAbsolute = std::max(deviation.maxAbsolute, off);
    if (off > 0)
      deviation.maxRelative = std::max(deviation.maxRelative, by > 0 ? off / by : off);
  }

  /// Whether the value `other`, computed from moved inputs, explains element `i`.
  bool isExplained(int64_t i, const Tensor &other) const {
    if (!isFloat(expected.type()))
      return other.intAt(i) == got.intAt(i);
    double a = got.doubleAt(i), b = expected.doubleAt(i), c = other.doubleAt(i);
    if (std::isnan(a) || std::isnan(c))
      return std::isnan(a) && std::isnan(c);
    if (std::isinf(a) || std::isinf(b) || std::isinf(c))
      return a == c;
    return isWithin(i, 4 * std::abs(b - c));
  }

private:
  bool isNear(double a, double b, double more) const {
    if (std::isnan(b) || std::isinf(b))
      return std::isnan(b) ? std::isnan(a) : a == b;
    const double magnitude = std::max({std::abs(b), scale, smallestNormal(expected.type())});
    return std::abs(a - b) <= absolute + tolerance.relative * magnitude + more;
  }

  const Tensor &got, &expected;
  Tolerance tolerance;
  double scale, absolute;
};

} // namespace

Tolerance kernelTolerance(DataType type) {
  switch (type) {
  case DataType::Float16:
    return {4e-3, 2e-4};
  case DataType::BFloat16:
    return {3e-2, 1.5e-3};
  case DataType::Float32:
    return {2e-5, 1e-6};
  case DataType::Float64:
    return {1e-12, 5e-14};
  default:
    return {};
  }
}

void Deviation::add(const Deviation &other) {
  elements += other.elements;
  wrong += other.wrong;
  open += other.open;
  unstable += other.unstable;
  maxAbsolute = std::max(maxAbsolute, other.maxAbsolute);
  maxRelative = std::max(maxRelative, other.maxRelative);
  if (firstWrong.empty())
    firstWrong = other.firstWrong;
}

Deviation compare(const Tensor &got, const Tensor &expected, Tolerance tolerance,
                  llvm::function_ref<std::optional<Tensor>(int)> perturbed,
                  llvm::function_ref<std::optional<Latitude>()> latitude) {
  Deviation result;
  result.elements = expected.size();
  Comparison comparison(got, expected, tolerance);
  std::vector<int64_t> suspects;
  for (int64_t i = 0; i < expected.size(); ++i) {
    comparison.measure(i, result);
    if (!comparison.isWithin(i, 0))
      suspects.push_back(i);
  }
  if (latitude && !suspects.empty()) {
    if (const std::optional<Latitude> others = latitude())
      result.open = static_cast<int64_t>(
          std::erase_if(suspects, [&](int64_t i) { return comparison.isLeftOpen(i, *others); }));
  }
  auto count = static_cast<int64_t>(suspects.size());
  for (int round = 0; !suspects.empty(); ++round) {
    const std::optional<Tensor> other = perturbed(round);
    if (!other)
      break;
    std::erase_if(suspects, [&](int64_t i) { return comparison.isExplained(i, *other); });
  }
  result.wrong = static_cast<int64_t>(suspects.size());
  result.unstable = count - result.wrong;
  if (!suspects.empty())
    result.firstWrong = describe(got, expected, suspects.front());
  return result;
}

Tensor moved(const Tensor &tensor, uint64_t seed) {
  if (!isFloat(tensor.type()))
    return tensor;
  Tensor result(tensor.type(), tensor.shape());
  std::mt19937_64 random(seed);
  double step = unitInLastPlace(tensor.type());
  for (int64_t i = 0; i < tensor.size(); ++i) {
    double by = static_cast<double>(static_cast<int64_t>(random() % 5) - 2) * step;
    result.setDouble(i, tensor.doubleAt(i) * (1 + by));
  }
  return result;
}

} // namespace tokamak::driver
