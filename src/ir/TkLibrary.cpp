//===- TkLibrary.cpp - operators that call the runtime library ---------------------------===//
// Result types, and the symbol and parameters of the call. The order of parameters is a contract with
// runtime/Library.h.
#include "ir/TkShapes.h"
#include "llvm/ADT/STLExtras.h"

namespace tokamak::tk {

using namespace shapes;
using mlir::failed;
using mlir::failure;

using Ints = llvm::SmallVectorImpl<int64_t>;
using Floats = llvm::SmallVectorImpl<double>;

static mlir::Type int64Type(mlir::Value like) { return mlir::IntegerType::get(like.getContext(), 64); }

// cumsum: ints {axis, exclusive, reverse}

TK_INFER(CumSumOp) {
  if (failed(checkAxis(loc, static_cast<int64_t>(x.getAxis()), rankOf(x.getInput()))))
    return failure();
  return give(loc, shapeOf(x.getInput()), elementOf(x.getInput()), results);
}
llvm::StringRef CumSumOp::getLibrarySymbol() { return "tk_lib_cumsum"; }
void CumSumOp::getLibraryParameters(Ints &ints, Floats &) {
  ints.append({static_cast<int64_t>(getAxis()), getExclusive(), getReverse()});
}

// top_k: ints {k, axis, largest, sorted}

TK_INFER(TopKOp) {
  Extents shape(shapeOf(x.getInput()));
  const auto axis = static_cast<int64_t>(x.getAxis()), k = static_cast<int64_t>(x.getK());
  if (failed(checkAxis(loc, axis, rankOf(x.getInput()))))
    return failure();
  if (k < 0 || k > shape[axis])
    return refuse(loc, "cannot take the first ", k, " of ", shape[axis], " elements (axis ", axis, " of ",
                  show(shape), ")");
  shape[axis] = k;
  if (failed(give(loc, shape, elementOf(x.getInput()), results)))
    return failure();
  return give(loc, shape, int64Type(x.getInput()), results);
}
llvm::StringRef TopKOp::getLibrarySymbol() { return "tk_lib_top_k"; }
void TopKOp::getLibraryParameters(Ints &ints, Floats &) {
  ints.append({static_cast<int64_t>(getK()), static_cast<int64_t>(getAxis()), getLargest(), getSorted()});
}

// scatter_elements: ints {axis, reduction}, reduction as tk::ScatterReduction numbers it

/// What both scatters ask of the values.
static mlir::LogicalResult checkUpdates(Loc loc, mlir::Value input, mlir::Value updates,
                                        ScatterReduction reduction) {
  if (failed(checkSameElement(loc, {input, updates})))
    return failure();
  if (reduction != ScatterReduction::None && elementOf(input).isInteger(1))
    return refuse(loc, "bool elements cannot be combined by ", stringifyScatterReduction(reduction));
  return mlir::success();
}

TK_INFER(ScatterElementsOp) {
  llvm::ArrayRef<int64_t> into = shapeOf(x.getInput()), indices = shapeOf(x.getIndices());
  const auto axis = static_cast<int64_t>(x.getAxis());
  if (failed(checkAxis(loc, axis, rankOf(x.getInput()))) ||
      failed(checkUpdates(loc, x.getInput(), x.getUpdates(), x.getReduction())))
    return failure();
  if (indices != shapeOf(x.getUpdates()))
    return refuse(loc, "indices ", show(indices), " and updates ", show(shapeOf(x.getUpdates())),
                  " should have the same shape");
  bool fits = indices.size() == into.size();
  for (size_t i = 0; fits && i < into.size(); ++i)
    fits = static_cast<int64_t>(i) == axis || indices[i] <= into[i];
  if (!fits)
    return refuse(loc, "indices ", show(indices), " do not fit into ", show(into), " outside axis ", axis);
  return give(loc, into, elementOf(x.getInput()), results);
}
llvm::StringRef ScatterElementsOp::getLibrarySymbol() { return "tk_lib_scatter_elements"; }
void ScatterElementsOp::getLibraryParameters(Ints &ints, Floats &) {
  ints.append({static_cast<int64_t>(getAxis()), static_cast<int64_t>(getReduction())});
}

// scatter_nd: ints {reduction}

TK_INFER(ScatterNDOp) {
  llvm::ArrayRef<int64_t> into = shapeOf(x.getInput()), indices = shapeOf(x.getIndices());
  if (failed(checkUpdates(loc, x.getInput(), x.getUpdates(), x.getReduction())))
    return failure();
  if (indices.empty())
    return refuse(loc, "indices are a scalar; their last axis should hold the index");
  const int64_t depth = indices.back();
  if (depth > static_cast<int64_t>(into.size()))
    return refuse(loc, "indices ", show(indices), " index ", depth, " axes, but the input ", show(into),
                  " has ", into.size());
  Extents expected(indices.drop_back());
  llvm::append_range(expected, into.drop_front(depth));
  if (shapeOf(x.getUpdates()) != llvm::ArrayRef(expected))
    return refuse(loc, "updates ", show(shapeOf(x.getUpdates())), " should have shape ", show(expected),
                  " for input ", show(into), " and indices ", show(indices));
  return give(loc, into, elementOf(x.getInput()), results);
}
llvm::StringRef ScatterNDOp::getLibrarySymbol() { return "tk_lib_scatter_nd"; }
void ScatterNDOp::getLibraryParameters(Ints &ints, Floats &) {
  ints.push_back(static_cast<int64_t>(getReduction()));
}

// max_pool_indices: ints {spatial rank n, kernel[n], strides[n], dilations[n], pads_low[n], pads_high[n],
// column_major}

TK_INFER(MaxPoolIndicesOp) {
  llvm::ArrayRef<int64_t> input = shapeOf(x.getInput());
  if (input.size() < 3)
    return refuse(loc, "the input ", show(input),
                  " should have a batch, a channel and at least one spatial axis");
  mlir::FailureOr<Extents> positions =
      windowPositions(loc, input.drop_front(2), x.getKernel(), x.getStrides(), x.getDilations(),
                      x.getPadsLow(), x.getPadsHigh());
  if (failed(positions))
    return failure();
  positions->insert(positions->begin(), {input[0], input[1]});
  if (failed(give(loc, *positions, elementOf(x.getInput()), results)))
    return failure();
  return give(loc, *positions, int64Type(x.getInput()), results);
}
llvm::StringRef MaxPoolIndicesOp::getLibrarySymbol() { return "tk_lib_max_pool_indices"; }
void MaxPoolIndicesOp::getLibraryParameters(Ints &ints, Floats &) {
  ints.push_back(static_cast<int64_t>(getKernel().size()));
  for (llvm::ArrayRef<int64_t> values :
       {getKernel(), getStrides(), getDilations(), getPadsLow(), getPadsHigh()})
    llvm::append_range(ints, values);
  ints.push_back(getColumnMajor());
}

// roi_align: ints {max_mode, half_pixel, sampling_ratio}, floats {spatial_scale}; height and width are the
// result's

TK_INFER(RoiAlignOp) {
  llvm::ArrayRef<int64_t> input = shapeOf(x.getInput()), rois = shapeOf(x.getRois());
  llvm::ArrayRef<int64_t> batches = shapeOf(x.getBatchIndices());
  if (input.size() != 4)
    return refuse(loc, "the input ", show(input), " should have shape [N,C,H,W]");
  if (rois.size() != 2 || rois[1] != 4 || batches != rois.take_front(1))
    return refuse(loc, "rois ", show(rois), " and batch_indices ", show(batches),
                  " should have shapes [R,4] and [R]");
  const auto height = static_cast<int64_t>(x.getHeight()), width = static_cast<int64_t>(x.getWidth());
  if (llvm::is_contained(input.drop_front(2), 0))
    return refuse(loc, "there is nothing to sample in ", show(input));
  if (failed(checkSameElement(loc, {x.getInput(), x.getRois()})) ||
      failed(checkRange(loc, "height", height, 1)) || failed(checkRange(loc, "width", width, 1)) ||
      failed(checkRange(loc, "sampling_ratio", static_cast<int64_t>(x.getSamplingRatio()), 0)))
    return failure();
  return give(loc, {rois[0], input[1], height, width}, elementOf(x.getInput()), results);
}
llvm::StringRef RoiAlignOp::getLibrarySymbol() { return "tk_lib_roi_align"; }
void RoiAlignOp::getLibraryParameters(Ints &ints, Floats &floats) {
  ints.append({getMaxMode(), getHalfPixel(), static_cast<int64_t>(getSamplingRatio())});
  floats.push_back(getSpatialScale().convertToDouble());
}

// grid_sample: ints {mode, padding, align_corners}, as tk::GridMode and tk::GridPadding number them

TK_INFER(GridSampleOp) {
  llvm::ArrayRef<int64_t> input = shapeOf(x.getInput()), grid = shapeOf(x.getGrid());
  const auto spatial = static_cast<int64_t>(input.size()) - 2;
  if (spatial < 1 || spatial > 3)
    return refuse(loc, "the input ", show(input), " should have one to three spatial axes");
  if (grid.size() != input.size() || grid[0] != input[0] || grid.back() != spatial)
    return refuse(loc, "grid ", show(grid), " does not fit input ", show(input), ": it should have rank ",
                  input.size(), ", the same batch, and ", spatial, " coordinates in its last axis");
  if (llvm::is_contained(input.drop_front(2), 0))
    return refuse(loc, "there is nothing to sample in ", show(input));
  if (failed(checkSameElement(loc, x.getOperands())))
    return failure();
  Extents shape = {input[0], input[1]};
  llvm::append_range(shape, grid.drop_front().drop_back());
  return give(loc, shape, elementOf(x.getInput()), results);
}
llvm::StringRef GridSampleOp::getLibrarySymbol() { return "tk_lib_grid_sample"; }
void GridSampleOp::getLibraryParameters(Ints &ints, Floats &) {
  ints.append({static_cast<int64_t>(getMode()), static_cast<int64_t>(getPadding()), getAlignCorners()});
}

// det: none

TK_INFER(DetOp) {
  llvm::ArrayRef<int64_t> shape = shapeOf(x.getInput());
  if (shape.size() < 2 || shape[shape.size() - 1] != shape[shape.size() - 2])
    return refuse(loc, "determinant of ", show(shape), ", which holds no square matrices");
  return give(loc, shape.drop_back(2), elementOf(x.getInput()), results);
}
llvm::StringRef DetOp::getLibrarySymbol() { return "tk_lib_det"; }
void DetOp::getLibraryParameters(Ints &, Floats &) {}

} // namespace tokamak::tk
