//===- Linear.cpp - element expressions of matmul, convolution and windows --------------------===//
// The plain form of the anchors: one output element as a sum over taps. It serves every element type and
// every shape that the register-tiled emitters of codegen/anchors refuse.
#include "codegen/expression/Combine.h"
#include "codegen/expression/ElementType.h"
#include "codegen/expression/Register.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tokamak::codegen {

using namespace mlir;

namespace {

struct MatMul : tk::TensorExpressionInterface::ExternalModel<MatMul, tk::MatMulOp> {
  Value emitElement(Operation *op, ElementBuilder &e, ArrayRef<Index> index, unsigned) const {
    auto product = cast<tk::MatMulOp>(op);
    auto lhsShape = tk::tensorType(product.getLhs()).getShape();
    DataType type = elementOf(product.getLhs());
    size_t batchRank = index.size() - 2;
    int64_t depth = lhsShape[lhsShape.size() - (product.getTransposeLhs() ? 2 : 1)];
    auto operandIndex = [&](Value operand, Index row, Index column, bool transposed) {
      auto shape = tk::tensorType(operand).getShape();
      SmallVector<Index> result;
      for (size_t i = 0; i + 2 < shape.size(); ++i)
        result.push_back(shape[i] == 1 ? Index(0) : index[batchRank - (shape.size() - 2) + i]);
      if (transposed)
        std::swap(row, column);
      result.append({row, column});
      return result;
    };
    return e.loop(depth, {e.constant(type, 0)}, [&](const Index &k, ValueRange sum) {
      Value a = e.element(product.getLhs(),
                          operandIndex(product.getLhs(), index[batchRank], k, product.getTransposeLhs()));
      Value b = e.element(product.getRhs(),
                          operandIndex(product.getRhs(), k, index[batchRank + 1], product.getTransposeRhs()));
      return SmallVector<Value>{multiplyAdd(e, type, a, b, sum[0])};
    })[0];
  }
};

/// Loops over the taps of a window at output position `at` (spatial axes); `body` gets the tap, the input
/// position and the condition (or null) under which it lies inside the input.
struct Taps {
  ArrayRef<int64_t> input, kernel, strides, dilations, padsLow;

  using Body = std::function<Value(ArrayRef<Index> tap, ArrayRef<Index> position, Value inside, Value sum)>;

