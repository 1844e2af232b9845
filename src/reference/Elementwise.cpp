//===- Elementwise.cpp - elementwise operators of several operands ------------------------===//
#include "reference/Elements.h"
#include "reference/Numbers.h"
#include "reference/Register.h"
#include <cassert>

namespace tokamak::reference {
namespace {

/// Combines two tensors that broadcast to `shape` element by element; the results have type `type`.
template <typename T, typename Combine>
Tensor broadcastBinary(DataType type, llvm::ArrayRef<int64_t> shape, const Tensor &lhs, const Tensor &rhs,
                       Combine combine) {
  const std::vector<T> a = load<T>(lhs);
  const std::vector<T> b = load<T>(rhs);
  std::vector<decltype(combine(T{}, T{}))> values;
  values.reserve(static_cast<size_t>(product(shape)));
  walk<2>(shape, {0, 0}, {broadcastStrides(lhs.shape(), shape), broadcastStrides(rhs.shape(), shape)},
          [&](const std::array<int64_t, 2> &at) { values.push_back(combine(a[at[0]], b[at[1]])); });
  return store(type, shape, values);
}

/// Applies `f` in the domain of the operands; the result has their type.
template <auto f>
Result binary(mlir::Operation *op, Operands operands) {
  auto shape = tk::tensorType(op->getResult(0)).getShape();
  const DataType type = operands[0].type();
  return inDomain(type, [&](auto zero) {
    return Tensors{broadcastBinary<decltype(zero)>(type, shape, operands[0], operands[1], f)};
  });
}

constexpr auto divide = [](auto a, auto b) {
  using T = decltype(a);
  if constexpr (std::is_floating_point_v<T>) {
    return a / b;
  } else {
    if (b == 0)
      return T{0};
    if constexpr (std::is_signed_v<T>)
      if (b == -1) // the one quotient that overflows
        return subtract(T{0}, a);
    return static_cast<T>(a / b);
  }
};

template <typename T>
T truncatedRemainder(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fmod(a, b);
  } else {
    if (b == 0)
      return 0;
    if constexpr (std::is_signed_v<T>)
      if (b == -1)
        return 0;
    return a % b;
  }
}

/// The sign of the divisor, a zero included (as NumPy).
template <typename T>
T flooredRemainder(T a, T b) {
  T r = truncatedRemainder(a, b);
  if constexpr (std::is_signed_v<T>) { // double as well
    if (r != 0 && (r < 0) != (b < 0))
      return r + b;
    if constexpr (std::is_floating_point_v<T>)
      if (r == 0)
        return std::copysign(r, b);
  }
  return r;
}

Result mod(tk::ModOp op, Operands operands) {
  if (op.getTruncated())
    return binary<[](auto a, auto b) { return truncatedRemainder(a, b); }>(op, operands);
  return binary<[](auto a, auto b) { return flooredRemainder(a, b); }>(op, operands);
}

/// Integers wrap as products of them do; a negative exponent divides 1, towards zero, and by 0 gives 0 as
/// `tk.div` does.
template <typename T>
T power(T base, T exponent) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::pow(base, exponent);
  } else {
    if constexpr (std::is_signed_v<T>)
      if (exponent < 0)
        return base == 1 ? 1 : base != -1 ? 0 : exponent % 2 == 0 ? 1 : -1;
    T result = 1;
    for (; exponent > 0; exponent /= 2) {
      if (exponent % 2 != 0)
        result = multiply(result, base);
      base = multiply(base, base);
    }
    return result;
  }
}

Result pow(tk::PowOp op, Operands operands) {
  return binary<[](auto a, auto b) { return power(a, b); }>(op, operands);
}

/// On the bits of the element, zero-extended; a negative amount is a large one.
template <auto shift>
Result shiftBits(mlir::Operation *op, Operands operands) {
  const DataType type = operands[0].type();
  const auto width = static_cast<unsigned>(8 * byteSize(type));
  const uint64_t mask = ~uint64_t{0} >> (64 - width);
  return Tensors{broadcastBinary<uint64_t>(
      type, tk::tensorType(op->getResult(0)).getShape(), operands[0], operands[1],
      [=](uint64_t x, uint64_t amount) { return amount >= width ? 0 : shift(x & mask, amount); })};
}

template <typename T>
bool holds(tk::Predicate predicate, T a, T b) {
  switch (predicate) {
  case tk::Predicate::Equal:
    return a == b;
  case tk::Predicate::Less:
    return a < b;
  case tk::Predicate::LessOrEqual:
    return a <= b;
  case tk::Predicate::Greater:
    return a > b;
  case tk::Predicate::GreaterOrEqual:
    return a >= b;
  }
}

