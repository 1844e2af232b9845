//===- Conversion.cpp - element types in registers and in memory ------------------------------===//
#include "codegen/expression/ElementBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

namespace tokamak::codegen {

using namespace mlir;

Type ElementBuilder::computeScalar(DataType type) {
  switch (type) {
  case DataType::Float16:
  case DataType::BFloat16:
  case DataType::Float32:
    return b.getF32Type();
  case DataType::Float64:
    return b.getF64Type();
  case DataType::Bool:
    return b.getI1Type();
  default:
    return b.getIntegerType(static_cast<unsigned>(byteSize(type)) * 8);
  }
}

Type ElementBuilder::storageScalar(DataType type) {
  switch (type) {
  case DataType::Float16:
    return b.getF16Type();
  case DataType::BFloat16:
    return b.getIntegerType(16);
  case DataType::Bool:
    return b.getIntegerType(8);
  default:
    return computeScalar(type);
  }
}

Type ElementBuilder::laneType(Type scalar) {
  return laneCount == 1 ? scalar : Type(VectorType::get({laneCount}, scalar));
}

Value ElementBuilder::splat(Value scalar) {
  if (laneCount == 1 || isa<VectorType>(scalar.getType()))
    return scalar;
  return b.create<vector::BroadcastOp>(loc, laneType(scalar.getType()), scalar);
}

namespace {
Type like(Type shaped, Type scalar) {
  auto vector = dyn_cast<VectorType>(shaped);
  return vector ? Type(VectorType::get(vector.getShape(), scalar)) : scalar;
}

Value numberLike(OpBuilder &b, Location loc, Type type, const APInt &value) {
  TypedAttr attr = isa<VectorType>(type) ? TypedAttr(DenseElementsAttr::get(cast<ShapedType>(type), value))
                                         : TypedAttr(IntegerAttr::get(type, value));
  return b.create<arith::ConstantOp>(loc, attr);
}

Value numberLike(OpBuilder &b, Location loc, Type type, int64_t value) {
  unsigned width = cast<IntegerType>(getElementTypeOrSelf(type)).getWidth();
  return numberLike(b, loc, type, APInt(64, static_cast<uint64_t>(value), true).trunc(width));
}

Value numberLike(OpBuilder &b, Location loc, Type type, double value) {
  auto scalar = cast<FloatType>(getElementTypeOrSelf(type));
  APFloat number(value);
  bool loses = false;
  number.convert(scalar.getFloatSemantics(), APFloat::rmNearestTiesToEven, &loses);
  TypedAttr attr = isa<VectorType>(type) ? TypedAttr(DenseElementsAttr::get(cast<ShapedType>(type), number))
                                         : TypedAttr(FloatAttr::get(scalar, number));
  return b.create<arith::ConstantOp>(loc, attr);
}
} // namespace

Value ElementBuilder::constant(DataType type, double value) {
  Type lanes = laneType(computeScalar(type));
  if (isFloat(type))
    return round(numberLike(b, loc, lanes, value), type);
  return constantInt(type, static_cast<int64_t>(value));
}

Value ElementBuilder::constantInt(DataType type, int64_t value) {
  if (isFloat(type))
    return constant(type, static_cast<double>(value));
  if (type == DataType::Bool)
    value = value != 0;
  return numberLike(b, loc, laneType(computeScalar(type)), value);
}

/// bf16 keeps the upper half of a float, rounded to nearest even; NaN stays NaN.
static Value floatToBrain(OpBuilder &b, Location loc, Value value) {
  Type bits = like(value.getType(), b.getI32Type()), half = like(value.getType(), b.getIntegerType(16));
  auto number = [&](int64_t v) { return numberLike(b, loc, bits, v); };
  Value x = b.create<arith::BitcastOp>(loc, bits, value);
  Value odd = b.create<arith::AndIOp>(loc, b.create<arith::ShRUIOp>(loc, x, number(16)), number(1));
  Value rounded = b.create<arith::AddIOp>(loc, x, b.create<arith::AddIOp>(loc, odd, number(0x7fff)));
  Value isNaN = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::UNO, value, value);
  Value quiet = b.create<arith::OrIOp>(loc, x, number(0x400000));
  Value chosen = b.create<arith::SelectOp>(loc, isNaN, quiet, rounded);
  return b.create<arith::TruncIOp>(loc, half, b.create<arith::ShRUIOp>(loc, chosen, number(16)));
}

static Value brainToFloat(OpBuilder &b, Location loc, Value half) {
  Type bits = like(half.getType(), b.getI32Type());
  Value x = b.create<arith::ExtUIOp>(loc, bits, half);
  x = b.create<arith::ShLIOp>(loc, x, numberLike(b, loc, bits, int64_t(16)));
  return b.create<arith::BitcastOp>(loc, like(half.getType(), b.getF32Type()), x);
}

