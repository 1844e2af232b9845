//===- TkShapesInjective.cpp - result types: operators that move elements ----------------===//
#include "ir/TkShapes.h"
#include "llvm/ADT/STLExtras.h"

namespace tokamak::tk {

using namespace shapes;
using mlir::failed;
using mlir::failure;

TK_INFER(BroadcastOp) {
  llvm::ArrayRef<int64_t> from = shapeOf(x.getInput()), to = x.getShape();
  mlir::FailureOr<Extents> shape = broadcastShapes(from, to);
  if (failed(checkExtents(loc, "shape", to)))
    return failure();
  if (failed(shape) || llvm::ArrayRef(*shape) != to)
    return refuse(loc, "shape ", show(from), " does not broadcast to ", show(to));
  return give(loc, to, elementOf(x.getInput()), results);
}

TK_INFER(ReshapeOp) {
  llvm::ArrayRef<int64_t> from = shapeOf(x.getInput()), to = x.getShape();
  if (failed(give(loc, to, elementOf(x.getInput()), results)))
    return failure();
  const int64_t have = tensorType(x.getInput()).getNumElements();
  const int64_t want = llvm::cast<mlir::RankedTensorType>(results.back()).getNumElements();
  if (have != want)
    return refuse(loc, "cannot reshape ", show(from), " (", have, " elements) to ", show(to), " (", want,
                  " elements)");
  return mlir::success();
}

TK_INFER(TransposeOp) {
  llvm::ArrayRef<int64_t> from = shapeOf(x.getInput()), permutation = x.getPermutation();
  const auto rank = static_cast<int64_t>(from.size());
  if (failed(checkLength(loc, "permutation", permutation, rank)))
    return failure();
  Extents shape;
  llvm::SmallVector<bool> seen(from.size());
  for (int64_t axis : permutation) {
    if (axis < 0 || axis >= rank || seen[axis])
      return refuse(loc, "permutation ", show(permutation), " should name each of the ", rank, " axes once");
    seen[axis] = true;
    shape.push_back(from[axis]);
  }
  return give(loc, shape, elementOf(x.getInput()), results);
}

TK_INFER(SliceOp) {
  llvm::ArrayRef<int64_t> from = shapeOf(x.getInput());
  llvm::ArrayRef<int64_t> starts = x.getStarts(), sizes = x.getSizes(), steps = x.getSteps();
  const auto rank = static_cast<int64_t>(from.size());
  if (failed(checkLength(loc, "starts", starts, rank)) || failed(checkLength(loc, "sizes", sizes, rank)) ||
      failed(checkLength(loc, "steps", steps, rank)) || failed(checkExtents(loc, "starts", starts)) ||
      failed(checkExtents(loc, "sizes", sizes)))
    return failure();
  for (auto [axis, extent] : llvm::enumerate(from)) {
    const __int128 first = starts[axis], last = first + __int128(sizes[axis] - 1) * steps[axis];
    if (steps[axis] == 0)
      return refuse(loc, "steps ", show(steps), " has a 0");
    if (sizes[axis] > 0 && (first >= extent || last < 0 || last >= extent))
      return refuse(loc, "slice of ", show(from), " leaves axis ", axis, ": start ", starts[axis], ", size ",
                    sizes[axis], ", step ", steps[axis]);
  }
  return give(loc, sizes, elementOf(x.getInput()), results);
}

TK_INFER(ConcatOp) {
  if (x.getInputs().empty())
    return refuse(loc, "concatenation of nothing");
  const int64_t rank = rankOf(x.getInputs().front());
  const auto axis = static_cast<int64_t>(x.getAxis());
  if (failed(checkSameElement(loc, x.getInputs())) || failed(checkAxis(loc, axis, rank)))
    return failure();
  Extents shape(shapeOf(x.getInputs().front()));
  for (mlir::Value next : x.getInputs().drop_front()) {
    bool fits = rankOf(next) == rank;
    for (int64_t i = 0; fits && i < rank; ++i)
      fits = i == axis || shapeOf(next)[i] == shape[i];
    if (!fits)
      return refuse(loc, "shapes ", show(shapeOf(x.getInputs().front())), " and ", show(shapeOf(next)),
                    " do not concatenate along axis ", axis);
    // Tensors have at most 2^40 elements, so this overflows only after millions of operands.
    shape[axis] += shapeOf(next)[axis];
  }
  return give(loc, shape, elementOf(x.getInputs().front()), results);
}

TK_INFER(PadOp) {
  Extents shape(shapeOf(x.getInput()));
  const auto rank = static_cast<int64_t>(shape.size());
  if (failed(checkLength(loc, "low", x.getLow(), rank)) ||
      failed(checkLength(loc, "high", x.getHigh(), rank)) || failed(checkExtents(loc, "low", x.getLow())) ||
      failed(checkExtents(loc, "high", x.getHigh())) || failed(checkSameElement(loc, x.getOperands())))
    return failure();
  if (rankOf(x.getValue()) != 0)
    return refuse(loc, "the padding value should be a scalar, not ", show(x.getValue()));
  for (int64_t i = 0; i < rank; ++i)
    shape[i] += x.getLow()[i] + x.getHigh()[i];
  return give(loc, shape, elementOf(x.getInput()), results);
}

TK_INFER(GatherOp) {
  llvm::ArrayRef<int64_t> from = shapeOf(x.getInput()), indices = shapeOf(x.getIndices());
  const auto axis = static_cast<int64_t>(x.getAxis());
  if (failed(checkAxis(loc, axis, rankOf(x.getInput()))))
    return failure();
  Extents shape(from.take_front(axis));
  llvm::append_range(shape, indices);
  llvm::append_range(shape, from.drop_front(axis + 1));
  if (failed(give(loc, shape, elementOf(x.getInput()), results)))
    return failure();
  if (from[axis] == 0 && !llvm::is_contained(shape, 0))
    return refuse(loc, "gather from axis ", axis, " of ", show(from), ", which is empty");
  return mlir::success();
}

TK_INFER(GatherElementsOp) {
  llvm::ArrayRef<int64_t> from = shapeOf(x.getInput()), indices = shapeOf(x.getIndices());
  const auto axis = static_cast<int64_t>(x.getAxis());
  if (failed(checkAxis(loc, axis, rankOf(x.getInput()))))
    return failure();
  bool fits = indices.size() == from.size();
  for (size_t i = 0; fits && i < from.size(); ++i)
    fits = static_cast<int64_t>(i) == axis || indices[i] <= from[i];
  if (!fits)
    return refuse(loc, "indices ", show(indices), " do not fit into ", show(from), " outside axis ", axis);
  if (from[axis] == 0 && !llvm::is_contained(indices, 0))
    return refuse(loc, "gather from axis ", axis, " of ", show(from), ", which is empty");
  return give(loc, indices, elementOf(x.getInput()), results);
}

TK_INFER(GatherNDOp) {
  llvm::ArrayRef<int64_t> from = shapeOf(x.getInput()), indices = shapeOf(x.getIndices());
  const auto batch = static_cast<int64_t>(x.getBatchDims());
  const auto rank = static_cast<int64_t>(from.size()), indexRank = static_cast<int64_t>(indices.size());
  if (indexRank == 0)
    return refuse(loc, "indices are a scalar; their last axis should hold the index");
  if (batch < 0 || batch > rank || batch >= indexRank)
    return refuse(loc, "batch_dims ", batch, " does not fit input ", show(from), " and indices ",
                  show(indices));
  if (from.take_front(batch) != indices.take_front(batch))
    return refuse(loc, "input ", show(from), " and indices ", show(indices), " differ in their first ", batch,
                  " axes (batch_dims)");
  const int64_t depth = indices.back();
  if (depth > rank - batch)
    return refuse(loc, "indices ", show(indices), " index ", depth, " axes, but input ", show(from), " has ",
                  rank - batch, batch ? " after its batch_dims" : "");
  Extents shape(indices.drop_back());
  llvm::append_range(shape, from.drop_front(batch + depth));
  if (failed(give(loc, shape, elementOf(x.getInput()), results)))
    return failure();
  if (llvm::is_contained(from.slice(batch, depth), 0) && !llvm::is_contained(shape, 0))
    return refuse(loc, "gather from ", show(from), ", which is empty");
  return mlir::success();
}

TK_INFER(IotaOp) {
  std::optional<DataType> type = fromMlir(x.getTo());
  if (!type || *type == DataType::Bool)
    return refuse(loc, "cannot count in ", show(x.getTo()));
  if (failed(checkAxis(loc, static_cast<int64_t>(x.getAxis()), static_cast<int64_t>(x.getShape().size()))))
    return failure();
  return give(loc, x.getShape(), x.getTo(), results);
}

} // namespace tokamak::tk
