//===- VerifyFiltering.cpp - what the arithmetic of a kernel leaves open of its results --------------===//
#include "driver/VerifyFiltering.h"
#include "driver/FilteringError.h"
#include "driver/SumError.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <limits>

namespace tokamak::driver {

namespace {

using Reach = FilteringReach;
using Tensors = llvm::SmallVector<Tensor>;

/// Of one tile.
struct Patch {
  std::vector<double> squares; ///< of its inputs, a channel
  double largest = 0;          ///< of the finite ones
  bool isFinite = true;
};

/// What a tile reads; what lies beyond the image is padding.
Patch readPatch(const Tensor &input, int64_t image, std::array<int64_t, 2> start, int64_t side) {
  const int64_t channels = input.shape()[1], rows = input.shape()[2], columns = input.shape()[3];
  Patch patch{std::vector<double>(static_cast<size_t>(channels)), 0, true};
  const auto *x = reinterpret_cast<const float *>(input.bytes());
  for (int64_t channel = 0; channel < channels; ++channel)
    for (int64_t row = std::max<int64_t>(start[0], 0); row < std::min(start[0] + side, rows); ++row)
      for (int64_t column = std::max<int64_t>(start[1], 0); column < std::min(start[1] + side, columns);
           ++column) {
        const double value = x[((image * channels + channel) * rows + row) * columns + column];
        patch.isFinite &= std::isfinite(value);
        if (!std::isfinite(value))
          continue;
        patch.squares[static_cast<size_t>(channel)] += value * value;
        patch.largest = std::max(patch.largest, std::abs(value));
      }
  return patch;
}

/// Sums of the squares of the nine taps, [output channel][input channel]; not finite where one tap is not.
std::vector<double> squaresOfTaps(const Tensor &weight) {
  std::vector<double> squares(static_cast<size_t>(weight.shape()[0] * weight.shape()[1]));
  for (int64_t i = 0; i < weight.size(); ++i)
    squares[static_cast<size_t>(i / 9)] += weight.doubleAt(i) * weight.doubleAt(i);
  return squares;
}

bool isFiltered(mlir::Operation *op) {
  auto group = llvm::dyn_cast_or_null<tk::FusionOp>(op->getParentOp());
  return group && filteredConvolution(group).getOperation() == op;
}

/// Evaluates with the results of filtered convolutions and of sums changed, and notes what was met.
class Variants {
public:
  explicit Variants(EvaluateRevised evaluate) : evaluate(evaluate) {}

  /// `change` makes of a result, its allowed error and its place what it is instead.
  std::optional<Tensors> withErrors(llvm::function_ref<double(double, double, size_t)> change) {
    return evaluate([&](mlir::Operation *op, llvm::ArrayRef<Tensor> operands,
                        llvm::MutableArrayRef<Tensor> results) {
      if (results.empty())
        return;
      // Errors change those behind them by no more than they are themselves.
      auto [found, isNew] = errors.try_emplace(op);
      if (isNew)
        found->second = isFiltered(op) ? filteringError(llvm::cast<tk::ConvOp>(op), operands[0], operands[1])
                                       : sumError(op, operands, results[0]);
      const std::vector<double> &error = found->second;
      if (error.empty())
        return;
      anyError = true;
      replace(results[0], [&](double y, size_t i) { return change(y, error[i], i); });
    });
  }
  /// `change` makes of a result and its reach what it is instead.
  std::optional<Tensors> withReach(llvm::function_ref<double(double, Reach)> change) {
    return evaluate(
        [&](mlir::Operation *op, llvm::ArrayRef<Tensor> operands, llvm::MutableArrayRef<Tensor> results) {
          if (!isFiltered(op))
            return;
          const auto reach = filteringReach(llvm::cast<tk::ConvOp>(op), operands[0], operands[1]);
          replace(results[0], [&](double y, size_t i) {
            anyReached |= reach[i] != Reach::Finite;
            anyOverflow |= reach[i] == Reach::Overflow;
            return change(y, reach[i]);
          });
        });
  }
  bool anyError = false, anyReached = false, anyOverflow = false;

private:
  static void replace(Tensor &tensor, llvm::function_ref<double(double, size_t)> by) {
    Tensor changed(tensor.type(), tensor.shape());
    for (int64_t i = 0; i < tensor.size(); ++i)
      changed.setDouble(i, by(tensor.doubleAt(i), static_cast<size_t>(i)));
    tensor = changed;
  }