Value ElementBuilder::toCompute(Value stored, DataType type) {
  switch (type) {
  case DataType::Float16:
    return b.create<arith::ExtFOp>(loc, like(stored.getType(), b.getF32Type()), stored);
  case DataType::BFloat16:
    return brainToFloat(b, loc, stored);
  case DataType::Bool:
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, stored,
                                   numberLike(b, loc, stored.getType(), int64_t(0)));
  default:
    return stored;
  }
}

Value ElementBuilder::toStorage(Value value, DataType type) {
  switch (type) {
  case DataType::Float16:
    return b.create<arith::TruncFOp>(loc, like(value.getType(), b.getF16Type()), value);
  case DataType::BFloat16:
    return floatToBrain(b, loc, value);
  case DataType::Bool:
    return b.create<arith::ExtUIOp>(loc, like(value.getType(), b.getIntegerType(8)), value);
  default:
    return value;
  }
}

Value ElementBuilder::round(Value value, DataType type) {
  if (type != DataType::Float16 && type != DataType::BFloat16)
    return value;
  return toCompute(toStorage(value, type), type);
}

Value ElementBuilder::indexElement(const Index &index, DataType type) {
  Value value = materialize(index);
  value = b.create<arith::IndexCastOp>(loc, like(value.getType(), b.getI64Type()), value);
  return cast(splat(value), DataType::Int64, type, false);
}

/// Narrows a double to float such that a later rounding to half precision is the rounding of the double: the
/// last bit is set where anything was lost ("round to odd", Boldo and Melquiond 2008).
static Value narrowToOdd(OpBuilder &b, Location loc, Value value) {
  Type f32 = like(value.getType(), b.getF32Type()), i32 = like(value.getType(), b.getI32Type());
  Value narrow = b.create<arith::TruncFOp>(loc, f32, value);
  Value back = b.create<arith::ExtFOp>(loc, value.getType(), narrow);
  Value bits = b.create<arith::BitcastOp>(loc, i32, narrow);
  Value inexact = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::ONE, back, value);
  // Nearest may have rounded away from zero: step back before setting the bit.
  Value magnitudeUp = b.create<arith::CmpFOp>(
      loc, arith::CmpFPredicate::OGT, b.create<math::AbsFOp>(loc, back), b.create<math::AbsFOp>(loc, value));
  Value stepped = b.create<arith::SubIOp>(loc, bits, numberLike(b, loc, i32, int64_t(1)));
  Value toward = b.create<arith::SelectOp>(loc, magnitudeUp, stepped, bits);
  Value odd = b.create<arith::OrIOp>(loc, toward, numberLike(b, loc, i32, int64_t(1)));
  return b.create<arith::BitcastOp>(loc, f32, b.create<arith::SelectOp>(loc, inexact, odd, bits));
}

/// An integer of 32 or 64 bits as a float whose later rounding to half precision is the rounding of the
/// integer.
static Value integerToOdd(OpBuilder &b, Location loc, Value value, bool isNatural) {
  Type f64 = like(value.getType(), b.getF64Type()), i64 = like(value.getType(), b.getI64Type());
  if (cast<IntegerType>(getElementTypeOrSelf(value.getType())).getWidth() == 64) {
    // Beyond 53 bits a double rounds as well: there, gather the lowest 12 bits in one that it keeps.
    auto number = [&](int64_t v) { return numberLike(b, loc, i64, v); };
    Value low = b.create<arith::AndIOp>(loc, value, number(0xfff));
    Value isWhole = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, low, number(0));
    Value sticky = b.create<arith::SelectOp>(loc, isWhole, number(0), number(0x800));
    Value gathered = b.create<arith::OrIOp>(loc, b.create<arith::XOrIOp>(loc, value, low), sticky);
    Value top = b.create<arith::ShRSIOp>(loc, value, number(52));
    Value isSmall = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, top, number(0));
    if (!isNatural) {
      Value isSmallNegative = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, top, number(-1));
      isSmall = b.create<arith::OrIOp>(loc, isSmall, isSmallNegative);
    }
    value = b.create<arith::SelectOp>(loc, isSmall, value, gathered);
  }
  value = isNatural ? Value(b.create<arith::UIToFPOp>(loc, f64, value))
                    : Value(b.create<arith::SIToFPOp>(loc, f64, value));
  return narrowToOdd(b, loc, value);
}

