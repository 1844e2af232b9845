//===- Gather.cpp - reading and writing elements at positions that are data ---------------===//
#include "reference/Elements.h"
#include "reference/Indices.h"
#include "reference/Numbers.h"
#include "reference/Register.h"
#include "reference/Scatter.h"

namespace tokamak::reference {
namespace {

/// Copies `count` elements between tensors of one type.
void copyBlock(Tensor &to, int64_t toOffset, const Tensor &from, int64_t fromOffset, int64_t count) {
  const auto size = static_cast<int64_t>(byteSize(to.type()));
  if (count != 0)
    std::memcpy(to.mutableBytes() + toOffset * size, from.bytes() + fromOffset * size,
                static_cast<size_t>(count * size));
}

Result gather(tk::GatherOp op, Operands operands) {
  const Tensor &input = operands[0];
  const Tensor &indices = operands[1];
  Tensor result(tk::tensorType(op.getResult()));
  const AxisView view = aroundAxis(input.shape(), static_cast<int64_t>(op.getAxis()));
  for (int64_t k = 0; k < indices.size(); ++k) {
    auto position = resolveIndex(op, indices.intAt(k), view.extent);
    if (mlir::failed(position))
      return mlir::failure();
    for (int64_t outer = 0; outer < view.outer; ++outer)
      copyBlock(result, (outer * indices.size() + k) * view.inner, input,
                (outer * view.extent + *position) * view.inner, view.inner);
  }
  return Tensors{result};
}

/// The offsets into a tensor of `shape` that `indices` names element by element: its own index, but `axis`
/// from the data.
mlir::FailureOr<std::vector<int64_t>> elementOffsets(mlir::Operation *op, llvm::ArrayRef<int64_t> shape,
                                                     const Tensor &indices, int64_t axis) {
  Strides strides = rowMajorStrides(shape);
  const int64_t axisStride = strides[axis];
  strides[axis] = 0;
  std::vector<int64_t> offsets;
  offsets.reserve(static_cast<size_t>(indices.size()));
  walk<1>(indices.shape(), {0}, {strides},
          [&](const std::array<int64_t, 1> &at) { offsets.push_back(at[0]); });
  for (int64_t i = 0; i < indices.size(); ++i) {
    auto position = resolveIndex(op, indices.intAt(i), shape[axis]);
    if (mlir::failed(position))
      return mlir::failure();
    offsets[static_cast<size_t>(i)] += *position * axisStride;
  }
  return offsets;
}

Result gatherElements(tk::GatherElementsOp op, Operands operands) {
  Tensor result(tk::tensorType(op.getResult()));
  auto offsets = elementOffsets(op, operands[0].shape(), operands[1], static_cast<int64_t>(op.getAxis()));
  if (mlir::failed(offsets))
    return mlir::failure();
  for (int64_t i = 0; i < result.size(); ++i)
    copyBlock(result, i, operands[0], (*offsets)[static_cast<size_t>(i)], 1);
  return Tensors{result};
}

/// The offset of the block that tuple number `tuple` of `indices` names: its last axis indexes the axes of
/// `shape` from `firstAxis` on.
mlir::FailureOr<int64_t> tupleOffset(mlir::Operation *op, llvm::ArrayRef<int64_t> shape,
                                     const Tensor &indices, int64_t tuple, size_t firstAxis) {
  const Strides strides = rowMajorStrides(shape);
  const int64_t length = indices.shape().back();
  int64_t offset = 0;
  for (int64_t k = 0; k < length; ++k) {
    const size_t axis = firstAxis + static_cast<size_t>(k);
    auto position = resolveIndex(op, indices.intAt(tuple * length + k), shape[axis]);
    if (mlir::failed(position))
      return mlir::failure();
    offset += *position * strides[axis];
  }
  return offset;
}

Result gatherND(tk::GatherNDOp op, Operands operands) {
  const Tensor &input = operands[0];
  const Tensor &indices = operands[1];
  Tensor result(tk::tensorType(op.getResult()));
  const auto batchDims = static_cast<size_t>(op.getBatchDims());
  const int64_t length = indices.shape().back();
  const int64_t batches = product(input.shape().take_front(batchDims));
  const int64_t tuples = product(indices.shape().drop_back().drop_front(batchDims)); // of one batch
  const int64_t batchSize = product(input.shape().drop_front(batchDims));
  const int64_t block = product(input.shape().drop_front(batchDims + static_cast<size_t>(length)));
  for (int64_t batch = 0; batch < batches; ++batch)
    for (int64_t t = 0; t < tuples; ++t) {
      const int64_t tuple = batch * tuples + t;
      auto offset = tupleOffset(op, input.shape(), indices, tuple, batchDims);
      if (mlir::failed(offset))
        return mlir::failure();
      copyBlock(result, tuple * block, input, batch * batchSize + *offset, block);
    }
  return Tensors{result};
}

template <typename T>
T update(tk::ScatterReduction reduction, T element, T value) {
  switch (reduction) {
  case tk::ScatterReduction::None:
    return value;
  case tk::ScatterReduction::Add:
    return add(element, value);
  case tk::ScatterReduction::Mul:
    return multiply(element, value);
  case tk::ScatterReduction::Max:
    return maximum(element, value);
  case tk::ScatterReduction::Min:
    return minimum(element, value);
  }
}

/// Applies `updates`, in order, to elements of `input`.
Tensor scatter(const Tensor &input, const Tensor &updates, const ScatterTargets &targets,
               tk::ScatterReduction reduction) {
  return inDomain(input.type(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> values = load<T>(input);
    const std::vector<T> news = load<T>(updates);
    size_t i = 0;
    for (int64_t offset : targets.offsets)
      for (int64_t k = 0; k < targets.block; ++k, ++i)
        values[offset + k] = update(reduction, values[offset + k], news[i]);
    return store(input.type(), input.shape(), values);
  });
}

template <typename Op>
Result scatterUpdates(Op op, Operands operands) {
  auto targets = scatterTargets(op, operands[0].shape(), operands[1]);
  if (mlir::failed(targets))
    return mlir::failure();
  return Tensors{scatter(operands[0], operands[2], *targets, op.getReduction())};
}

} // namespace

mlir::FailureOr<ScatterTargets> scatterTargets(tk::ScatterElementsOp op, llvm::ArrayRef<int64_t> shape,
                                               const Tensor &indices) {
  auto offsets = elementOffsets(op, shape, indices, static_cast<int64_t>(op.getAxis()));
  if (mlir::failed(offsets))
    return mlir::failure();
  return ScatterTargets{std::move(*offsets), 1};
}

mlir::FailureOr<ScatterTargets> scatterTargets(tk::ScatterNDOp op, llvm::ArrayRef<int64_t> shape,
                                               const Tensor &indices) {
  ScatterTargets targets;
  const int64_t tuples = product(indices.shape().drop_back());
  for (int64_t tuple = 0; tuple < tuples; ++tuple) {
    auto offset = tupleOffset(op, shape, indices, tuple, 0);
    if (mlir::failed(offset))
      return mlir::failure();
    targets.offsets.push_back(*offset);
  }
  targets.block = product(shape.drop_front(static_cast<size_t>(indices.shape().back())));
  return targets;
}

void attachGather(mlir::MLIRContext *context) {
  attach<tk::GatherOp, gather>(context);
  attach<tk::GatherElementsOp, gatherElements>(context);
  attach<tk::GatherNDOp, gatherND>(context);
  attach<tk::ScatterElementsOp, scatterUpdates<tk::ScatterElementsOp>>(context);
  attach<tk::ScatterNDOp, scatterUpdates<tk::ScatterNDOp>>(context);
}

} // namespace tokamak::reference