  EvaluateRevised evaluate;
  llvm::DenseMap<mlir::Operation *, std::vector<double>> errors;
};

bool isEqual(const Tensor &a, const Tensor &b, int64_t i) {
  if (!isFloat(a.type()))
    return a.intAt(i) == b.intAt(i);
  return a.doubleAt(i) == b.doubleAt(i) || (std::isnan(a.doubleAt(i)) && std::isnan(b.doubleAt(i)));
}

Tensor copyOf(const Tensor &tensor) {
  Tensor copy(tensor.type(), tensor.shape());
  std::copy_n(tensor.bytes(), tensor.byteCount(), copy.mutableBytes());
  return copy;
}

/// Widens the bounds by how far `other` is from `plain`, which are results of the same graph.
void widen(Latitude &latitude, const Tensor &expected, const Tensor &plain, const Tensor &other) {
  for (int64_t i = 0; i < expected.size(); ++i) {
    if (!isFloat(expected.type())) {
      if (plain.intAt(i) != expected.intAt(i))
        continue;
      latitude.low.setInt(i, std::min(latitude.low.intAt(i), other.intAt(i)));
      latitude.high.setInt(i, std::max(latitude.high.intAt(i), other.intAt(i)));
      continue;
    }
    const double by = other.doubleAt(i) - plain.doubleAt(i), value = expected.doubleAt(i) + by;
    if (!std::isfinite(value))
      continue;
    latitude.low.setDouble(i, std::min(latitude.low.doubleAt(i), value));
    latitude.high.setDouble(i, std::max(latitude.high.doubleAt(i), value));
  }
}

} // namespace

tk::ConvOp filteredConvolution(tk::FusionOp group) {
  tk::ConvOp found;
  int64_t anchors = 0;
  group.walk([&](tk::FusionKindInterface op) {
    const FusionKind kind = op.getFusionKind();
    if (op->getNumRegions() > 0 || (kind != FusionKind::Reduction && kind != FusionKind::Anchor))
      return;
    ++anchors;
    auto conv = llvm::dyn_cast<tk::ConvOp>(op.getOperation());
    if (!conv || !conv.getWinograd())
      return;
    auto input = llvm::dyn_cast<mlir::BlockArgument>(conv.getInput());
    if (input && input.getOwner() == &group.getBody().front())
      found = conv;
  });
  return anchors == 1 ? found : nullptr;
}

std::vector<FilteringReach> filteringReach(tk::ConvOp conv, const Tensor &input, const Tensor &weight) {
  // No factor that a transform multiplies a tile's inputs, products or results by is larger, all together.
  constexpr double growth = 1024, most = std::numeric_limits<float>::max();
  const auto outputs = static_cast<int64_t>(*conv.getWinograd());
  auto shape = tk::tensorType(conv.getResult()).getShape();
  const int64_t rows = shape[2], columns = shape[3], inChannels = input.shape()[1];
  const std::vector<double> taps = squaresOfTaps(weight);
  std::vector<Reach> all(static_cast<size_t>(tk::tensorType(conv.getResult()).getNumElements()));
  for (int64_t image = 0; image < shape[0]; ++image)
    for (int64_t top = 0; top < rows; top += outputs)
      for (int64_t left = 0; left < columns; left += outputs) {
        const Patch patch =
            readPatch(input, image, {top - conv.getPadsLow()[0], left - conv.getPadsLow()[1]}, outputs + 2);
        for (int64_t channel = 0; channel < shape[1]; ++channel) {
          const double *ofChannel = taps.data() + channel * inChannels;
          double sum = 0;
          for (int64_t c = 0; c < inChannels; ++c)
            sum += patch.squares[static_cast<size_t>(c)] * ofChannel[c];
          Reach reach = patch.isFinite && std::isfinite(sum) ? Reach::Finite : Reach::NotANumber;
          // A sum over channels is at most the root of their number times the root of the sum of squares.
          const double largest = std::isfinite(sum) ? std::sqrt(static_cast<double>(inChannels) * sum) : 0;
          if (growth * std::max(patch.largest, largest) > most)
            reach = Reach::Overflow;
          for (int64_t row = top; row < std::min(top + outputs, rows); ++row)
            for (int64_t column = left; column < std::min(left + outputs, columns); ++column)
              all[static_cast<size_t>(((image * shape[1] + channel) * rows + row) * columns + column)] =
                  reach;
        }
      }
  return all;
}

std::vector<Latitude> arithmeticLatitude(llvm::ArrayRef<Tensor> expected, int mixtures,
                                         EvaluateRevised evaluate) {
  Variants variant(evaluate);
  auto plain = variant.withReach([](double y, Reach) { return y; });
  auto up = variant.withErrors([](double y, double error, size_t) { return y + error; });
  if (!plain || !variant.anyError)
    return {};
  std::vector<Latitude> latitudes;
  for (const Tensor &tensor : expected)
    latitudes.push_back({copyOf(tensor), copyOf(tensor), {}});
  auto forEachResult = [&](const std::optional<Tensors> &other, auto &&body) {
    for (size_t i = 0; other && i < expected.size(); ++i)
      body(latitudes[i], expected[i], (*plain)[i], (*other)[i]);
  };
  forEachResult(up, widen);
  forEachResult(variant.withErrors([](double y, double error, size_t) { return y - error; }), widen);
  for (int mixture = 0; mixture < mixtures; ++mixture)
    forEachResult(variant.withErrors([&](double y, double error, size_t i) {
      return llvm::hash_combine(i, mixture) % 2 ? y + error : y - error;
    }),
                  widen);

  // Results that such a value does not reach are as expected.
  auto replace = [](Latitude &latitude, const Tensor &expected, const Tensor &plain, const Tensor &other) {
    Tensor instead = copyOf(expected);
    for (int64_t i = 0; i < expected.size(); ++i)
      if (!isEqual(plain, other, i)) {
        if (isFloat(expected.type()))
          instead.setDouble(i, other.doubleAt(i));
        else
          instead.setInt(i, other.intAt(i));
      }
    latitude.instead.push_back(std::move(instead));
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (variant.anyReached)
    forEachResult(variant.withReach([](double y, Reach reach) {
      return reach == Reach::Finite ? y : std::numeric_limits<double>::quiet_NaN();
    }),
                  replace);
  if (variant.anyOverflow)
    for (double value : {infinity, -infinity})
      forEachResult(
          variant.withReach([&](double y, Reach reach) { return reach == Reach::Overflow ? value : y; }),
          replace);
  return latitudes;
}

} // namespace tokamak::driver
