//===- FilteringError.cpp - how far minimal filtering may be off ---------------------------------------===//
#include "driver/FilteringError.h"
#include "codegen/anchors/WinogradTransform.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Parallel.h"
#include <algorithm>
#include <array>
#include <cmath>

namespace tokamak::driver {

namespace {

using Matrix = std::vector<std::vector<double>>;

/// Output channels at once: their transformed taps stay in the cache while tiles go by.
constexpr int64_t blockSize = 32;
constexpr int64_t mostSide = 6;
using Points = std::array<double, mostSide * mostSide>;

Matrix squared(Matrix matrix) {
  for (std::vector<double> &row : matrix)
    for (double &x : row)
      x *= x;
  return matrix;
}

/// left x patch x transpose(left), patch being square.
Points transformed(const Matrix &left, const Points &patch) {
  const size_t side = left.front().size(), rows = left.size();
  Points half{}, whole{};
  for (size_t row = 0; row < rows; ++row)
    for (size_t i = 0; i < side; ++i)
      for (size_t column = 0; column < side; ++column)
        half[row * side + column] += left[row][i] * patch[i * side + column];
  for (size_t row = 0; row < rows; ++row)
    for (size_t column = 0; column < rows; ++column)
      for (size_t i = 0; i < side; ++i)
        whole[row * rows + column] += half[row * side + i] * left[column][i];
  return whole;
}

/// The errors of one convolution.
class Errors {
public:
  Errors(tk::ConvOp conv, const Tensor &input, const Tensor &weight)
      : conv(conv), input(input), weight(weight), results(static_cast<int64_t>(*conv.getWinograd())),
        side(results + 2), channels(input.shape()[1]), shape(tk::tensorType(conv.getResult()).getShape()),
        transform(codegen::WinogradTransform::ofOutputs(results)), inputMatrix(transform.inputMatrix()),
        inputSquares(squared(inputMatrix)), outputSquares(squared(transform.outputMatrix())),
        errors(static_cast<size_t>(tk::tensorType(conv.getResult()).getNumElements())) {}

  std::vector<double> compute() {
    llvm::parallelFor(0, llvm::divideCeil(shape[1], blockSize),
                      [&](size_t block) { addBlock(static_cast<int64_t>(block) * blockSize); });
    return std::move(errors);
  }

private:
  int64_t points() const { return side * side; }
  void addBlock(int64_t first);
  std::vector<double> transformedTaps(int64_t first, int64_t count) const;
  Points readPatch(int64_t image, int64_t channel, int64_t top, int64_t left) const;

