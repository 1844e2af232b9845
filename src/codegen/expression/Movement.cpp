//===- Movement.cpp - element expressions of injective operators -----------------------------===//
#include "codegen/expression/ElementBuilder.h"
#include "codegen/expression/ElementType.h"
#include "codegen/expression/Register.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tokamak::codegen {

using namespace mlir;

namespace {

template <typename OpTy, typename Derived>
using Model = tk::TensorExpressionInterface::ExternalModel<Derived, OpTy>;

/// Splats and scalars become immediates; other constants are buffers of the kernel.
struct Constant : Model<tk::ConstantOp, Constant> {
  Value emitElement(Operation *op, ElementBuilder &e, ArrayRef<Index>, unsigned) const {
    Tensor value = Tensor::fromAttr(cast<tk::ConstantOp>(op).getValue());
    assert(value.size() > 0 && "an empty constant has no element");
    return isFloat(value.type()) ? e.constant(value.type(), value.doubleAt(0))
                                 : e.constantInt(value.type(), value.intAt(0));
  }
};

struct Broadcast : Model<tk::BroadcastOp, Broadcast> {
  Value emitElement(Operation *op, ElementBuilder &e, ArrayRef<Index> index, unsigned) const {
    return e.broadcastElement(op->getOperand(0), index);
  }
};

struct Reshape : Model<tk::ReshapeOp, Reshape> {
  Value emitElement(Operation *op, ElementBuilder &e, ArrayRef<Index> index, unsigned) const {
    Value input = op->getOperand(0);
    Index position = linearize(e.space(), index, tk::tensorType(op->getResult(0)).getShape());
    return e.element(input, delinearize(e.space(), position, tk::tensorType(input).getShape()));
  }
};

struct Transpose : Model<tk::TransposeOp, Transpose> {
  Value emitElement(Operation *op, ElementBuilder &e, ArrayRef<Index> index, unsigned) const {
    SmallVector<Index> source(index.size());
    for (auto [i, axis] : llvm::enumerate(cast<tk::TransposeOp>(op).getPermutation()))
      source[static_cast<size_t>(axis)] = index[i];
    return e.element(op->getOperand(0), source);
  }
};

struct Slice : Model<tk::SliceOp, Slice> {
  Value emitElement(Operation *op, ElementBuilder &e, ArrayRef<Index> index, unsigned) const {
    auto slice = cast<tk::SliceOp>(op);
    SmallVector<Index> source;
    for (size_t i = 0; i < index.size(); ++i)
      source.push_back(
          e.space().add(e.space().scale(index[i], slice.getSteps()[i]), Index(slice.getStarts()[i])));
    return e.element(slice.getInput(), source);
  }
};

/// A selection among the operands by where the index falls; each is read only there.
struct Concat : Model<tk::ConcatOp, Concat> {
  Value emitElement(Operation *op, ElementBuilder &e, ArrayRef<Index> index, unsigned) const {
    auto concat = cast<tk::ConcatOp>(op);
    auto axis = static_cast<size_t>(concat.getAxis());
    Value result;
    int64_t offset = 0;
    for (Value input : concat.getInputs()) {
      int64_t extent = tk::tensorType(input).getShape()[axis];
      int64_t start = offset;
      offset += extent;
      Range r = e.space().range(index[axis]);
      if (extent == 0 || r.high < start || r.low >= offset)
        continue;
      Value here = e.inRange(index[axis], start, offset);
      SmallVector<Index> source(index);
      source[axis] = e.space().sub(index[axis], Index(start));
      Value element = e.elementIf(here, input, source);
      if (!result || !here) {
        result = element;
        continue;
      }
      if (e.lanes() > 1 && !isa<VectorType>(here.getType()))
        here = e.splat(here);
      result = e.builder().create<arith::SelectOp>(e.location(), here, element, result);
    }
    // Nothing is read from an empty tensor, nor where no lane is inside (a pad around asks so): any value
    // will do.
    return result ? result : e.constant(elementOf(concat.getResult()), 0);
  }
};

struct Pad : Model<tk::PadOp, Pad> {
  Value emitElement(Operation *op, ElementBuilder &e, ArrayRef<Index> index, unsigned) const {
    auto pad = cast<tk::PadOp>(op);
    auto shape = tk::tensorType(pad.getInput()).getShape();
    SmallVector<Index> source;
    Value inside;
    for (size_t i = 0; i < index.size(); ++i) {
      source.push_back(e.space().sub(index[i], Index(pad.getLow()[i])));
      inside = e.andMask(inside, e.inRange(source.back(), 0, shape[i]));
    }
    Value value = e.element(
        pad.getValue(), SmallVector<Index>(static_cast<size_t>(tk::tensorType(pad.getValue()).getRank())));
    if (llvm::is_contained(shape, 0))
      return value;
    Value element = e.elementIf(inside, pad.getInput(), source);
    if (!inside)
      return element;
    if (e.lanes() > 1 && !isa<VectorType>(inside.getType()))
      inside = e.splat(inside);
    return e.builder().create<arith::SelectOp>(e.location(), inside, element, value);
  }
};

struct Gather : Model<tk::GatherOp, Gather> {
  Value emitElement(Operation *op, ElementBuilder &e, ArrayRef<Index> index, unsigned) const {
    auto gather = cast<tk::GatherOp>(op);
    auto axis = static_cast<size_t>(gather.getAxis());
    auto rank = static_cast<size_t>(tk::tensorType(gather.getIndices()).getRank());
    int64_t extent = tk::tensorType(gather.getInput()).getShape()[axis];
    SmallVector<Index> source(index.take_front(axis));
    source.push_back(e.loadedIndex(gather.getIndices(), index.slice(axis, rank), extent));
    llvm::append_range(source, index.drop_front(axis + rank));
    return e.element(gather.getInput(), source);
  }
};

struct GatherElements : Model<tk::GatherElementsOp, GatherElements> {
  Value emitElement(Operation *op, ElementBuilder &e, ArrayRef<Index> index, unsigned) const {
    auto gather = cast<tk::GatherElementsOp>(op);
    auto axis = static_cast<size_t>(gather.getAxis());
    SmallVector<Index> source(index);
    source[axis] =
        e.loadedIndex(gather.getIndices(), index, tk::tensorType(gather.getInput()).getShape()[axis]);
    return e.element(gather.getInput(), source);
  }
};

struct GatherND : Model<tk::GatherNDOp, GatherND> {
  Value emitElement(Operation *op, ElementBuilder &e, ArrayRef<Index> index, unsigned) const {
    auto gather = cast<tk::GatherNDOp>(op);
    auto batch = static_cast<size_t>(gather.getBatchDims());
    auto indexShape = tk::tensorType(gather.getIndices()).getShape();
    auto inputShape = tk::tensorType(gather.getInput()).getShape();
    SmallVector<Index> at(index.take_front(indexShape.size() - 1));
    at.push_back(Index(0));
    SmallVector<Index> source(index.take_front(batch));
    for (int64_t k = 0; k < indexShape.back(); ++k) {
      at.back() = Index(k);
      source.push_back(e.loadedIndex(gather.getIndices(), at, inputShape[batch + static_cast<size_t>(k)]));
    }
    llvm::append_range(source, index.drop_front(indexShape.size() - 1));
    return e.element(gather.getInput(), source);
  }
};

struct Iota : Model<tk::IotaOp, Iota> {
  Value emitElement(Operation *op, ElementBuilder &e, ArrayRef<Index> index, unsigned) const {
    return e.indexElement(index[static_cast<size_t>(cast<tk::IotaOp>(op).getAxis())],
                          elementOf(op->getResult(0)));
  }
};

} // namespace

void attachMovement(MLIRContext *context) {
  tk::ConstantOp::attachInterface<Constant>(*context);
  tk::BroadcastOp::attachInterface<Broadcast>(*context);
  tk::ReshapeOp::attachInterface<Reshape>(*context);
  tk::TransposeOp::attachInterface<Transpose>(*context);
  tk::SliceOp::attachInterface<Slice>(*context);
  tk::ConcatOp::attachInterface<Concat>(*context);
  tk::PadOp::attachInterface<Pad>(*context);
  tk::GatherOp::attachInterface<Gather>(*context);
  tk::GatherElementsOp::attachInterface<GatherElements>(*context);
  tk::GatherNDOp::attachInterface<GatherND>(*context);
  tk::IotaOp::attachInterface<Iota>(*context);
}

} // namespace tokamak::codegen
