//===- Elementwise.cpp - element expressions of elementwise operators ------------------------===//
#include "codegen/expression/ElementBuilder.h"
#include "codegen/expression/ElementType.h"
#include "codegen/expression/Register.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

namespace tokamak::codegen {

using namespace mlir;

namespace {

/// One elementwise operator: its operand elements arrive in compute type, and so does its result.
using Formula = Value (*)(ElementBuilder &, Operation *, ValueRange, DataType);

template <typename OpTy, Formula formula>
struct Elementwise : tk::TensorExpressionInterface::ExternalModel<Elementwise<OpTy, formula>, OpTy> {
  Value emitElement(Operation *op, ElementBuilder &e, ArrayRef<Index> index, unsigned) const {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(e.broadcastElement(operand, index));
    return formula(e, op, operands, elementOf(op->getOperand(0)));
  }
};

template <typename ArithOp>
Value unary(ElementBuilder &e, Operation *, ValueRange x, DataType) {
  return e.builder().create<ArithOp>(e.location(), x[0]);
}

/// Polynomials clamp their argument, which loses a NaN: put it back.
template <typename MathOp>
Value keepNaN(ElementBuilder &e, Operation *, ValueRange x, DataType) {
  OpBuilder &b = e.builder();
  Value result = b.create<MathOp>(e.location(), x[0]);
  Value isNaN = b.create<arith::CmpFOp>(e.location(), arith::CmpFPredicate::UNO, x[0], x[0]);
  return b.create<arith::SelectOp>(e.location(), isNaN, x[0], result);
}

template <typename FloatOp, typename IntOp>
Value binary(ElementBuilder &e, Operation *, ValueRange x, DataType type) {
  if (isFloat(type))
    return e.builder().create<FloatOp>(e.location(), x[0], x[1]);
  return e.builder().create<IntOp>(e.location(), x[0], x[1]);
}

template <typename IntOp>
Value bitwise(ElementBuilder &e, Operation *, ValueRange x, DataType) {
  return e.builder().create<IntOp>(e.location(), x[0], x[1]);
}

/// c > v ? c : v with a constant c is one instruction and hands on a NaN in v; the general form takes
/// several. Of zeros +0 is the larger one: where c is the one that wins among zeros, it wins the tie.
template <typename FloatOp>
Value floatExtreme(ElementBuilder &e, Operation *op, ValueRange x, bool largest) {
  for (unsigned i : {1U, 0U}) {
    auto constant = tk::constantValue(op->getOperand(i));
    if (!constant || !constant->isSplat() || std::isnan(constant->doubleAt(0)))
      continue;
    const double c = constant->doubleAt(0);
    const bool winsTies = c == 0 && std::signbit(c) != largest;
    const auto wins = largest ? (winsTies ? arith::CmpFPredicate::OGE : arith::CmpFPredicate::OGT)
                              : (winsTies ? arith::CmpFPredicate::OLE : arith::CmpFPredicate::OLT);
    Value better = e.builder().create<arith::CmpFOp>(e.location(), wins, x[i], x[1 - i]);
    return e.builder().create<arith::SelectOp>(e.location(), better, x[i], x[1 - i]);
  }
  return e.builder().create<FloatOp>(e.location(), x[0], x[1]);
}

Value maximum(ElementBuilder &e, Operation *op, ValueRange x, DataType type) {
  if (isFloat(type))
    return floatExtreme<arith::MaximumFOp>(e, op, x, true);
  if (isUnsigned(type))
    return e.builder().create<arith::MaxUIOp>(e.location(), x[0], x[1]);
  return e.builder().create<arith::MaxSIOp>(e.location(), x[0], x[1]);
}

Value minimum(ElementBuilder &e, Operation *op, ValueRange x, DataType type) {
  if (isFloat(type))
    return floatExtreme<arith::MinimumFOp>(e, op, x, false);
  if (isUnsigned(type))
    return e.builder().create<arith::MinUIOp>(e.location(), x[0], x[1]);
  return e.builder().create<arith::MinSIOp>(e.location(), x[0], x[1]);
}

Value neg(ElementBuilder &e, Operation *, ValueRange x, DataType type) {
  if (isFloat(type))
    return e.builder().create<arith::NegFOp>(e.location(), x[0]);
  return e.builder().create<arith::SubIOp>(e.location(), e.constantInt(type, 0), x[0]);
}

Value abs(ElementBuilder &e, Operation *, ValueRange x, DataType type) {
  if (isFloat(type))
    return e.builder().create<math::AbsFOp>(e.location(), x[0]);
  if (isUnsigned(type))
    return x[0];
  return e.builder().create<math::AbsIOp>(e.location(), x[0]);
}

Value sign(ElementBuilder &e, Operation *, ValueRange x, DataType type) {
  OpBuilder &b = e.builder();
  Location loc = e.location();
  Value zero = e.constant(type, 0), one = e.constant(type, 1), minusOne = e.constant(type, -1);
  if (isFloat(type)) {
    Value up = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OGT, x[0], zero);
    Value down = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OLT, x[0], zero);
    // NaN stays, both zeros become the positive one.
    Value rest = b.create<arith::AddFOp>(loc, x[0], zero);
    return b.create<arith::SelectOp>(loc, up, one, b.create<arith::SelectOp>(loc, down, minusOne, rest));
  }
  auto greater = isUnsigned(type) ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt;
  Value up = b.create<arith::CmpIOp>(loc, greater, x[0], zero);
  if (isUnsigned(type))
    return b.create<arith::SelectOp>(loc, up, one, zero);
  Value down = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, x[0], zero);
  return b.create<arith::SelectOp>(loc, up, one, b.create<arith::SelectOp>(loc, down, minusOne, zero));
}

