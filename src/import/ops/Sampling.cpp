//===- Sampling.cpp - GridSample, RoiAlign, AffineGrid -------------------------------------===//
#include "import/ops/Common.h"

namespace tokamak::import {

namespace {

Result importGridSample(NodeContext &n) {
  std::string mode = n.stringAttr("mode", n.opset() < 20 ? "bilinear" : "linear");
  std::string padding = n.stringAttr("padding_mode", "zeros");
  std::optional<tk::GridMode> gridMode;
  if (mode == "bilinear" || mode == "linear")
    gridMode = tk::GridMode::Linear;
  else if (mode == "bicubic" || mode == "cubic")
    gridMode = tk::GridMode::Cubic;
  else if (mode == "nearest")
    gridMode = tk::GridMode::Nearest;
  std::optional<tk::GridPadding> gridPadding = tk::symbolizeGridPadding(padding);
  if (!gridMode || !gridPadding)
    return n.error("mode '" + mode + "' with padding_mode '" + padding +
                   "' is unknown; use linear, nearest or cubic with zeros, border or reflection");
  Value x = n.input(0), grid = n.input(1);
  Body &b = n.body();
  mlir::MLIRContext *context = b.builder.getContext();
  // The grid may be of another type than the data; coordinates keep the more precise one.
  DataType type = typeOf(x), compute = typeOf(grid) == type ? type : wideType(type);
  if (compute != DataType::Float64 && typeOf(grid) == DataType::Float64)
    compute = DataType::Float64;
  Value y = b.op("grid_sample", {b.cast(x, compute), b.cast(grid, compute)},
                 {b.attr("mode", tk::GridModeAttr::get(context, *gridMode)),
                  b.attr("padding", tk::GridPaddingAttr::get(context, *gridPadding)),
                  b.attr("align_corners", n.intAttr("align_corners", 0) != 0)});
  return Values{b.cast(y, type)};
}

Result importRoiAlign(NodeContext &n) {
  std::string mode = n.stringAttr("mode", "avg");
  if (mode != "avg" && mode != "max")
    return n.error("mode must be avg or max, not '" + mode + "'");
  // Opset 10 had no half-pixel shift.
  std::string coordinates =
      n.opset() < 16 ? "output_half_pixel" : n.stringAttr("coordinate_transformation_mode", "half_pixel");
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel")
    return n.error("coordinate_transformation_mode '" + coordinates +
                   "' is unknown; use half_pixel or output_half_pixel");
  Body &b = n.body();
  return Values{
      b.op("roi_align", {n.input(0), n.input(1), n.input(2)},
           {b.attr("max_mode", mode == "max"), b.attr("half_pixel", coordinates == "half_pixel"),
            b.attr("height", n.intAttr("output_height", 1)), b.attr("width", n.intAttr("output_width", 1)),
            b.attr("sampling_ratio", n.intAttr("sampling_ratio", 0)),
            b.attr("spatial_scale", n.floatAttr("spatial_scale", 1))})};
}

/// Normalised coordinates of `extent` positions between -1 and 1.
Value gridCoordinates(Body &b, DataType type, int64_t extent, bool alignCorners) {
  checkTable(extent);
  std::vector<double> values;
  double count = static_cast<double>(extent);
  for (int64_t i = 0; i < extent; ++i) {
    double p = static_cast<double>(i);
    values.push_back(alignCorners ? (extent > 1 ? -1 + 2 * p / (count - 1) : 0) : (2 * p + 1) / count - 1);
  }
  return b.constant(doubleTensor(values, {extent}, type));
}

/// theta [N, d, d + 1] applied to a regular grid of `size` [N, C, (D,) H, W]; coordinates are (x, y(, z)).
Result importAffineGrid(NodeContext &n) {
  Ints size = n.constantInts(1, "the size");
  Value theta = n.input(0);
  int64_t axes = static_cast<int64_t>(size.size()) - 2;
  if ((axes != 2 && axes != 3) || shapeOf(theta) != IntsRef{size[0], axes, axes + 1})
    return n.error("theta of shape " + text(shapeOf(theta)) + " does not fit size " + text(size));
  for (int64_t e : size)
    if (e < 0)
      return n.error("size " + text(size) + " has a negative extent");
  bool alignCorners = n.intAttr("align_corners", 0) != 0;
  return wideComposite(n, {theta}, [&](Body &b, ValueRange x) {
    Ints grid(size.begin() + 2, size.end()), ones(grid);
    ones.push_back(1);
    Values columns;
    for (int64_t axis = axes - 1; axis >= 0; --axis) { // x runs along the last axis
      Value along = alongAxis(b, gridCoordinates(b, typeOf(x[0]), grid[axis], alignCorners), axis, axes + 1);
      columns.push_back(b.broadcast(along, ones));
    }
    columns.push_back(filled(b, typeOf(x[0]), ones, 1));
    Value points = b.reshape(b.concat(columns, axes), {product(grid), axes + 1});
    Ints result{size[0]};
    result.append(grid.begin(), grid.end());
    result.push_back(axes);
    return b.reshape(b.matmul(points, x[0], false, true), result);
  });
}

} // namespace

void registerSampling(Registry &registry) {
  registry.add("AffineGrid", importAffineGrid);
  registry.add("GridSample", importGridSample);
  registry.add("RoiAlign", importRoiAlign);
}

} // namespace tokamak::import