  tk::ConvOp conv;
  const Tensor &input, &weight;
  int64_t results, side, channels;
  llvm::ArrayRef<int64_t> shape;
  codegen::WinogradTransform transform;
  Matrix inputMatrix, inputSquares, outputSquares;
  std::vector<double> errors;
};

/// [point][input channel][output channel of the block]
std::vector<double> Errors::transformedTaps(int64_t first, int64_t count) const {
  const auto filter = transform.filterMatrix();
  const auto *taps = reinterpret_cast<const float *>(weight.bytes());
  std::vector<double> all(static_cast<size_t>(points() * channels * blockSize));
  for (int64_t out = 0; out < count; ++out)
    for (int64_t channel = 0; channel < channels; ++channel)
      for (int64_t point = 0; point < points(); ++point) {
        const auto &rows = filter[static_cast<size_t>(point / side)];
        const auto &columns = filter[static_cast<size_t>(point % side)];
        double sum = 0;
        for (size_t i = 0; i < 9; ++i)
          sum += rows[i / 3] * columns[i % 3] *
                 taps[((first + out) * channels + channel) * 9 + static_cast<int64_t>(i)];
        all[static_cast<size_t>((point * channels + channel) * blockSize + out)] = sum;
      }
  return all;
}

/// What a tile reads of a channel; what lies beyond the image is padding.
Points Errors::readPatch(int64_t image, int64_t channel, int64_t top, int64_t left) const {
  const int64_t rows = input.shape()[2], columns = input.shape()[3];
  const auto *x =
      reinterpret_cast<const float *>(input.bytes()) + (image * channels + channel) * rows * columns;
  Points patch{};
  for (int64_t row = std::max<int64_t>(top, 0); row < std::min(top + side, rows); ++row)
    for (int64_t column = std::max<int64_t>(left, 0); column < std::min(left + side, columns); ++column)
      if (const double value = x[row * columns + column]; std::isfinite(value))
        patch[static_cast<size_t>((row - top) * side + column - left)] = value;
  return patch;
}

void Errors::addBlock(int64_t first) {
  const int64_t count = std::min(blockSize, shape[1] - first);
  const std::vector<double> taps = transformedTaps(first, count);
  const double roundings = 1.5e-7 * std::sqrt(static_cast<double>(channels + 16));
  using OfPoint = std::array<double, blockSize>;
  std::vector<OfPoint> sums(static_cast<size_t>(points())), squares(sums.size()), spreads(sums.size());
  auto addChannel = [&](int64_t channel, const Points &patch) {
    const Points values = transformed(inputMatrix, patch);
    Points patchSquares = patch;
    for (double &x : patchSquares)
      x *= x;
    const Points ofSquares = transformed(inputSquares, patchSquares);
    for (size_t point = 0; point < sums.size(); ++point) {
      const double *u = taps.data() + (static_cast<int64_t>(point) * channels + channel) * blockSize;
      const double value = values[point], square = ofSquares[point];
      for (size_t out = 0; out < blockSize; ++out) {
        sums[point][out] += u[out] * value;
        squares[point][out] += u[out] * u[out] * value * value;
        spreads[point][out] += u[out] * u[out] * square;
      }
    }
  };
  auto errorAt = [&](int64_t row, int64_t column, size_t out) {
    double ofSpreads = 0, ofSquares = 0, ofSums = 0;
    for (size_t i = 0; i < static_cast<size_t>(side); ++i)
      for (size_t j = 0; j < static_cast<size_t>(side); ++j) {
        const double factor =
            outputSquares[static_cast<size_t>(row)][i] * outputSquares[static_cast<size_t>(column)][j];
        const size_t point = i * static_cast<size_t>(side) + j;
        ofSpreads += factor * spreads[point][out];
        ofSquares += factor * squares[point][out];
        ofSums += factor * sums[point][out] * sums[point][out];
      }
    const double root = std::sqrt(ofSquares);
    const double error = roundings * (std::sqrt(ofSpreads) + (root > 0 ? ofSums / root : 0));
    return std::isfinite(error) ? error : 0;
  };
  for (int64_t image = 0; image < shape[0]; ++image)
    for (int64_t top = 0; top < shape[2]; top += results)
      for (int64_t left = 0; left < shape[3]; left += results) {
        for (auto *values : {&sums, &squares, &spreads})
          std::fill(values->begin(), values->end(), OfPoint{});
        for (int64_t channel = 0; channel < channels; ++channel)
          addChannel(channel,
                     readPatch(image, channel, top - conv.getPadsLow()[0], left - conv.getPadsLow()[1]));
        for (int64_t out = 0; out < count; ++out)
          for (int64_t row = top; row < std::min(top + results, shape[2]); ++row)
            for (int64_t column = left; column < std::min(left + results, shape[3]); ++column)
              errors[static_cast<size_t>(((image * shape[1] + first + out) * shape[2] + row) * shape[3] +
                                         column)] =
                  errorAt(row - top, column - left, static_cast<size_t>(out));
      }
}

} // namespace

std::vector<double> filteringError(tk::ConvOp conv, const Tensor &input, const Tensor &weight) {
  return Errors(conv, input, weight).compute();
}

} // namespace tokamak::driver
