//===- Common.cpp - helpers shared by the import entries ----------------------------------===//
#include "import/ops/Common.h"
#include "import/ErrorLine.h"
#include "import/Weights.h"
#include "llvm/ADT/STLExtras.h"

namespace tokamak::import {

void fault(const llvm::Twine &reason) { throw ImportFault{reason.str()}; }

std::string text(IntsRef values) { return shapeText(values, ","); }

int64_t normalizeAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    fault("axis " + llvm::Twine(axis) + " does not fit a tensor of rank " + llvm::Twine(rank));
  return axis < 0 ? axis + rank : axis;
}

Ints normalizeAxes(IntsRef axes, int64_t rank) {
  Ints result;
  for (int64_t axis : axes)
    result.push_back(normalizeAxis(axis, rank));
  llvm::sort(result);
  if (std::adjacent_find(result.begin(), result.end()) != result.end())
    fault("axes " + text(axes) + " name one axis twice");
  return result;
}

Ints axisRange(int64_t first, int64_t last) {
  Ints result;
  for (int64_t i = first; i < last; ++i)
    result.push_back(i);
  return result;
}

int64_t product(IntsRef extents) {
  if (llvm::is_contained(extents, 0))
    return 0;
  int64_t n = 1;
  for (int64_t e : extents)
    if (__builtin_mul_overflow(n, e, &n) || n > (int64_t(1) << 62) || n < 0)
      fault("a tensor of shape " + text(extents) + " is too large");
  return n;
}

void checkTable(int64_t entries) {
  if (entries > (int64_t(1) << 25))
    fault("it needs a table of " + llvm::Twine(entries) + " entries, which is too large");
}

DataType dataType(int64_t onnxNumber) {
  if (onnxNumber == static_cast<int32_t>(onnxNumber))
    if (std::optional<DataType> type = dataTypeOf(static_cast<int32_t>(onnxNumber)))
      return *type;
  switch (onnxNumber) {
  case 8:
    fault("strings are not supported; turn them into numbers before the model, and export it from there on");
  case 14:
  case 15:
    fault("complex numbers are not supported; export the real and the imaginary parts as tensors of floats");
  case 17:
  case 18:
  case 19:
  case 20:
    fault("8-bit floats are not supported; convert the model to float16, bfloat16 or float32");
  case 21:
  case 22:
  case 23:
    fault("4-bit elements are not supported; convert the model to 8-bit integers or to floats");
  default:
    fault("element type " + llvm::Twine(onnxNumber) +
          " is unknown; the file is damaged or newer than this version reads: export it with ONNX 1.16 or "
          "older");
  }
}

DataType wideType(DataType type) {
  return type == DataType::Float16 || type == DataType::BFloat16 ? DataType::Float32 : type;
}

Value widen(Body &b, Value x) { return b.cast(x, wideType(typeOf(x))); }

Result wideComposite(NodeContext &n, ValueRange operands, llvm::function_ref<Value(Body &, ValueRange)> build,
                     std::optional<DataType> resultType) {
  DataType type = resultType ? *resultType : typeOf(operands.front());
  return n.composite1(operands, [&](Body &b, ValueRange x) {
    Values wide;
    for (Value v : x)
      wide.push_back(widen(b, v));
    return b.cast(build(b, wide), type);
  });
}

Value alongAxis(Body &b, Value vector, int64_t axis, int64_t rank) {
  Ints shape(rank, 1);
  shape[axis] = product(shapeOf(vector));
  return b.reshape(vector, shape);
}

Value asScalar(Body &b, Value x, llvm::StringRef what) {
  if (product(shapeOf(x)) != 1)
    fault(what + " must have one element, not shape " + text(shapeOf(x)));
  return rankOf(x) == 0 ? x : b.reshape(x, {});
}

Tensor intTensor(IntsRef values, IntsRef shape, DataType type) {
  Tensor t(type, shape);
  for (auto [i, v] : llvm::enumerate(values))
    t.setInt(static_cast<int64_t>(i), v);
  return t;
}

Tensor doubleTensor(llvm::ArrayRef<double> values, IntsRef shape, DataType type) {
  Tensor t(type, shape);
  for (auto [i, v] : llvm::enumerate(values))
    t.setDouble(static_cast<int64_t>(i), v);
  return t;
}

Value filled(Body &b, DataType type, IntsRef shape, double value) {
  return b.broadcast(b.scalar(type, value), shape);
}

Value matmulOfAnyRank(Body &b, Value lhs, Value rhs) {
  int64_t lhsRank = rankOf(lhs), rhsRank = rankOf(rhs);
  if (lhsRank == 0 || rhsRank == 0)
    fault("a matrix product has no operand of rank 0");
  // A vector is a row on the left, a column on the right; the axis added leaves the result again.
  Value l = lhsRank == 1 ? b.reshape(lhs, {1, shapeOf(lhs)[0]}) : lhs;
  Value r = rhsRank == 1 ? b.reshape(rhs, {shapeOf(rhs)[0], 1}) : rhs;
  Value p = b.matmul(l, r);
  if (lhsRank > 1 && rhsRank > 1)
    return p;
  Ints shape(shapeOf(p));
  if (rhsRank == 1)
    shape.pop_back();
  if (lhsRank == 1)
    shape.erase(shape.end() - (rhsRank == 1 ? 1 : 2));
  return b.reshape(p, shape);
}

Value softmaxOver(Body &b, Value x, IntsRef axes, bool logarithm) {
  Value shifted = b.sub(x, b.reduce(tk::ReduceKind::Max, x, axes, true));
  Value e = b.unary("exp", shifted);
  Value sum = b.reduce(tk::ReduceKind::Sum, e, axes, true);
  return logarithm ? b.sub(shifted, b.unary("log", sum)) : b.div(e, sum);
}

} // namespace tokamak::import
