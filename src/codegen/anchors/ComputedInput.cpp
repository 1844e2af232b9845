//===- ComputedInput.cpp - a convolution's input, computed into scratch task by task ----------------===//
#include "codegen/anchors/ComputedInput.h"
#include <algorithm>

namespace tokamak::codegen {

/// Input indices that `tiles` tiles next to each other reach at most.
static int64_t reach(const AxisTiling &tiling, int64_t tiles) {
  int64_t width = 0;
  for (const TileRun &run : tiling.runs)
    width = std::max(width, run.width);
  const AxisTaps &axis = tiling.axis;
  int64_t outputs = std::min(tiles * width, axis.outCount);
  if (outputs == 0 || axis.tapCount == 0)
    return 0;
  return std::min(axis.inExtent, (outputs - 1) * axis.inStep + (axis.tapCount - 1) * axis.inTapStep + 1);
}

ComputedInput::ComputedInput(const ConvolutionShape &shape, const ConvolutionTasks &tasks, int64_t blocks,
                             int64_t lanes)
    : shape(shape), blocks(blocks), lanes(lanes) {
  double elements = 0;
  for (const PlanePhase &phase : tasks.planePhases()) {
    int64_t bandRows = reach(phase.rows, phase.rowTilesPerBand);
    int64_t bandColumns = reach(phase.columns, phase.columnTilesPerBand);
    rows = std::max(rows, bandRows);
    columns = std::max(columns, shape.bandRows ? shape.input[2] : bandColumns);
    elements +=
        static_cast<double>(phase.rowBands * phase.columnBands) * static_cast<double>(bandRows * bandColumns);
  }
  computed = elements / static_cast<double>(std::max<int64_t>(shape.input[1] * shape.input[2], 1));
}

/// The input indices that tiles [firstTile, lastTile) read.
static RegionAxis regionOf(LoopBuilder &loops, const AxisTiling &tiling, mlir::Value firstTile,
                           mlir::Value lastTile) {
  const AxisTaps &axis = tiling.axis;
  mlir::Value zero = loops.index(0), extent = loops.index(axis.inExtent);
  mlir::Value first = loops.add(loops.mul(tiling.firstOutput(loops, firstTile), axis.inStep), axis.inStart);
  mlir::Value last = loops.add(tiling.firstOutput(loops, lastTile), -1);
  last = loops.add(loops.mul(last, axis.inStep), axis.inStart + (axis.tapCount - 1) * axis.inTapStep + 1);
  return {loops.min(loops.max(first, zero), extent), loops.min(loops.max(last, zero), extent), axis.inExtent};
}

mlir::Value ComputedInput::emit(LoopBuilder &loops, const PlanePhase &phase, const TaskRange &task,
                                mlir::Value firstBlock, mlir::Value scratch,
                                const ConvolutionInputFn &compute) const {
  RegionAxis rowAxis = regionOf(loops, phase.rows, task.rowBegin, task.rowEnd);
  RegionAxis columnAxis = regionOf(loops, phase.columns, task.columnBegin, task.columnEnd);
  if (shape.bandRows) // whoever computes it does so row by row
    columnAxis = {loops.index(0), loops.index(shape.input[2]), shape.input[2]};
  ConvolutionRegion region;
  region.image = task.image;
  region.images = shape.batch;
  region.blocks = {firstBlock, loops.add(firstBlock, blocks), (shape.inChannels + lanes - 1) / lanes};
  region.memory = scratch;
  region.blockStride = blockStride();
  if (shape.spatialRank > 1) {
    region.spatial.push_back(rowAxis);
    region.spatialStrides.push_back(rowStride());
  }
  region.spatial.push_back(columnAxis);
  region.spatialStrides.push_back(lanes);
  compute(loops.opBuilder(), loops.location(), region);
  mlir::Value before = loops.add(loops.mul(rowAxis.begin, rowStride()), loops.mul(columnAxis.begin, lanes));
  return loops.at(scratch, loops.sub(loops.index(0), before));
}

} // namespace tokamak::codegen
