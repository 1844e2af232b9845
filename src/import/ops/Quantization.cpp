//===- Quantization.cpp - quantised values and the products of them ------------------------===//
// real = (quantised - zero point) * scale; the products are exact in int32.
#include "import/ops/Common.h"
#include "import/ops/Spatial.h"

namespace tokamak::import {

namespace {

bool isQuantized(DataType type) {
  return type == DataType::UInt8 || type == DataType::Int8 || type == DataType::UInt16 ||
         type == DataType::Int16;
}

/// A scale or zero point as something that broadcasts against `x`: one element, one an index of `axis`, or
/// (opset 21) one a block of `blockSize` indices of `axis`.
Value parameterOf(Body &b, Value x, Value parameter, int64_t axis, int64_t blockSize) {
  int64_t rank = rankOf(x);
  if (blockSize < 0 || blockSize > (int64_t(1) << 40))
    fault("block_size " + llvm::Twine(blockSize) + " is out of range");
  if (product(shapeOf(parameter)) == 1 && blockSize == 0)
    return b.reshape(parameter, {});
  axis = normalizeAxis(axis, rank);
  if (blockSize > 0) {
    int64_t extent = shapeOf(x)[axis];
    if (rankOf(parameter) != rank)
      fault("blocked quantisation needs a scale of rank " + llvm::Twine(rank));
    if (shapeOf(parameter)[axis] != (extent + blockSize - 1) / blockSize)
      fault("a scale of shape " + text(shapeOf(parameter)) + " does not cover " + text(shapeOf(x)) +
            " in blocks of " + llvm::Twine(blockSize));
    checkTable(extent);
    Ints block;
    for (int64_t i = 0; i < extent; ++i)
      block.push_back(i / blockSize);
    return b.gather(parameter, b.constant(intTensor(block, {extent})), axis);
  }
  if (rankOf(parameter) != 1 || shapeOf(parameter)[0] != shapeOf(x)[axis])
    fault("a scale of shape " + text(shapeOf(parameter)) + " does not fit axis " + llvm::Twine(axis) +
          " of " + text(shapeOf(x)));
  return alongAxis(b, parameter, axis, rank);
}

/// round(x / scale) + zero point, ties to even before the zero point is added, saturated.
Value quantize(Body &b, Value scaled, Value zeroPoint, DataType to) {
  Value rounded = b.unary("round", scaled);
  if (zeroPoint)
    rounded = b.add(rounded, b.cast(zeroPoint, typeOf(rounded)));
  return b.cast(rounded, to, /*saturate=*/true);
}

Result importQuantizeLinear(NodeContext &n) {
  DataType to = DataType::UInt8;
  if (n.has(2))
    to = typeOf(n.input(2));
  else if (int64_t output = n.intAttr("output_dtype", 0))
    to = dataType(output);
  if (!isQuantized(to))
    return n.error("quantising to " + name(to) +
                   " is not supported; quantise to int8, uint8, int16 or uint16");
  Values operands{n.input(0), n.input(1)};
  if (n.has(2))
    operands.push_back(n.input(2));
  int64_t axis = n.intAttr("axis", 1), block = n.intAttr("block_size", 0);
  return n.composite1(operands, [&](Body &b, ValueRange x) {
    DataType type = wideType(typeOf(x[1]));
    Value scale = b.cast(parameterOf(b, x[0], x[1], axis, block), type);
    Value zero = x.size() > 2 ? parameterOf(b, x[0], x[2], axis, block) : Value();
    return quantize(b, b.div(b.cast(x[0], type), scale), zero, to);
  });
}

/// An integer tensor less its zero point, in int32.
Value centred(Body &b, Value x, Value zeroPoint) {
  Value wide = b.cast(x, DataType::Int32);
  return zeroPoint ? b.sub(wide, b.cast(zeroPoint, DataType::Int32)) : wide;
}

Result importDequantizeLinear(NodeContext &n) {
  DataType from = typeOf(n.input(0)), to = typeOf(n.input(1));
  if (!isQuantized(from) && from != DataType::Int32)
    return n.error("dequantising " + name(from) +
                   " is not supported; quantise to int8, uint8, int16, uint16 or int32");
  Values operands{n.input(0), n.input(1)};
  if (n.has(2))
    operands.push_back(n.input(2));
  int64_t axis = n.intAttr("axis", 1), block = n.intAttr("block_size", 0);
  return n.composite1(operands, [&](Body &b, ValueRange x) {
    DataType type = wideType(to);
    Value zero = x.size() > 2 ? parameterOf(b, x[0], x[2], axis, block) : Value();
    Value scale = b.cast(parameterOf(b, x[0], x[1], axis, block), type);
    return b.cast(b.mul(b.cast(centred(b, x[0], zero), type), scale), to);
  });
}

/// To uint8 over the range of the data, which always contains 0. A range of no width has scale 0, as the
/// standard's formula gives, and quantises to zero points of 0 instead of NaN.
Result importDynamicQuantizeLinear(NodeContext &n) {
  return n.composite({n.input(0)}, [&](Body &b, ValueRange xs) {
    Value x = xs[0], zero = b.scalarLike(x, 0), top = b.scalarLike(x, 255);
    Ints all = axisRange(0, rankOf(x));
    Value low = b.min(b.reduce(tk::ReduceKind::Min, x, all, false), zero);
    Value high = b.max(b.reduce(tk::ReduceKind::Max, x, all, false), zero);
    Value scale = b.div(b.sub(high, low), top);
    Value point = b.unary("round", b.min(b.max(b.sub(zero, b.div(low, scale)), zero), top));
    point = b.select(b.compare(tk::Predicate::Equal, scale, zero), zero, point);
    Value result = quantize(b, b.div(x, scale), point, DataType::UInt8);
    return Values{result, scale, b.cast(point, DataType::UInt8)};
  });
}

/// A parameter of the left operand of a product (one a row), as something that broadcasts against it.
Value rowParameter(Body &b, Value x, Value parameter) {
  if (product(shapeOf(parameter)) == 1)
    return b.reshape(parameter, {});
  return rankOf(parameter) == 1 && rankOf(x) > 1 ? b.reshape(parameter, {shapeOf(parameter)[0], 1})
                                                 : parameter;
}
/// A parameter of the right operand (one a column), likewise.
Value columnParameter(Body &b, Value parameter) {
  return product(shapeOf(parameter)) == 1 ? b.reshape(parameter, {}) : parameter;
}

Result importMatMulInteger(NodeContext &n) {
  Values operands{n.input(0), n.input(1)};
  for (int64_t i : {2, 3})
    if (n.has(i))
      operands.push_back(n.input(i));
  return n.composite1(operands, [&](Body &b, ValueRange x) {
    Value lhsZero = n.has(2) ? rowParameter(b, x[0], x[2]) : Value();
    Value rhsZero = n.has(3) ? columnParameter(b, x.back()) : Value();
    return matmulOfAnyRank(b, centred(b, x[0], lhsZero), centred(b, x[1], rhsZero));
  });
}

Result importQLinearMatMul(NodeContext &n) {
  Values operands;
  for (int64_t i = 0; i < 8; ++i)
    operands.push_back(n.input(i));
  DataType to = typeOf(n.input(7));
  return n.composite1(operands, [&](Body &b, ValueRange x) {
    Value lhs = centred(b, x[0], rowParameter(b, x[0], x[2]));
    Value rhs = centred(b, x[3], columnParameter(b, x[5]));
    Value real = b.cast(matmulOfAnyRank(b, lhs, rhs), DataType::Float32);
    auto scale = [&](Value s) { return b.cast(s, DataType::Float32); };
    Value factor = b.mul(scale(rowParameter(b, x[0], x[1])), scale(columnParameter(b, x[4])));
    Value scaled = b.mul(real, b.div(factor, scale(rowParameter(b, x[0], x[6]))));
    return quantize(b, scaled, rowParameter(b, x[0], x[7]), to);
  });
}

/// A parameter of a convolution's weight: one element or one an output channel, against the weight.
Value weightParameter(Body &b, Value weight, Value parameter) {
  return product(shapeOf(parameter)) == 1 ? b.reshape(parameter, {})
                                          : alongAxis(b, parameter, 0, rankOf(weight));
}

Result importConvInteger(NodeContext &n) {
  Spatial s = Spatial::ofConvolution(n, shapeOf(n.input(0)), shapeOf(n.input(1)));
  Values operands{n.input(0), n.input(1)};
  for (int64_t i : {2, 3})
    if (n.has(i))
      operands.push_back(n.input(i));
  return n.composite1(operands, [&](Body &b, ValueRange x) {
    Value inputZero = n.has(2) ? asScalar(b, x[2], "x_zero_point") : Value();
    Value weightZero = n.has(3) ? weightParameter(b, x[1], x.back()) : Value();
    // Padding is the zero point, which is 0 once it is subtracted.
    return b.op("conv", {centred(b, x[0], inputZero), centred(b, x[1], weightZero)}, s.convolutionAttrs(b));
  });
}

Result importQLinearConv(NodeContext &n) {
  Values operands;
  for (int64_t i = 0; i < 8; ++i)
    operands.push_back(n.input(i));
  if (n.has(8))
    operands.push_back(n.input(8));
  Spatial s = Spatial::ofConvolution(n, shapeOf(n.input(0)), shapeOf(n.input(3)));
  DataType to = typeOf(n.input(7));
  return n.composite1(operands, [&](Body &b, ValueRange x) {
    Values conv{centred(b, x[0], asScalar(b, x[2], "x_zero_point")),
                centred(b, x[3], weightParameter(b, x[3], x[5]))};
    if (x.size() > 8)
      conv.push_back(x[8]);
    Value real = b.cast(b.op("conv", conv, s.convolutionAttrs(b)), DataType::Float32);
    Value weightScale =
        product(shapeOf(x[4])) == 1 ? b.reshape(x[4], {}) : alongAxis(b, x[4], 1, rankOf(x[0]));
    Value factor = b.mul(asScalar(b, x[1], "x_scale"), weightScale);
    Value scaled = b.mul(real, b.div(factor, asScalar(b, x[6], "y_scale")));
    return quantize(b, scaled, asScalar(b, x[7], "y_zero_point"), to);
  });
}

} // namespace

void registerQuantization(Registry &registry) {
  registry.add("ConvInteger", importConvInteger);
  registry.add("DequantizeLinear", importDequantizeLinear);
  registry.add("DynamicQuantizeLinear", importDynamicQuantizeLinear);
  registry.add("MatMulInteger", importMatMulInteger);
  registry.add("QLinearConv", importQLinearConv);
  registry.add("QLinearMatMul", importQLinearMatMul);
  registry.add("QuantizeLinear", importQuantizeLinear);
}

} // namespace tokamak::import
