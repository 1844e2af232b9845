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
  if (shape.bandRows) {
    measureBands();
    return;
  }
  double elements = 0;
  for (const PlanePhase &phase : tasks.planePhases()) {
    int64_t bandRows = reach(phase.rows, phase.rowTilesPerBand);
    int64_t bandColumns = reach(phase.columns, phase.columnTilesPerBand);
    rows = std::max(rows, bandRows);
    columns = std::max(columns, bandColumns);
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
  return emitRegion(loops, task.image, rowAxis, columnAxis, firstBlock, scratch, compute);
}

/// The input rows that the outputs in rows [begin, end) read; none: the second is not above the first.
static std::pair<int64_t, int64_t> rowsRead(llvm::ArrayRef<AxisTaps> phases, int64_t begin, int64_t end) {
  std::pair<int64_t, int64_t> rows{phases.front().inExtent, 0};
  for (const AxisTaps &axis : phases) {
    auto outputsBefore = [&](int64_t position) {
      int64_t behind = std::max<int64_t>(position - axis.outStart, 0);
      return std::min((behind + axis.outStep - 1) / axis.outStep, axis.outCount);
    };
    int64_t first = outputsBefore(begin), last = outputsBefore(end);
    if (first == last || axis.tapCount == 0)
      continue;
    rows.first = std::min(rows.first, std::max<int64_t>(axis.inputIndex(first, 0), 0));
    rows.second =
        std::max(rows.second, std::min(axis.inputIndex(last - 1, axis.tapCount - 1) + 1, axis.inExtent));
  }
  return rows;
}

void ComputedInput::measureBands() {
  auto phases = axisPhases(shape, 1);
  int64_t all = 0;
  for (int64_t begin = 0; begin < shape.output[1]; ++begin) {
    auto [first, last] = rowsRead(phases, begin, std::min(begin + shape.bandRows, shape.output[1]));
    int64_t count = std::max<int64_t>(last - first, 0);
    rows = std::max(rows, count);
    if (begin % shape.bandRows == 0)
      all += count;
  }
  columns = shape.input[2];
  computed = static_cast<double>(all) / static_cast<double>(std::max<int64_t>(shape.input[1], 1));
}

mlir::Value ComputedInput::emitBand(LoopBuilder &loops, const ConvolutionRegion &results,
                                    mlir::Value firstBlock, mlir::Value scratch,
                                    const ConvolutionInputFn &compute) const {
  // As rowsRead does it.
  mlir::Value zero = loops.index(0), extent = loops.index(shape.input[1]);
  RegionAxis rowAxis{extent, zero, shape.input[1]};
  for (const AxisTaps &axis : axisPhases(shape, 1)) {
    if (axis.tapCount == 0)
      continue;
    auto [first, last] = outputsIn(loops, axis, results.spatial.front());
    // Of no outputs: beyond all others.
    mlir::Value isEmpty = loops.sub(loops.index(1), loops.min(loops.sub(last, first), loops.index(1)));
    mlir::Value beyond =
        loops.mul(isEmpty, 2 * (shape.input[1] + axis.inExtent + axis.outCount * axis.inStep));
    mlir::Value low = loops.add(loops.add(loops.mul(first, axis.inStep), axis.inStart), beyond);
    mlir::Value high = loops.sub(
        loops.add(loops.mul(last, axis.inStep), axis.inputIndex(-1, axis.tapCount - 1) + 1), beyond);
    rowAxis.begin = loops.min(rowAxis.begin, loops.max(low, zero));
    rowAxis.end = loops.max(rowAxis.end, loops.min(high, extent));
  }
  return emitRegion(loops, results.image, rowAxis, {zero, loops.index(shape.input[2]), shape.input[2]},
                    firstBlock, scratch, compute);
}

mlir::Value ComputedInput::emitRegion(LoopBuilder &loops, mlir::Value image, const RegionAxis &rowAxis,
                                      const RegionAxis &columnAxis, mlir::Value firstBlock,
                                      mlir::Value scratch, const ConvolutionInputFn &compute) const {
  ConvolutionRegion region;
  region.image = image;
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