Result compare(tk::CompareOp op, Operands operands) {
  auto shape = tk::tensorType(op.getResult()).getShape();
  return inDomain(operands[0].type(), [&](auto zero) {
    using T = decltype(zero);
    return Tensors{broadcastBinary<T>(
        DataType::Bool, shape, operands[0], operands[1],
        [predicate = op.getPredicate()](T a, T b) -> uint64_t { return holds(predicate, a, b); })};
  });
}

Result select(tk::SelectOp op, Operands operands) {
  Tensor result(tk::tensorType(op.getResult()));
  auto shape = result.shape();
  const auto size = static_cast<int64_t>(byteSize(result.type()));
  const Tensor &condition = operands[0];
  int64_t i = 0;
  walk<3>(shape, {0, 0, 0},
          {broadcastStrides(condition.shape(), shape), broadcastStrides(operands[1].shape(), shape),
           broadcastStrides(operands[2].shape(), shape)},
          [&](const std::array<int64_t, 3> &at) {
            const std::byte *source = condition.intAt(at[0]) ? operands[1].bytes() + at[1] * size
                                                             : operands[2].bytes() + at[2] * size;
            std::memcpy(result.mutableBytes() + i++ * size, source, static_cast<size_t>(size));
          });
  return Tensors{result};
}

Result batchNorm(tk::BatchNormOp op, Operands operands) {
  std::vector<double> values = load<double>(operands[0]);
  const std::vector<double> scale = load<double>(operands[1]);
  const std::vector<double> bias = load<double>(operands[2]);
  const std::vector<double> mean = load<double>(operands[3]);
  const std::vector<double> variance = load<double>(operands[4]);
  const double epsilon = op.getEpsilon().convertToDouble();
  const Tensor &x = operands[0];
  // A tensor of rank 0 or 1 has one channel.
  const AxisView view = x.rank() < 2 ? AxisView{1, 1, x.size()} : aroundAxis(x.shape(), 1);
  size_t i = 0;
  for (int64_t n = 0; n < view.outer; ++n)
    for (int64_t c = 0; c < view.extent; ++c) {
      const double factor = scale[c] / std::sqrt(variance[c] + epsilon);
      for (int64_t k = 0; k < view.inner; ++k, ++i)
        values[i] = (values[i] - mean[c]) * factor + bias[c];
    }
  return Tensors{store(x.type(), x.shape(), values)};
}

constexpr auto bitAnd = [](auto a, auto b) { return a & b; };
constexpr auto bitOr = [](auto a, auto b) { return a | b; };
constexpr auto bitXor = [](auto a, auto b) { return a ^ b; };

/// `binary` for operators of integers and bool, on the bits.
template <auto f>
Result binaryBits(mlir::Operation *op, Operands operands) {
  return Tensors{broadcastBinary<uint64_t>(operands[0].type(), tk::tensorType(op->getResult(0)).getShape(),
                                           operands[0], operands[1], f)};
}

} // namespace

void attachElementwise(mlir::MLIRContext *context) {
  attach<tk::AddOp, binary<[](auto a, auto b) { return add(a, b); }>>(context);
  attach<tk::SubOp, binary<[](auto a, auto b) { return subtract(a, b); }>>(context);
  attach<tk::MulOp, binary<[](auto a, auto b) { return multiply(a, b); }>>(context);
  attach<tk::DivOp, binary<divide>>(context);
  attach<tk::PowOp, pow>(context);
  attach<tk::MaxOp, binary<[](auto a, auto b) { return maximum(a, b); }>>(context);
  attach<tk::MinOp, binary<[](auto a, auto b) { return minimum(a, b); }>>(context);
  attach<tk::ModOp, mod>(context);
  attach<tk::AndOp, binaryBits<bitAnd>>(context);
  attach<tk::OrOp, binaryBits<bitOr>>(context);
  attach<tk::XorOp, binaryBits<bitXor>>(context);
  attach<tk::BitAndOp, binaryBits<bitAnd>>(context);
  attach<tk::BitOrOp, binaryBits<bitOr>>(context);
  attach<tk::BitXorOp, binaryBits<bitXor>>(context);
  attach<tk::ShiftLeftOp, shiftBits<[](uint64_t x, uint64_t n) { return x << n; }>>(context);
  attach<tk::ShiftRightOp, shiftBits<[](uint64_t x, uint64_t n) { return x >> n; }>>(context);
  attach<tk::CompareOp, compare>(context);
  attach<tk::SelectOp, select>(context);
  attach<tk::BatchNormOp, batchNorm>(context);
}

} // namespace tokamak::reference
