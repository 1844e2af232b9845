//===- Reduction.cpp - element expressions of reductions --------------------------------------===//
#include "codegen/expression/Combine.h"
#include "codegen/expression/ElementType.h"
#include "codegen/expression/Register.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

namespace tokamak::codegen {

using namespace mlir;

Value identity(ElementBuilder &e, tk::ReduceKind kind, DataType type) {
  switch (kind) {
  case tk::ReduceKind::Sum:
    return e.constant(type, 0);
  case tk::ReduceKind::Product:
    return e.constant(type, 1);
  case tk::ReduceKind::Max:
  case tk::ReduceKind::Min:
    break;
  }
  bool isMax = kind == tk::ReduceKind::Max;
  if (isFloat(type))
    return e.constant(type, isMax ? -std::numeric_limits<double>::infinity()
                                  : std::numeric_limits<double>::infinity());
  unsigned width = static_cast<unsigned>(byteSize(type)) * 8;
  APInt extreme = isUnsigned(type)
                      ? (isMax ? APInt::getMinValue(width) : APInt::getMaxValue(width))
                      : (isMax ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width));
  return e.constantInt(type, extreme.getSExtValue());
}

Value combine(ElementBuilder &e, tk::ReduceKind kind, DataType type, Value a, Value b) {
  OpBuilder &builder = e.builder();
  Location loc = e.location();
  bool real = isFloat(type), natural = isUnsigned(type) || type == DataType::Bool;
  switch (kind) {
  case tk::ReduceKind::Sum:
    return real ? Value(builder.create<arith::AddFOp>(loc, a, b))
                : Value(builder.create<arith::AddIOp>(loc, a, b));
  case tk::ReduceKind::Product:
    return real ? Value(builder.create<arith::MulFOp>(loc, a, b))
                : Value(builder.create<arith::MulIOp>(loc, a, b));
  case tk::ReduceKind::Max:
    return real      ? Value(builder.create<arith::MaximumFOp>(loc, a, b))
           : natural ? Value(builder.create<arith::MaxUIOp>(loc, a, b))
                     : Value(builder.create<arith::MaxSIOp>(loc, a, b));
  case tk::ReduceKind::Min:
    return real      ? Value(builder.create<arith::MinimumFOp>(loc, a, b))
           : natural ? Value(builder.create<arith::MinUIOp>(loc, a, b))
                     : Value(builder.create<arith::MinSIOp>(loc, a, b));
  }
  llvm_unreachable("a reduction kind");
}

Value combineLanes(ElementBuilder &e, tk::ReduceKind kind, DataType type, Value value) {
  auto vectorType = dyn_cast<VectorType>(value.getType());
  if (!vectorType)
    return value;
  // A tree by halves: log2(lanes) steps, and sums stay balanced.
  int64_t lanes = vectorType.getDimSize(0);
  OpBuilder &b = e.builder();
  while (lanes > 1) {
    lanes /= 2;
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < lanes; ++i)
      low.push_back(i), high.push_back(lanes + i);
    Value lower = b.create<vector::ShuffleOp>(e.location(), value, value, low);
    Value upper = b.create<vector::ShuffleOp>(e.location(), value, value, high);
    value = combine(e, kind, type, lower, upper);
  }
  return b.create<vector::ExtractOp>(e.location(), value, ArrayRef<int64_t>{0});
}

Value multiplyAdd(ElementBuilder &e, DataType type, Value a, Value b, Value c) {
  if (!isFloat(type))
    return e.builder().create<arith::AddIOp>(e.location(),
                                             e.builder().create<arith::MulIOp>(e.location(), a, b), c);
  if (isa<VectorType>(a.getType()))
    return e.builder().create<vector::FMAOp>(e.location(), a, b, c);
  return e.builder().create<arith::AddFOp>(e.location(),
                                           e.builder().create<arith::MulFOp>(e.location(), a, b), c);
}

