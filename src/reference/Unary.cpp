//===- Unary.cpp - elementwise operators of one operand -----------------------------------===//
#include "reference/Elements.h"
#include "reference/Numbers.h"
#include "reference/Register.h"

namespace tokamak::reference {
namespace {

/// Applies `f` in the operand's domain; the result has the operand's type.
template <auto f>
Result unary(mlir::Operation *, Operands operands) {
  const Tensor &x = operands[0];
  return inDomain(x.type(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> values = load<T>(x);
    for (T &value : values)
      value = f(value);
    return Tensors{store(x.type(), x.shape(), values)};
  });
}

/// As `unary`, for operators of floats only.
template <double (*f)(double)>
Result unaryFloat(mlir::Operation *, Operands operands) {
  const Tensor &x = operands[0];
  std::vector<double> values = load<double>(x);
  for (double &value : values)
    value = f(value);
  return Tensors{store(x.type(), x.shape(), values)};
}

constexpr auto negate = [](auto x) {
  if constexpr (std::is_floating_point_v<decltype(x)>)
    return -x;
  else
    return subtract(decltype(x){0}, x);
};

constexpr auto absolute = [](auto x) {
  if constexpr (std::is_floating_point_v<decltype(x)>)
    return std::fabs(x);
  else
    return x < 0 ? negate(x) : x;
};

/// -1, 0 or 1; NaN stays NaN.
constexpr auto sign = [](auto x) {
  using T = decltype(x);
  if (x > T{0})
    return T{1};
  if (x < T{0})
    return static_cast<T>(-1);
  return x == T{0} ? T{0} : x;
};

Result logicalNot(tk::NotOp, Operands operands) {
  Tensor result(DataType::Bool, operands[0].shape());
  for (int64_t i = 0; i < result.size(); ++i)
    result.setInt(i, !operands[0].intAt(i));
  return Tensors{result};
}

Result bitNot(tk::BitNotOp, Operands operands) {
  Tensor result(operands[0].type(), operands[0].shape());
  for (int64_t i = 0; i < result.size(); ++i)
    result.setInt(i, ~operands[0].intAt(i));
  return Tensors{result};
}

template <typename Test>
Result test(const Tensor &x, Test holds) {
  Tensor result(DataType::Bool, x.shape());
  for (int64_t i = 0; i < result.size(); ++i)
    result.setInt(i, holds(x.doubleAt(i)));
  return Tensors{result};
}

Result isNaN(tk::IsNaNOp, Operands operands) {
  return test(operands[0], [](double x) { return std::isnan(x); });
}

Result isInf(tk::IsInfOp op, Operands operands) {
  return test(operands[0], [positive = op.getPositive(), negative = op.getNegative()](double x) {
    return std::isinf(x) && (x > 0 ? positive : negative);
  });
}

double roundHalfToEven(double x) { return std::nearbyint(x); }

/// To an integer type, clamped to its range instead of wrapped; NaN gives 0.
void setSaturated(Tensor &result, int64_t i, double value) {
  const DataType type = result.type();
  const auto bits = static_cast<int>(8 * byteSize(type));
  // Both bounds are exact in double: the upper one is excluded because 2^63 - 1 and 2^64 - 1 are not.
  const double lower = isUnsigned(type) ? 0.0 : -std::ldexp(1.0, bits - 1);
  const double upper = std::ldexp(1.0, isUnsigned(type) ? bits : bits - 1);
  value = std::trunc(value);
  if (std::isnan(value))
    result.setInt(i, 0);
  else if (value < lower)
    result.setDouble(i, lower);
  else if (value >= upper)
    result.setInt(i, isUnsigned(type) ? int64_t{-1} : std::numeric_limits<int64_t>::max() >> (64 - bits));
  else
    result.setDouble(i, value);
}

/// An unsigned integer to a float type, rounded once. A double holds all but the largest exactly; of those
/// the bits below its 53 are folded into a sticky last one, so that rounding it further to float32 or less is
/// still correct.
void setUnsigned(Tensor &result, int64_t i, uint64_t value) {
  if (result.type() == DataType::Float64 || value < (uint64_t{1} << 53))
    return result.setDouble(i, static_cast<double>(value));
  const uint64_t dropped = value & 0xfff;
  result.setDouble(i, static_cast<double>((value - dropped) | (dropped != 0 ? 0x800 : 0)));
}

Result cast(tk::CastOp op, Operands operands) {
  const Tensor &x = operands[0];
  Tensor result(tk::tensorType(op.getResult()));
  const bool toInteger = isInteger(result.type());
  for (int64_t i = 0; i < x.size(); ++i) {
    if (isFloat(x.type())) {
      if (toInteger && op.getSaturate())
        setSaturated(result, i, x.doubleAt(i));
      else
        result.setDouble(i, x.doubleAt(i)); // to bool: NaN != 0
    } else if (x.type() == DataType::UInt64 && isFloat(result.type())) {
      setUnsigned(result, i, static_cast<uint64_t>(x.intAt(i)));
    } else {
      result.setInt(i, x.intAt(i));
    }
  }
  return Tensors{result};
}

} // namespace

void attachUnary(mlir::MLIRContext *context) {
  attach<tk::NegOp, unary<negate>>(context);
  attach<tk::AbsOp, unary<absolute>>(context);
  attach<tk::SignOp, unary<sign>>(context);
  attach<tk::NotOp, logicalNot>(context);
  attach<tk::BitNotOp, bitNot>(context);
  attach<tk::ExpOp, unaryFloat<std::exp>>(context);
  attach<tk::LogOp, unaryFloat<std::log>>(context);
  attach<tk::SqrtOp, unaryFloat<std::sqrt>>(context);
  attach<tk::SinOp, unaryFloat<std::sin>>(context);
  attach<tk::CosOp, unaryFloat<std::cos>>(context);
  attach<tk::TanOp, unaryFloat<std::tan>>(context);
  attach<tk::AsinOp, unaryFloat<std::asin>>(context);
  attach<tk::AcosOp, unaryFloat<std::acos>>(context);
  attach<tk::AtanOp, unaryFloat<std::atan>>(context);
  attach<tk::SinhOp, unaryFloat<std::sinh>>(context);
  attach<tk::CoshOp, unaryFloat<std::cosh>>(context);
  attach<tk::TanhOp, unaryFloat<std::tanh>>(context);
  attach<tk::AsinhOp, unaryFloat<std::asinh>>(context);
  attach<tk::AcoshOp, unaryFloat<std::acosh>>(context);
  attach<tk::AtanhOp, unaryFloat<std::atanh>>(context);
  attach<tk::ErfOp, unaryFloat<std::erf>>(context);
  attach<tk::FloorOp, unaryFloat<std::floor>>(context);
  attach<tk::CeilOp, unaryFloat<std::ceil>>(context);
  attach<tk::RoundOp, unaryFloat<roundHalfToEven>>(context);
  attach<tk::IsNaNOp, isNaN>(context);
  attach<tk::IsInfOp, isInf>(context);
  attach<tk::CastOp, cast>(context);
}

} // namespace tokamak::reference
