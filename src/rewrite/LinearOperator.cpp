//===- LinearOperator.cpp - convolutions and matrix products by constant weights --------------===//
#include "rewrite/LinearOperator.h"
#include "rewrite/ConstantOperands.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace tokamak;
using rewrite::ChannelMap;
using rewrite::LinearOperator;
using rewrite::PerChannel;

std::optional<LinearOperator> rewrite::linearOperator(Operation *op) {
  LinearOperator linear{op, 0, 1, 1, 1, true, false};
  if (auto conv = llvm::dyn_cast_or_null<tk::ConvOp>(op)) {
    auto isZero = [](int64_t pad) { return pad == 0; };
    linear.seesAllTaps = llvm::all_of(conv.getPadsLow(), isZero) && llvm::all_of(conv.getPadsHigh(), isZero);
  } else if (auto product = llvm::dyn_cast_or_null<tk::MatMulOp>(op)) {
    // The weights are one matrix for the whole batch.
    const bool isLeft = product.getLhs().getDefiningOp<tk::ConstantOp>() != nullptr;
    linear.inputOperand = isLeft ? 1 : 0;
    linear.weightOperand = isLeft ? 0 : 1;
    const int64_t rank = tk::tensorType(linear.input()).getRank();
    const bool isSwapped = isLeft ? product.getTransposeRhs() : product.getTransposeLhs();
    linear.inputAxis = isLeft != isSwapped ? rank - 2 : rank - 1;
    linear.resultAxis = isLeft ? rank - 2 : rank - 1;
    linear.takesBias = false;
    linear.seesAllTaps = true;
    if (tk::tensorType(linear.weight()).getRank() != 2)
      return std::nullopt;
  } else if (!llvm::isa_and_nonnull<tk::ConvTransposeOp>(op)) {
    return std::nullopt;
  }
  if (!linear.weight().getDefiningOp<tk::ConstantOp>() || linear.input().getDefiningOp<tk::ConstantOp>() ||
      tk::tensorType(linear.weight()).getNumElements() == 0 || !isWideFloat(linear.weight()))
    return std::nullopt;
  return linear;
}

namespace {
enum class Axis { Row, Column };
} // namespace

/// A map in which the channel is the position along one axis, or that within a group of rows (`rowsOfGroup`)
/// which has as many channels as there are columns.
static ChannelMap mapOf(const LinearOperator &linear, Axis axis, int64_t rowsOfGroup = 0) {
  RankedTensorType type = tk::tensorType(linear.weight());
  ChannelMap map{std::vector<int64_t>(type.getDimSize(0), 0), std::vector<int64_t>(type.getDimSize(1), 0)};
  for (auto [row, channel] : llvm::enumerate(map.ofRow))
    if (axis == Axis::Row)
      channel = static_cast<int64_t>(row);
    else if (rowsOfGroup > 0)
      channel = static_cast<int64_t>(row) / rowsOfGroup * type.getDimSize(1);
  for (auto [column, channel] : llvm::enumerate(map.ofColumn))
    if (axis == Axis::Column)
      channel = static_cast<int64_t>(column);
  return map;
}

/// Of a matrix: whether its rows are the channels of the result.
static bool rowsAreResult(const LinearOperator &linear, tk::MatMulOp product) {
  return linear.weightOperand == 1 ? product.getTransposeRhs() : !product.getTransposeLhs();
}

// Weights are [M, C/group, ...] in conv, where outputs of group g see the inputs [g C/group, (g+1) C/group),
// and [C, M/group, ...] in conv_transpose, where inputs of group g feed the outputs [g M/group, (g+1)
// M/group).

static int64_t rowsOfGroup(const LinearOperator &linear, uint64_t groups) {
  return tk::tensorType(linear.weight()).getDimSize(0) / static_cast<int64_t>(groups);
}

ChannelMap LinearOperator::inputMap() const {
  if (auto product = llvm::dyn_cast<tk::MatMulOp>(op))
    return mapOf(*this, rowsAreResult(*this, product) ? Axis::Column : Axis::Row);
  if (auto conv = llvm::dyn_cast<tk::ConvOp>(op))
    return mapOf(*this, Axis::Column, rowsOfGroup(*this, conv.getGroup()));
  return mapOf(*this, Axis::Row);
}

ChannelMap LinearOperator::resultMap() const {
  if (auto product = llvm::dyn_cast<tk::MatMulOp>(op))
    return mapOf(*this, rowsAreResult(*this, product) ? Axis::Row : Axis::Column);
  if (auto transposed = llvm::dyn_cast<tk::ConvTransposeOp>(op))
    return mapOf(*this, Axis::Column, rowsOfGroup(*this, transposed.getGroup()));
  return mapOf(*this, Axis::Row);
}