Value invert(ElementBuilder &e, Operation *, ValueRange x, DataType type) {
  return e.builder().create<arith::XOrIOp>(e.location(), x[0],
                                           e.constantInt(type, type == DataType::Bool ? 1 : -1));
}

Value isNaN(ElementBuilder &e, Operation *, ValueRange x, DataType) {
  return e.builder().create<arith::CmpFOp>(e.location(), arith::CmpFPredicate::UNO, x[0], x[0]);
}

Value isInf(ElementBuilder &e, Operation *op, ValueRange x, DataType type) {
  OpBuilder &b = e.builder();
  if (!isFloat(type)) // integers have no infinity
    return e.constantInt(DataType::Bool, 0);
  auto isInfOp = cast<tk::IsInfOp>(op);
  double infinity = std::numeric_limits<double>::infinity();
  auto equals = [&](double v) -> Value {
    return b.create<arith::CmpFOp>(e.location(), arith::CmpFPredicate::OEQ, x[0], e.constant(type, v));
  };
  Value result = e.constantInt(DataType::Bool, 0);
  if (isInfOp.getPositive())
    result = b.create<arith::OrIOp>(e.location(), result, equals(infinity));
  if (isInfOp.getNegative())
    result = b.create<arith::OrIOp>(e.location(), result, equals(-infinity));
  return result;
}

/// Integer divisors made safe: 0 and -1 become 1, the two cases are patched afterwards. `onZero`,
/// `onMinusOne` give the defined results.
template <typename SignedOp, typename UnsignedOp>
Value guardedDivision(ElementBuilder &e, Value a, Value d, DataType type, Value onZero, Value onMinusOne) {
  OpBuilder &b = e.builder();
  Location loc = e.location();
  Value zero = e.constantInt(type, 0), one = e.constantInt(type, 1);
  Value isZero = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, d, zero);
  if (isUnsigned(type)) {
    Value safe = b.create<arith::SelectOp>(loc, isZero, one, d);
    return b.create<arith::SelectOp>(loc, isZero, onZero, b.create<UnsignedOp>(loc, a, safe));
  }
  Value isMinusOne = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, d, e.constantInt(type, -1));
  Value safe = b.create<arith::SelectOp>(loc, b.create<arith::OrIOp>(loc, isZero, isMinusOne), one, d);
  Value result = b.create<SignedOp>(loc, a, safe);
  result = b.create<arith::SelectOp>(loc, isMinusOne, onMinusOne, result);
  return b.create<arith::SelectOp>(loc, isZero, onZero, result);
}