namespace {

struct Reduce : tk::TensorExpressionInterface::ExternalModel<Reduce, tk::ReduceOp> {
  Value emitElement(Operation *op, ElementBuilder &e, ArrayRef<Index> index, unsigned) const {
    auto reduce = cast<tk::ReduceOp>(op);
    auto shape = tk::tensorType(reduce.getInput()).getShape();
    DataType type = elementOf(reduce.getInput());
    SmallVector<Index> source(shape.size());
    size_t next = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      bool reduced = llvm::is_contained(reduce.getAxes(), static_cast<int64_t>(axis));
      if (!reduced || reduce.getKeepDims())
        source[axis] = index[next++];
    }
    std::function<SmallVector<Value>(size_t, ValueRange)> nest = [&](size_t depth, ValueRange sum) {
      if (depth == reduce.getAxes().size())
        return SmallVector<Value>{
            combine(e, reduce.getKind(), type, sum[0], e.element(reduce.getInput(), source))};
      auto axis = static_cast<size_t>(reduce.getAxes()[depth]);
      return e.loop(shape[axis], sum, [&](const Index &i, ValueRange inner) {
        source[axis] = i;
        return nest(depth + 1, inner);
      });
    };
    return nest(0, {identity(e, reduce.getKind(), type)})[0];
  }
};

struct ArgReduce : tk::TensorExpressionInterface::ExternalModel<ArgReduce, tk::ArgReduceOp> {
  Value emitElement(Operation *op, ElementBuilder &e, ArrayRef<Index> index, unsigned) const {
    auto reduce = cast<tk::ArgReduceOp>(op);
    auto axis = static_cast<size_t>(reduce.getAxis());
    auto shape = tk::tensorType(reduce.getInput()).getShape();
    DataType type = elementOf(reduce.getInput());
    SmallVector<Index> source(index);
    if (reduce.getKeepDims())
      source[axis] = Index(0);
    else
      source.insert(source.begin() + static_cast<std::ptrdiff_t>(axis), Index(0));
    OpBuilder &b = e.builder();
    Location loc = e.location();
    SmallVector<Value> best{e.element(reduce.getInput(), source), e.constantInt(DataType::Int64, 0)};
    if (shape[axis] > 1) {
      best = e.loop(e.indexConstant(1), e.indexConstant(shape[axis]), {1, shape[axis] - 1}, best,
                    [&](const Index &i, ValueRange so) {
                      source[axis] = i;
                      Value x = e.element(reduce.getInput(), source);
                      Value position = e.indexElement(i, DataType::Int64);
                      Value better = isBetter(e, reduce, type, x, so[0]);
                      return SmallVector<Value>{b.create<arith::SelectOp>(loc, better, x, so[0]),
                                                b.create<arith::SelectOp>(loc, better, position, so[1])};
                    });
    }
    return best[1];
  }

  /// Whether `x` takes the place of `best`, which lies before it. NaN is the most extreme, and ties with NaN.
  static Value isBetter(ElementBuilder &e, tk::ArgReduceOp reduce, DataType type, Value x, Value best) {
    OpBuilder &b = e.builder();
    bool isMax = reduce.getKind() == tk::ReduceKind::Max;
    auto moreExtreme = [&](Value p, Value q) -> Value {
      if (isFloat(type)) {
        // Unordered comparisons hold where either is NaN; then q must be a number.
        auto beyond = isMax ? arith::CmpFPredicate::UGT : arith::CmpFPredicate::ULT;
        Value isBeyond = b.create<arith::CmpFOp>(e.location(), beyond, p, q);
        Value isNumber = b.create<arith::CmpFOp>(e.location(), arith::CmpFPredicate::ORD, q, q);
        return b.create<arith::AndIOp>(e.location(), isBeyond, isNumber);
      }
      using P = arith::CmpIPredicate;
      auto beyond = isUnsigned(type) ? (isMax ? P::ugt : P::ult) : (isMax ? P::sgt : P::slt);
      return b.create<arith::CmpIOp>(e.location(), beyond, p, q);
    };
    if (!reduce.getSelectLast())
      return moreExtreme(x, best);
    return b.create<arith::XOrIOp>(e.location(), moreExtreme(best, x), e.constantInt(DataType::Bool, 1));
  }
};

} // namespace

void attachReduction(MLIRContext *context) {
  tk::ReduceOp::attachInterface<Reduce>(*context);
  tk::ArgReduceOp::attachInterface<ArgReduce>(*context);
}

} // namespace tokamak::codegen