  Value sum(ElementBuilder &e, ArrayRef<Index> at, Value init, const Body &body) const {
    SmallVector<Index> tap(kernel.size()), position(kernel.size());
    std::function<SmallVector<Value>(size_t, Value, ValueRange)> nest = [&](size_t axis, Value inside,
                                                                            ValueRange sum) {
      if (axis == kernel.size())
        return SmallVector<Value>{body(tap, position, inside, sum[0])};
      IndexSpace &space = e.space();
      // Position of tap 0.
      Index first = space.sub(space.scale(at[axis], strides[axis]), Index(padsLow[axis]));
      auto inner = [&](bool bounded) {
        return [&, bounded](const Index &t, ValueRange so) {
          tap[axis] = t;
          position[axis] = space.add(first, space.scale(t, dilations[axis]));
          Value here = bounded ? Value() : e.inRange(position[axis], 0, input[axis]);
          return nest(axis + 1, e.andMask(inside, here), so);
        };
      };
      Index last = space.add(first, Index((kernel[axis] - 1) * dilations[axis]));
      bool alwaysInside = space.range(first).low >= 0 && space.range(last).high < input[axis];
      if (alwaysInside || dilations[axis] != 1 || !space.isUniform(first))
        return e.loop(kernel[axis], sum, inner(alwaysInside));
      // Uniform position: bound the loop instead of testing each tap.
      OpBuilder &b = e.builder();
      Location loc = e.location();
      Value start = e.materialize(first);
      Value from = b.create<arith::MaxSIOp>(loc, e.indexConstant(0),
                                            b.create<arith::SubIOp>(loc, e.indexConstant(0), start));
      Value to = b.create<arith::MinSIOp>(loc, e.indexConstant(kernel[axis]),
                                          b.create<arith::SubIOp>(loc, e.indexConstant(input[axis]), start));
      return e.loop(from, to, {0, kernel[axis] - 1}, sum, inner(true));
    };
    return nest(0, Value(), {init})[0];
  }
};

/// Adds bias[channel] where there is one.
Value addBias(ElementBuilder &e, Value sum, Value bias, const Index &channel, DataType type) {
  if (!bias)
    return sum;
  Value b = e.element(bias, {channel});
  return combine(e, tk::ReduceKind::Sum, type, sum, b);
}

struct Conv : tk::TensorExpressionInterface::ExternalModel<Conv, tk::ConvOp> {
  Value emitElement(Operation *op, ElementBuilder &e, ArrayRef<Index> index, unsigned) const {
    auto conv = cast<tk::ConvOp>(op);
    auto inputShape = tk::tensorType(conv.getInput()).getShape(),
         weightShape = tk::tensorType(conv.getWeight()).getShape();
    DataType type = elementOf(conv.getInput());
    int64_t perGroup = weightShape[0] / conv.getGroup(), depth = weightShape[1];
    Index group = conv.getGroup() == 1 ? Index(0) : e.space().floorDiv(index[1], perGroup);
    Taps taps{inputShape.drop_front(2), weightShape.drop_front(2), conv.getStrides(), conv.getDilations(),
              conv.getPadsLow()};
    Value zero = e.constant(type, 0);
    Value result = e.loop(depth, {zero}, [&](Index channel, ValueRange so) {
      Value sum =
          taps.sum(e, index.drop_front(2), so[0],
                   [&](ArrayRef<Index> tap, ArrayRef<Index> position, Value inside, Value acc) {
                     SmallVector<Index> x{index[0], e.space().add(e.space().scale(group, depth), channel)},
                         w{index[1], channel};
                     x.append(position.begin(), position.end());
                     w.append(tap.begin(), tap.end());
                     Value element = e.elementIf(inside, conv.getInput(), x);
                     if (inside)
                       element =
                           e.builder().create<arith::SelectOp>(e.location(), wide(e, inside), element, zero);
                     return multiplyAdd(e, type, element, e.element(conv.getWeight(), w), acc);
                   });
      return SmallVector<Value>{sum};
    })[0];
    return addBias(e, result, conv.getBias(), index[1], type);
  }
  static Value wide(ElementBuilder &e, Value condition) {
    return isa<VectorType>(condition.getType()) ? condition : e.splat(condition);
  }
};

/// Output position o receives input i at tap t where o + pad = i * stride + t * dilation.
struct ConvTranspose : tk::TensorExpressionInterface::ExternalModel<ConvTranspose, tk::ConvTransposeOp> {
  Value emitElement(Operation *op, ElementBuilder &e, ArrayRef<Index> index, unsigned) const {
    auto conv = cast<tk::ConvTransposeOp>(op);
    auto inputShape = tk::tensorType(conv.getInput()).getShape(),
         weightShape = tk::tensorType(conv.getWeight()).getShape();
    DataType type = elementOf(conv.getInput());
    IndexSpace &space = e.space();
    int64_t depth = inputShape[1] / conv.getGroup(), perGroup = weightShape[1];
    Index group = conv.getGroup() == 1 ? Index(0) : space.floorDiv(index[1], perGroup);
    Index inGroup = space.sub(index[1], space.scale(group, perGroup));
    auto kernel = weightShape.drop_front(2);
    Value zero = e.constant(type, 0);
    SmallVector<Index> tap(kernel.size()), position(kernel.size());
    Index channel;
    std::function<SmallVector<Value>(size_t, Value, ValueRange)> nest = [&](size_t axis, Value inside,
                                                                            ValueRange so) {
      if (axis == kernel.size()) {
        SmallVector<Index> x{index[0], channel}, w{channel, inGroup};
        x.append(position.begin(), position.end());
        w.append(tap.begin(), tap.end());
        Value element = e.elementIf(inside, conv.getInput(), x);
        if (inside)
          element = e.builder().create<arith::SelectOp>(e.location(), Conv::wide(e, inside), element, zero);
        return SmallVector<Value>{multiplyAdd(e, type, element, e.element(conv.getWeight(), w), so[0])};
      }
      return e.loop(kernel[axis], so, [&](const Index &t, ValueRange sum) {
        tap[axis] = t;
        int64_t stride = conv.getStrides()[axis];
        Index scaled = space.add(index[axis + 2], Index(conv.getPadsLow()[axis]));
        scaled = space.sub(scaled, space.scale(t, conv.getDilations()[axis]));
        position[axis] = space.floorDiv(scaled, stride);
        Value here = e.inRange(position[axis], 0, inputShape[axis + 2]);
        here = e.andMask(here, e.inRange(space.mod(scaled, stride), 0, 1));
        return nest(axis + 1, e.andMask(inside, here), sum);
      });
    };
    Value result = e.loop(depth, {zero}, [&](const Index &c, ValueRange so) {
      channel = space.add(space.scale(group, depth), c);
      return nest(0, Value(), so);
    })[0];
    return addBias(e, result, conv.getBias(), index[1], type);
  }
};

struct Window : tk::TensorExpressionInterface::ExternalModel<Window, tk::WindowOp> {
  Value emitElement(Operation *op, ElementBuilder &e, ArrayRef<Index> index, unsigned) const {
    auto window = cast<tk::WindowOp>(op);
    DataType type = elementOf(window.getInput());
    Taps taps{tk::tensorType(window.getInput()).getShape().drop_front(2), window.getKernel(),
              window.getStrides(), window.getDilations(), window.getPadsLow()};
    Value neutral = identity(e, window.getKind(), type);
    return taps.sum(e, index.drop_front(2), neutral,
                    [&](ArrayRef<Index>, ArrayRef<Index> position, Value inside, Value acc) {
                      SmallVector<Index> x{index[0], index[1]};
                      x.append(position.begin(), position.end());
                      Value element = e.elementIf(inside, window.getInput(), x);
                      if (inside)
                        element = e.builder().create<arith::SelectOp>(e.location(), Conv::wide(e, inside),
                                                                      element, neutral);
                      return combine(e, window.getKind(), type, acc, element);
                    });
  }
};

} // namespace

void attachLinear(MLIRContext *context) {
  tk::MatMulOp::attachInterface<MatMul>(*context);
  tk::ConvOp::attachInterface<Conv>(*context);
  tk::ConvTransposeOp::attachInterface<ConvTranspose>(*context);
  tk::WindowOp::attachInterface<Window>(*context);
}

} // namespace tokamak::codegen
