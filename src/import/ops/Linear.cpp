//===- Linear.cpp - MatMul, Gemm, Det ------------------------------------------------------===//
#include "import/ops/Common.h"
#include <cmath>

namespace tokamak::import {

namespace {

Result importMatMul(NodeContext &n) {
  n.takesInputs(2);
  return n.composite1({n.input(0), n.input(1)},
                      [](Body &b, ValueRange x) { return matmulOfAnyRank(b, x[0], x[1]); });
}

/// x * factor; on integers a factor that is no integer is applied in double.
Value scaled(Body &b, Value x, double factor) {
  if (factor == 1)
    return x;
  if (isFloat(typeOf(x)) || factor == std::trunc(factor))
    return b.mul(x, b.scalarLike(x, factor));
  Value wide = b.cast(x, DataType::Float64);
  return b.cast(b.mul(wide, b.scalarLike(wide, factor)), typeOf(x));
}

/// alpha * A' * B' + beta * C.
Result importGemm(NodeContext &n) {
  n.takesInputs(3);
  Values operands{n.input(0), n.input(1)};
  double alpha = n.floatAttr("alpha", 1), beta = n.floatAttr("beta", 1);
  if (n.has(2) && beta != 0)
    operands.push_back(n.input(2));
  if (rankOf(operands[0]) != 2 || rankOf(operands[1]) != 2)
    return n.error("the matrices must have rank 2, not shapes " + text(shapeOf(operands[0])) + " and " +
                   text(shapeOf(operands[1])));
  auto build = [&](Body &b, ValueRange x) {
    Value matrix = b.matmul(x[0], x[1], n.intAttr("transA", 0) != 0, n.intAttr("transB", 0) != 0);
    Ints shape(shapeOf(matrix));
    Value result = scaled(b, matrix, alpha);
    if (x.size() > 2)
      result = b.add(result, scaled(b, x[2], beta));
    if (shapeOf(result) != IntsRef(shape))
      fault("C of shape " + text(shapeOf(x[2])) + " does not broadcast to the product's " + text(shape));
    return result;
  };
  return operands.size() == 2 && alpha == 1 ? n.composite1(operands, build)
                                            : wideComposite(n, operands, build);
}

Result importDet(NodeContext &n) { return Values{n.body().op("det", {n.input(0)})}; }

} // namespace

void registerLinear(Registry &registry) {
  registry.add("Det", importDet);
  registry.add("Gemm", importGemm);
  registry.add("MatMul", importMatMul);
}

} // namespace tokamak::import