/// Float to integer of `width` bits. Values outside int64 give the int64 minimum, as x86 conversions do;
/// narrower results wrap.
static Value floatToInt(OpBuilder &b, Location loc, Value value, Type target, bool toUnsigned64) {
  Type i64 = like(value.getType(), b.getI64Type());
  Type floatType = value.getType();
  auto number = [&](double v) { return numberLike(b, loc, floatType, v); };
  auto inside = [&](double low, double high) -> Value {
    Value a = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OGE, value, number(low));
    Value c = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OLT, value, number(high));
    return b.create<arith::AndIOp>(loc, a, c);
  };
  Value fits = inside(-0x1p63, 0x1p63);
  Value safe = b.create<arith::SelectOp>(loc, fits, value, number(0));
  Value wide = b.create<arith::FPToSIOp>(loc, i64, safe);
  Value minimum = numberLike(b, loc, i64, INT64_MIN);
  wide = b.create<arith::SelectOp>(loc, fits, wide, minimum);
  if (toUnsigned64) {
    Value upper = inside(0x1p63, 0x1p64);
    Value shifted =
        b.create<arith::SelectOp>(loc, upper, b.create<arith::SubFOp>(loc, value, number(0x1p63)), number(0));
    Value high = b.create<arith::AddIOp>(loc, b.create<arith::FPToSIOp>(loc, i64, shifted), minimum);
    wide = b.create<arith::SelectOp>(loc, upper, high, wide);
  }
  if (wide.getType() == target)
    return wide;
  return b.create<arith::TruncIOp>(loc, target, wide);
}

Value ElementBuilder::cast(Value value, DataType from, DataType to, bool saturate) {
  if (from == to)
    return value;
  Type target = like(value.getType(), computeScalar(to));
  if (to == DataType::Bool) {
    if (isFloat(from))
      return b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::UNE, value,
                                     numberLike(b, loc, value.getType(), 0.0));
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, value,
                                   numberLike(b, loc, value.getType(), int64_t(0)));
  }
  if (isFloat(to)) {
    if (!isFloat(from)) {
      bool isNatural = isUnsigned(from) || from == DataType::Bool;
      // A float holds 24 bits: of more, the ones that decide a later rounding to half precision would be
      // lost.
      bool roundsTwice = (to == DataType::Float16 || to == DataType::BFloat16) && byteSize(from) > 2;
      if (roundsTwice)
        value = integerToOdd(b, loc, value, isNatural);
      else
        value = isNatural ? Value(b.create<arith::UIToFPOp>(loc, target, value))
                          : Value(b.create<arith::SIToFPOp>(loc, target, value));
    } else if (from == DataType::Float64) {
      bool toHalf = to == DataType::Float16 || to == DataType::BFloat16;
      value = toHalf ? narrowToOdd(b, loc, value) : Value(b.create<arith::TruncFOp>(loc, target, value));
    } else if (to == DataType::Float64) {
      value = b.create<arith::ExtFOp>(loc, target, value);
    }
    return round(value, to);
  }
  unsigned width = static_cast<unsigned>(byteSize(to)) * 8;
  if (isFloat(from)) {
    if (saturate) {
      double low = isUnsigned(to) ? 0 : -std::ldexp(1.0, static_cast<int>(width) - 1);
      double high = std::ldexp(1.0, static_cast<int>(width) - (isUnsigned(to) ? 0 : 1));
      APInt top = isUnsigned(to) ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
      APInt bottom = isUnsigned(to) ? APInt::getMinValue(width) : APInt::getSignedMinValue(width);
      Value tooHigh = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OGE, value,
                                              numberLike(b, loc, value.getType(), high));
      Value tooLow = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OLT, value,
                                             numberLike(b, loc, value.getType(), low));
      Value isNaN = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::UNO, value, value);
      Value result = floatToInt(b, loc, value, target, to == DataType::UInt64);
      result = b.create<arith::SelectOp>(loc, tooHigh, numberLike(b, loc, target, top), result);
      result = b.create<arith::SelectOp>(loc, tooLow, numberLike(b, loc, target, bottom), result);
      return b.create<arith::SelectOp>(loc, isNaN, numberLike(b, loc, target, APInt(width, 0)), result);
    }
    return floatToInt(b, loc, value, target, to == DataType::UInt64);
  }
  // Integers wrap, saturating or not.
  unsigned fromWidth = mlir::cast<IntegerType>(getElementTypeOrSelf(value.getType())).getWidth();
  if (fromWidth == width)
    return value;
  if (fromWidth > width)
    return b.create<arith::TruncIOp>(loc, target, value);
  if (isUnsigned(from) || from == DataType::Bool)
    return b.create<arith::ExtUIOp>(loc, target, value);
  return b.create<arith::ExtSIOp>(loc, target, value);
}

} // namespace tokamak::codegen