/// Whether scaling took the largest weight of a channel from where rounding is relative to where it is not:
/// what is scaled up again later would show it. Small weights beside large ones do not matter.
template <typename T>
static bool losesPrecision(llvm::ArrayRef<T> before, llvm::ArrayRef<T> after) {
  constexpr T leastPrecise = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();
  // What was too small for that before need only stay a normal number.
  auto keepsPrecision = [](T from, T to) {
    return to >= (from < leastPrecise ? std::min(from, std::numeric_limits<T>::min()) : leastPrecise);
  };
  return !llvm::all_of_zip(before, after, keepsPrecision);
}

/// Scales weights of element type `T`; false where one would not be finite, or a channel would lose
/// precision.
template <typename T>
static bool scaleElements(const Tensor &weight, const PerChannel &scale, const ChannelMap &map,
                          Tensor &result) {
  const auto *from = reinterpret_cast<const T *>(weight.bytes());
  auto *to = reinterpret_cast<T *>(result.mutableBytes());
  const int64_t taps = weight.size() / (weight.shape()[0] * weight.shape()[1]);
  std::vector<T> largestBefore(scale.size()), largestAfter(scale.size());
  for (int64_t row : map.ofRow)
    for (int64_t column : map.ofColumn) {
      const double factor = scale[row + column];
      T &before = largestBefore[row + column], &after = largestAfter[row + column];
      for (int64_t tap = 0; tap < taps; ++tap, ++from, ++to) {
        *to = static_cast<T>(*from * factor);
        if (!std::isfinite(*to))
          return false;
        if (factor != 0) {
          before = std::max(before, std::abs(*from));
          after = std::max(after, std::abs(*to));
        }
        if (*to == 0 && *from != 0 && factor != 0)
          *to = std::copysign(std::numeric_limits<T>::denorm_min(),
                              static_cast<T>(*from * std::copysign(1.0, factor)));
      }
    }
  return !losesPrecision<T>(largestBefore, largestAfter);
}

static std::optional<Tensor> scaledWeight(const LinearOperator &linear, const PerChannel &scale,
                                          const ChannelMap &map) {
  std::optional<Tensor> weight = tk::constantValue(linear.weight());
  Tensor result(weight->type(), weight->shape());
  const bool isFinite = weight->type() == DataType::Float64
                            ? scaleElements<double>(*weight, scale, map, result)
                            : scaleElements<float>(*weight, scale, map, result);
  return isFinite ? std::optional(result) : std::nullopt;
}

std::optional<Tensor> LinearOperator::weightForScaledResult(const PerChannel &scale) const {
  return scaledWeight(*this, scale, resultMap());
}

std::optional<Tensor> LinearOperator::weightForScaledInput(const PerChannel &scale) const {
  return scaledWeight(*this, scale, inputMap());
}

PerChannel LinearOperator::resultOfShiftedInput(const PerChannel &shift) const {
  std::optional<Tensor> values = tk::constantValue(weight());
  const ChannelMap inputs = inputMap(), results = resultMap();
  const int64_t rows = values->shape()[0], columns = values->shape()[1],
                taps = values->size() / (rows * columns);
  PerChannel result(resultChannels(), 0.0);
  int64_t i = 0;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      for (int64_t tap = 0; tap < taps; ++tap)
        result[results.ofRow[row] + results.ofColumn[column]] +=
            values->doubleAt(i++) * shift[inputs.ofRow[row] + inputs.ofColumn[column]];
  return result;
}

std::optional<Tensor> LinearOperator::scaledAndShiftedBias(const PerChannel &scale,
                                                           const PerChannel &shift) const {
  std::optional<Tensor> old;
  if (bias())
    old = tk::constantValue(bias());
  if (bias() && !old)
    return std::nullopt;
  Tensor result(*fromMlir(tk::tensorType(weight()).getElementType()), {resultChannels()});
  for (int64_t m = 0; m < result.size(); ++m) {
    result.setDouble(m, (old ? old->doubleAt(m) : 0.0) * scale[m] + shift[m]);
    if (!std::isfinite(result.doubleAt(m)))
      return std::nullopt;
  }
  return result;
}

Operation *LinearOperator::rebuild(OpBuilder &builder, Location loc, Value input, Value weight,
                                   Value bias) const {
  llvm::SmallVector<Value> operands = {input, weight};
  if (weightOperand == 0)
    std::swap(operands[0], operands[1]);
  if (bias)
    operands.push_back(bias);
  return builder.create(OperationState(loc, op->getName(), operands, op->getResultTypes(), op->getAttrs()));
}

std::optional<PerChannel> rewrite::perChannel(const Tensor &constant, llvm::ArrayRef<int64_t> shape,
                                              int64_t axis) {
  const auto missing = static_cast<int64_t>(shape.size()) - constant.rank();
  if (missing < 0)
    return std::nullopt;
  for (auto [i, extent] : llvm::enumerate(constant.shape()))
    if (extent != 1 && static_cast<int64_t>(i) + missing != axis)
      return std::nullopt;
  PerChannel values;
  for (int64_t c = 0; c < shape[axis]; ++c)
    values.push_back(constant.doubleAt(constant.size() == 1 ? 0 : c));
  return values;
}
