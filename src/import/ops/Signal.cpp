//===- Signal.cpp - DFT, STFT, window functions, MelWeightMatrix ---------------------------===//
#include "import/ops/Common.h"
#include <cmath>
#include <numbers>

namespace tokamak::import {

namespace {

/// The discrete Fourier transform of `length` points as a matrix: rows are `taken` samples of `parts` numbers
/// (real, or real and imaginary), columns are `bins` complex results.
Tensor fourierMatrix(DataType type, int64_t length, int64_t taken, int64_t parts, int64_t bins,
                     bool inverse) {
  checkTable(product({taken, parts, bins, 2}));
  Tensor m(type, {taken * parts, bins * 2});
  double scale = inverse ? 1.0 / static_cast<double>(length) : 1.0;
  for (int64_t s = 0; s < taken; ++s)
    for (int64_t k = 0; k < bins; ++k) {
      double turn = static_cast<double>(s * k % length) / static_cast<double>(length);
      double angle = (inverse ? 2 : -2) * std::numbers::pi * turn;
      double re = std::cos(angle) * scale, im = std::sin(angle) * scale;
      int64_t row = s * parts * bins * 2, column = k * 2;
      m.setDouble(row + column, re);
      m.setDouble(row + column + 1, im);
      if (parts == 2) { // i times the first row
        m.setDouble(row + bins * 2 + column, -im);
        m.setDouble(row + bins * 2 + column + 1, re);
      }
    }
  return m;
}

/// One element of an input, as an integer.
int64_t constantNumber(NodeContext &n, int64_t i, llvm::StringRef what) {
  Ints values = n.constantInts(i, what);
  if (values.size() != 1)
    fault(what + " must have one element");
  return values[0];
}

/// Real signals have a last axis of 1, complex ones of 2.
int64_t partsOf(Value x) {
  if (rankOf(x) < 2 || (shapeOf(x).back() != 1 && shapeOf(x).back() != 2))
    fault("the last axis must hold 1 or 2 numbers, not shape " + text(shapeOf(x)));
  return shapeOf(x).back();
}

Result importDFT(NodeContext &n) {
  Value x = n.input(0);
  int64_t parts = partsOf(x), rank = rankOf(x);
  int64_t given = n.opset() < 20 ? n.intAttr("axis", 1) : n.has(2) ? constantNumber(n, 2, "the axis") : -2;
  int64_t axis = normalizeAxis(given, rank);
  if (axis == rank - 1)
    return n.error("the last axis holds the parts of complex numbers and cannot be transformed");
  bool inverse = n.intAttr("inverse", 0) != 0, onesided = n.intAttr("onesided", 0) != 0;
  int64_t length = n.has(1) ? constantNumber(n, 1, "dft_length") : shapeOf(x)[axis];
  if (length < 1)
    return n.error("dft_length must be positive");
  if (onesided && (inverse || parts == 2))
    return n.error("onesided needs a real input and no inverse");
  int64_t bins = onesided ? length / 2 + 1 : length, taken = std::min(length, shapeOf(x)[axis]);
  // Samples missing up to dft_length are zeros and contribute nothing.
  Tensor matrix = fourierMatrix(wideType(typeOf(x)), length, taken, parts, bins, inverse);
  return wideComposite(n, {x}, [&](Body &b, ValueRange xs) {
    Ints order = axisRange(0, rank);
    order.erase(order.begin() + axis);
    order.insert(order.end() - 1, axis); // [rest..., samples, parts]
    Value moved = b.transpose(b.sliceAxis(xs[0], axis, 0, taken), order);
    Ints rest(shapeOf(moved).drop_back(2));
    Value p = b.matmul(b.reshape(moved, {product(rest), taken * parts}), b.constant(matrix));
    rest.append({bins, 2});
    Ints back = axisRange(0, rank);
    back.erase(back.begin() + (rank - 2));
    back.insert(back.begin() + axis, rank - 2);
    return b.transpose(b.reshape(p, rest), back);
  });
}

Result importSTFT(NodeContext &n) {
  Value x = n.input(0);
  if (rankOf(x) == 2)
    x = n.body().reshape(x, {shapeOf(x)[0], shapeOf(x)[1], 1});
  if (rankOf(x) != 3)
    return n.error("the signal must be [batch, length, 1 or 2], not " + text(shapeOf(x)));
  int64_t parts = partsOf(x), step = constantNumber(n, 1, "frame_step"), signal = shapeOf(x)[1];
  bool onesided = n.intAttr("onesided", 1) != 0;
  Values operands{x};
  int64_t length = signal;
  if (n.has(2)) {
    operands.push_back(n.input(2));
    if (rankOf(operands[1]) != 1)
      return n.error("the window must have rank 1");
    length = shapeOf(operands[1])[0];
  }
  if (n.has(3))
    length = constantNumber(n, 3, "frame_length");
  if (step < 1 || length < 1 || length > signal || (n.has(2) && shapeOf(operands[1])[0] != length))
    return n.error("frames of " + llvm::Twine(length) + " every " + llvm::Twine(step) +
                   " do not fit a signal of " + llvm::Twine(signal));
  if (onesided && parts == 2)
    return n.error("onesided needs a real signal");
  int64_t frames = (signal - length) / step + 1, bins = onesided ? length / 2 + 1 : length,
          batch = shapeOf(x)[0];
  Tensor matrix = fourierMatrix(wideType(typeOf(x)), length, length, parts, bins, false);
  checkTable(product({frames, length}));
  Tensor samples(DataType::Int64, {frames, length});
  for (int64_t i = 0; i < samples.size(); ++i)
    samples.setInt(i, i / length * step + i % length);
  return wideComposite(n, operands, [&](Body &b, ValueRange xs) {
    Value framed = b.gather(xs[0], b.constant(samples), 1); // [batch, frames, length, parts]
    if (xs.size() > 1)
      framed = b.mul(framed, b.reshape(xs[1], {length, 1}));
    Value p = b.matmul(b.reshape(framed, {product({batch, frames}), length * parts}), b.constant(matrix));
    return b.reshape(p, {batch, frames, bins, 2});
  });
}

/// a0 - a1 cos(2 pi i / N) + a2 cos(4 pi i / N), where N is the size, or the size - 1 unless periodic.
ImportFn window(double a0, double a1, double a2) {
  return [=](NodeContext &n) -> Result {
    int64_t size = constantNumber(n, 0, "the size");
    if (size < 0)
      return n.error("the size is negative");
    checkTable(size);
    double period = static_cast<double>(n.intAttr("periodic", 1) != 0 ? size : size - 1);
    std::vector<double> values;
    for (int64_t i = 0; i < size; ++i) {
      double angle = period == 0 ? std::numbers::pi : 2 * std::numbers::pi * static_cast<double>(i) / period;
      values.push_back(a0 - a1 * std::cos(angle) + a2 * std::cos(2 * angle));
    }
    return Values{n.body().constant(doubleTensor(values, {size}, dataType(n.intAttr("output_datatype", 1))))};
  };
}

/// Triangles on the mel scale: [dft_length / 2 + 1, num_mel_bins].
Result importMelWeightMatrix(NodeContext &n) {
  int64_t bins = constantNumber(n, 0, "num_mel_bins"), length = constantNumber(n, 1, "dft_length"),
          rate = constantNumber(n, 2, "sample_rate");
  Tensor lower = n.constantInput(3, "lower_edge_hertz"), upper = n.constantInput(4, "upper_edge_hertz");
  constexpr int64_t limit = int64_t(1) << 25;
  if (bins < 0 || bins > limit || length < 0 || length > limit || rate < 1 || lower.size() != 1 ||
      upper.size() != 1)
    return n.error(
        "num_mel_bins, dft_length, sample_rate and the edges must be single numbers >= 0, not too large");
  int64_t rows = length / 2 + 1;
  checkTable(product({bins + 2, rows}));
  auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  double low = mel(lower.doubleAt(0)), step = (mel(upper.doubleAt(0)) - low) / static_cast<double>(bins + 2);
  Ints edges;
  for (int64_t i = 0; i < bins + 2; ++i) {
    double hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + low) / 2595) - 1);
    double edge = std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate));
    if (!(edge >= 0 && edge < static_cast<double>(rows)))
      return n.error("the edges lie outside the spectrum");
    edges.push_back(static_cast<int64_t>(edge));
  }
  Tensor result(dataType(n.intAttr("output_datatype", 1)), {rows, bins});
  for (int64_t i = 0; i < bins; ++i) {
    int64_t first = edges[i], centre = edges[i + 1], last = edges[i + 2];
    if (centre == first)
      result.setDouble(centre * bins + i, 1);
    for (int64_t j = first; j <= centre && centre != first; ++j)
      result.setDouble(j * bins + i, static_cast<double>(j - first) / static_cast<double>(centre - first));
    for (int64_t j = centre; j < last; ++j)
      result.setDouble(j * bins + i, static_cast<double>(last - j) / static_cast<double>(last - centre));
  }
  return Values{n.body().constant(result)};
}

} // namespace

void registerSignal(Registry &registry) {
  registry.add("BlackmanWindow", window(0.42, 0.5, 0.08));
  registry.add("DFT", importDFT);
  registry.add("HammingWindow", window(25.0 / 46, 21.0 / 46, 0));
  registry.add("HannWindow", window(0.5, 0.5, 0));
  registry.add("MelWeightMatrix", importMelWeightMatrix);
  registry.add("STFT", importSTFT);
}

} // namespace tokamak::import