Value div(ElementBuilder &e, Operation *, ValueRange x, DataType type) {
  if (isFloat(type))
    return e.builder().create<arith::DivFOp>(e.location(), x[0], x[1]);
  Value zero = e.constantInt(type, 0);
  Value negated = e.builder().create<arith::SubIOp>(e.location(), zero, x[0]);
  return guardedDivision<arith::DivSIOp, arith::DivUIOp>(e, x[0], x[1], type, zero, negated);
}

Value mod(ElementBuilder &e, Operation *op, ValueRange x, DataType type) {
  OpBuilder &b = e.builder();
  Location loc = e.location();
  bool truncated = cast<tk::ModOp>(op).getTruncated();
  if (isFloat(type)) {
    Value remainder = b.create<arith::RemFOp>(loc, x[0], x[1]);
    if (truncated)
      return remainder;
    // The sign of the divisor.
    Value zero = e.constant(type, 0);
    Value nonZero = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::ONE, remainder, zero);
    Value negative = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OLT, remainder, zero);
    Value divisorNegative = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OLT, x[1], zero);
    Value differs = b.create<arith::XOrIOp>(loc, negative, divisorNegative);
    Value adjust = b.create<arith::AndIOp>(loc, nonZero, differs);
    return b.create<arith::SelectOp>(loc, adjust, b.create<arith::AddFOp>(loc, remainder, x[1]), remainder);
  }
  Value zero = e.constantInt(type, 0);
  Value remainder = guardedDivision<arith::RemSIOp, arith::RemUIOp>(e, x[0], x[1], type, zero, zero);
  if (truncated || isUnsigned(type))
    return remainder;
  Value nonZero = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, remainder, zero);
  Value negative = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, remainder, zero);
  Value divisorNegative = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, x[1], zero);
  Value adjust =
      b.create<arith::AndIOp>(loc, nonZero, b.create<arith::XOrIOp>(loc, negative, divisorNegative));
  return b.create<arith::SelectOp>(loc, adjust, b.create<arith::AddIOp>(loc, remainder, x[1]), remainder);
}

/// By squaring; wraps as products do.
Value integerPower(ElementBuilder &e, Value base, Value exponent, std::optional<int64_t> known,
                   DataType type) {
  OpBuilder &b = e.builder();
  Location loc = e.location();
  auto multiplied = [&](Value a, Value c) -> Value { return b.create<arith::MulIOp>(loc, a, c); };
  const Value one = e.constantInt(type, 1), zero = e.constantInt(type, 0);
  if (known && *known >= 0) {
    Value result;
    for (int64_t rest = *known; rest > 0; rest /= 2) {
      if (rest % 2 != 0)
        result = result ? multiplied(result, base) : base;
      if (rest > 1)
        base = multiplied(base, base);
    }
    return result ? result : one;
  }
  auto isEqual = [&](Value a, Value c) -> Value {
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, a, c);
  };
  auto select = [&](Value condition, Value a, Value c) -> Value {
    return b.create<arith::SelectOp>(loc, condition, a, c);
  };
  auto isOdd = [&](Value a) { return isEqual(b.create<arith::AndIOp>(loc, a, one), one); };
  const bool isSigned = !isUnsigned(type);
  const auto bits = static_cast<int64_t>(8 * byteSize(type)) - isSigned;
  Value power = e.loop(bits, {one, base, exponent}, [&](const Index &, ValueRange state) {
    Value result = multiplied(state[0], select(isOdd(state[2]), state[1], one));
    return SmallVector<Value>{result, multiplied(state[1], state[1]),
                              b.create<arith::ShRUIOp>(loc, state[2], one)};
  })[0];
  if (!isSigned)
    return power;
  // 1 over the power: nothing is left of it but for 1 and -1.
  Value minusOne = e.constantInt(type, -1);
  Value inverse = select(isEqual(base, one), one,
                         select(isEqual(base, minusOne), select(isOdd(exponent), minusOne, one), zero));
  Value isNegative = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, exponent, zero);
  return select(isNegative, inverse, power);
}

