//===- Movement.cpp - operators that place elements elsewhere -----------------------------===//
#include "reference/Elements.h"
#include "reference/Register.h"

namespace tokamak::reference {
namespace {

Result constant(tk::ConstantOp op, Operands) { return Tensors{Tensor::fromAttr(op.getValue())}; }

Result iota(tk::IotaOp op, Operands) {
  Tensor result(tk::tensorType(op.getResult()));
  const AxisView view = aroundAxis(result.shape(), static_cast<int64_t>(op.getAxis()));
  for (int64_t i = 0; i < result.size(); ++i)
    result.setInt(i, i / view.inner % view.extent);
  return Tensors{result};
}

Result broadcast(tk::BroadcastOp op, Operands operands) {
  Tensor result(tk::tensorType(op.getResult()));
  auto shape = result.shape();
  copyElements(shape, result, {0, rowMajorStrides(shape)}, operands[0],
               {0, broadcastStrides(operands[0].shape(), shape)});
  return Tensors{result};
}

Result reshape(tk::ReshapeOp op, Operands operands) {
  return Tensors{operands[0].reshaped(tk::tensorType(op.getResult()).getShape())};
}

Result transpose(tk::TransposeOp op, Operands operands) {
  Tensor result(tk::tensorType(op.getResult()));
  const Strides strides = rowMajorStrides(operands[0].shape());
  Strides permuted;
  for (int64_t axis : op.getPermutation())
    permuted.push_back(strides[axis]);
  copyElements(result.shape(), result, {0, rowMajorStrides(result.shape())}, operands[0], {0, permuted});
  return Tensors{result};
}

Result slice(tk::SliceOp op, Operands operands) {
  Tensor result(tk::tensorType(op.getResult()));
  StridedView from{0, rowMajorStrides(operands[0].shape())};
  for (size_t axis = 0; axis < from.strides.size(); ++axis) {
    from.offset += op.getStarts()[axis] * from.strides[axis];
    from.strides[axis] *= op.getSteps()[axis];
  }
  copyElements(result.shape(), result, {0, rowMajorStrides(result.shape())}, operands[0], from);
  return Tensors{result};
}

Result concat(tk::ConcatOp op, Operands operands) {
  Tensor result(tk::tensorType(op.getResult()));
  StridedView to{0, rowMajorStrides(result.shape())};
  const auto axis = static_cast<size_t>(op.getAxis());
  for (const Tensor &input : operands) {
    copyElements(input.shape(), result, to, input, {0, rowMajorStrides(input.shape())});
    to.offset += input.shape()[axis] * to.strides[axis];
  }
  return Tensors{result};
}

Result pad(tk::PadOp op, Operands operands) {
  const Tensor &input = operands[0];
  Tensor result(tk::tensorType(op.getResult()));
  StridedView to{0, rowMajorStrides(result.shape())};
  copyElements(result.shape(), result, to, operands[1], {0, Strides(to.strides.size(), 0)});
  for (size_t axis = 0; axis < to.strides.size(); ++axis)
    to.offset += op.getLow()[axis] * to.strides[axis];
  copyElements(input.shape(), result, to, input, {0, rowMajorStrides(input.shape())});
  return Tensors{result};
}

} // namespace

void attachMovement(mlir::MLIRContext *context) {
  attach<tk::ConstantOp, constant>(context);
  attach<tk::IotaOp, iota>(context);
  attach<tk::BroadcastOp, broadcast>(context);
  attach<tk::ReshapeOp, reshape>(context);
  attach<tk::TransposeOp, transpose>(context);
  attach<tk::SliceOp, slice>(context);
  attach<tk::ConcatOp, concat>(context);
  attach<tk::PadOp, pad>(context);
}

} // namespace tokamak::reference