Value pow(ElementBuilder &e, Operation *op, ValueRange x, DataType type) {
  OpBuilder &b = e.builder();
  Location loc = e.location();
  if (!isFloat(type)) {
    std::optional<int64_t> known;
    if (auto exponent = tk::constantValue(op->getOperand(1)); exponent && exponent->isSplat())
      known = exponent->intAt(0);
    return integerPower(e, x[0], x[1], known, type);
  }
  // Squares and cubes are what models contain; their products are the correctly rounded powers or within one
  // ulp.
  if (auto exponent = tk::constantValue(op->getOperand(1)); exponent && exponent->isSplat()) {
    double value = exponent->doubleAt(0);
    if (value == 1)
      return x[0];
    if (value == 2 || value == 3) {
      Value square = b.create<arith::MulFOp>(loc, x[0], x[0]);
      return value == 2 ? square : Value(b.create<arith::MulFOp>(loc, square, x[0]));
    }
  }
  return b.create<math::PowFOp>(loc, x[0], x[1]);
}

template <typename ShiftOp>
Value shift(ElementBuilder &e, Operation *, ValueRange x, DataType type) {
  OpBuilder &b = e.builder();
  Location loc = e.location();
  Value width = e.constantInt(type, static_cast<int64_t>(byteSize(type)) * 8);
  Value inside = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, x[1], width);
  Value amount = b.create<arith::SelectOp>(loc, inside, x[1], e.constantInt(type, 0));
  return b.create<arith::SelectOp>(loc, inside, b.create<ShiftOp>(loc, x[0], amount), e.constantInt(type, 0));
}

Value compare(ElementBuilder &e, Operation *op, ValueRange x, DataType type) {
  OpBuilder &b = e.builder();
  auto pick = [&](auto equal, auto less, auto lessOrEqual, auto greater, auto greaterOrEqual) {
    switch (cast<tk::CompareOp>(op).getPredicate()) {
    case tk::Predicate::Equal:
      return equal;
    case tk::Predicate::Less:
      return less;
    case tk::Predicate::LessOrEqual:
      return lessOrEqual;
    case tk::Predicate::Greater:
      return greater;
    case tk::Predicate::GreaterOrEqual:
      return greaterOrEqual;
    }
    llvm_unreachable("a predicate");
  };
  if (isFloat(type)) {
    using P = arith::CmpFPredicate;
    return b.create<arith::CmpFOp>(e.location(), pick(P::OEQ, P::OLT, P::OLE, P::OGT, P::OGE), x[0], x[1]);
  }
  using P = arith::CmpIPredicate;
  bool isSigned = !isUnsigned(type) && type != DataType::Bool;
  auto predicate =
      isSigned ? pick(P::eq, P::slt, P::sle, P::sgt, P::sge) : pick(P::eq, P::ult, P::ule, P::ugt, P::uge);
  return b.create<arith::CmpIOp>(e.location(), predicate, x[0], x[1]);
}

Value select(ElementBuilder &e, Operation *, ValueRange x, DataType) {
  return e.builder().create<arith::SelectOp>(e.location(), x[0], x[1], x[2]);
}

Value castElement(ElementBuilder &e, Operation *op, ValueRange x, DataType type) {
  return e.cast(x[0], type, elementOf(op->getResult(0)), cast<tk::CastOp>(op).getSaturate());
}

/// (x - mean) / sqrt(variance + epsilon) * scale + bias; the parameters run along axis 1.
struct BatchNorm : tk::TensorExpressionInterface::ExternalModel<BatchNorm, tk::BatchNormOp> {
  Value emitElement(Operation *op, ElementBuilder &e, ArrayRef<Index> index, unsigned) const {
    auto norm = cast<tk::BatchNormOp>(op);
    OpBuilder &b = e.builder();
    Location loc = e.location();
    Index channel = index.size() > 1 ? index[1] : Index(0);
    Value x = e.element(norm.getInput(), index), mean = e.element(norm.getMean(), {channel});
    Value variance = e.element(norm.getVariance(), {channel}), scale = e.element(norm.getScale(), {channel});
    Value bias = e.element(norm.getBias(), {channel});
    // Parameters may have another float type than x: compute in the wider.
    DataType type = elementOf(norm.getInput());
    auto convert = [&](Value &v, Value tensor) {
      v = e.cast(v, elementOf(tensor), type == DataType::Float64 ? type : DataType::Float32, false);
    };
    convert(mean, norm.getMean()), convert(variance, norm.getVariance());
    convert(scale, norm.getScale()), convert(bias, norm.getBias());
    DataType compute = type == DataType::Float64 ? type : DataType::Float32;
    Value epsilon = e.constant(compute, norm.getEpsilon().convertToDouble());
    Value deviation = b.create<math::SqrtOp>(loc, b.create<arith::AddFOp>(loc, variance, epsilon));
    Value factor = b.create<arith::DivFOp>(loc, scale, deviation);
    Value centred = b.create<arith::SubFOp>(loc, x, mean);
    return b.create<arith::AddFOp>(loc, b.create<arith::MulFOp>(loc, centred, factor), bias);
  }
};

template <typename OpTy, Formula formula>
void attach(MLIRContext *context) {
  OpTy::template attachInterface<Elementwise<OpTy, formula>>(*context);
}

} // namespace

void attachElementwise(MLIRContext *context) {
  context->loadDialect<arith::ArithDialect, math::MathDialect>();
  attach<tk::NegOp, neg>(context);
  attach<tk::AbsOp, abs>(context);
  attach<tk::SignOp, sign>(context);
  attach<tk::NotOp, invert>(context);
  attach<tk::BitNotOp, invert>(context);
  attach<tk::ExpOp, unary<math::ExpOp>>(context);
  attach<tk::LogOp, unary<math::LogOp>>(context);
  attach<tk::SqrtOp, unary<math::SqrtOp>>(context);
  attach<tk::SinOp, unary<math::SinOp>>(context);
  attach<tk::CosOp, unary<math::CosOp>>(context);
  attach<tk::TanOp, unary<math::TanOp>>(context);
  attach<tk::AsinOp, unary<math::AsinOp>>(context);
  attach<tk::AcosOp, unary<math::AcosOp>>(context);
  attach<tk::AtanOp, unary<math::AtanOp>>(context);
  attach<tk::SinhOp, unary<math::SinhOp>>(context);
  attach<tk::CoshOp, unary<math::CoshOp>>(context);
  attach<tk::TanhOp, keepNaN<math::TanhOp>>(context);
  attach<tk::AsinhOp, unary<math::AsinhOp>>(context);
  attach<tk::AcoshOp, unary<math::AcoshOp>>(context);
  attach<tk::AtanhOp, unary<math::AtanhOp>>(context);
  attach<tk::ErfOp, keepNaN<math::ErfOp>>(context);
  attach<tk::FloorOp, unary<math::FloorOp>>(context);
  attach<tk::CeilOp, unary<math::CeilOp>>(context);
  attach<tk::RoundOp, unary<math::RoundEvenOp>>(context);
  attach<tk::IsNaNOp, isNaN>(context);
  attach<tk::IsInfOp, isInf>(context);
  attach<tk::AddOp, binary<arith::AddFOp, arith::AddIOp>>(context);
  attach<tk::SubOp, binary<arith::SubFOp, arith::SubIOp>>(context);
  attach<tk::MulOp, binary<arith::MulFOp, arith::MulIOp>>(context);
  attach<tk::DivOp, div>(context);
  attach<tk::PowOp, pow>(context);
  attach<tk::MaxOp, maximum>(context);
  attach<tk::MinOp, minimum>(context);
  attach<tk::ModOp, mod>(context);
  attach<tk::AndOp, bitwise<arith::AndIOp>>(context);
  attach<tk::OrOp, bitwise<arith::OrIOp>>(context);
  attach<tk::XorOp, bitwise<arith::XOrIOp>>(context);
  attach<tk::BitAndOp, bitwise<arith::AndIOp>>(context);
  attach<tk::BitOrOp, bitwise<arith::OrIOp>>(context);
  attach<tk::BitXorOp, bitwise<arith::XOrIOp>>(context);
  attach<tk::ShiftLeftOp, shift<arith::ShLIOp>>(context);
  attach<tk::ShiftRightOp, shift<arith::ShRUIOp>>(context);
  attach<tk::CompareOp, compare>(context);
  attach<tk::SelectOp, select>(context);
  attach<tk::CastOp, castElement>(context);
  tk::BatchNormOp::attachInterface<BatchNorm>(*context);
}

} // namespace tokamak::codegen
