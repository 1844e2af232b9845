//===- ConvolutionTasks.cpp - a convolution's results, cut into independent tasks ---------===//
#include "codegen/anchors/ConvolutionTasks.h"
#include <algorithm>
#include <cmath>
#include <tuple>

namespace tokamak::codegen {

std::array<mlir::Value, 3> PlanePhase::outputBase(LoopBuilder &loops, llvm::ArrayRef<mlir::Value> q) const {
  std::array<mlir::Value, 3> base;
  for (unsigned axis = 0; axis < 3; ++axis)
    base[axis] = loops.add(loops.mul(q[axis], axes()[axis]->outStep), axes()[axis]->outStart);
  return base;
}

llvm::SmallVector<PointIndex> PlanePhase::outputIndex(const std::array<mlir::Value, 3> &base, int64_t row,
                                                      int64_t column, int64_t spatialRank) const {
  std::array<PointIndex, 3> index{PointIndex{base[0], 0}, PointIndex{base[1], row * rows.axis.outStep},
                                  PointIndex{base[2], column * columns.axis.outStep}};
  return llvm::SmallVector<PointIndex>(index.end() - spatialRank, index.end());
}

/// Taps written out one by one at the borders of an axis, at most: beyond that, code and compile time grow
/// too much.
static constexpr int64_t kPatternTaps = 128;

ConvolutionTasks::ConvolutionTasks(const ConvolutionShape &shape, const RegisterTile &tile, const Work &work,
                                   const TargetDescription &target)
    : images(shape.batch), channelTiles(work.channelTiles) {
  if (images == 0 || channelTiles == 0)
    return;
  for (const AxisTaps &depth : axisPhases(shape, 0))
    for (const AxisTaps &rows : axisPhases(shape, 1))
      for (const AxisTaps &columns : axisPhases(shape, 2)) {
        PlanePhase phase;
        phase.depth = AxisTiling::single(depth);
        phase.rows =
            tile.rows == 1 ? AxisTiling::single(rows) : AxisTiling::create(rows, tile.rows, kPatternTaps);
        phase.columns = AxisTiling::create(columns, tile.columns, kPatternTaps);
        if (phase.isEmpty())
          continue;
        chooseBands(phase, work, target);
        phase.firstTask = count;
        phase.taskCount =
            images * channelTiles * phase.depth.tileCount() * phase.rowBands * phase.columnBands;
        count += phase.taskCount;
        phases.push_back(std::move(phase));
      }
}

int64_t ConvolutionTasks::writtenPositions() const {
  auto width = [](const AxisTiling &tiling) {
    int64_t sum = 0;
    for (const TileRun &run : tiling.runs)
      sum += run.width;
    return sum;
  };
  int64_t sum = 0;
  for (const PlanePhase &phase : phases)
    sum += width(phase.rows) * width(phase.columns);
  return sum;
}

/// Divides `tiles` into `bands` bands or slightly fewer of equally many tiles (the last may have less).
static void divide(int64_t tiles, int64_t &bands, int64_t &tilesPerBand) {
  tilesPerBand = (tiles + bands - 1) / bands;
  bands = (tiles + tilesPerBand - 1) / tilesPerBand;
}

TaskRange TaskRange::ofRegion(LoopBuilder &loops, const PlanePhase &phase, const ConvolutionRegion &region) {
  TaskRange task;
  task.image = region.image;
  task.depth = task.columnBegin = loops.index(0);
  std::tie(task.rowBegin, task.rowEnd) = outputsIn(loops, phase.rows.axis, region.spatial.front());
  task.columnEnd = loops.index(phase.columns.tileCount());
  return task;
}

void ConvolutionTasks::chooseBands(PlanePhase &phase, const Work &work, const TargetDescription &target) {
  // Enough tasks to balance a few threads; a task of a million operations takes tens of microseconds, a
  // dispatch less than one.
  constexpr double kWantedTasks = 32, kFlopsPerTask = 1e6;
  int64_t rowTiles = phase.rows.tileCount(), columnTiles = phase.columns.tileCount();
  auto positions = static_cast<double>(phase.rows.axis.outCount * phase.columns.axis.outCount);
  double planeFlops = positions * work.flopsPerPosition * static_cast<double>(phase.tapCount());
  auto planes = static_cast<double>(images * channelTiles * phase.depth.tileCount());
  double forThreads = std::min(std::ceil(kWantedTasks / planes), std::floor(planeFlops / kFlopsPerTask));
  double cacheShare = static_cast<double>(target.l2Bytes) / 2;
  double forCache = std::ceil(work.inputBytesPerImage / cacheShare);
  auto wanted = static_cast<int64_t>(std::clamp(std::max(forThreads, forCache), 1.0, 1e6));

  phase.rowBands = std::min(wanted, rowTiles);
  divide(rowTiles, phase.rowBands, phase.rowTilesPerBand);
  phase.columnBands = std::clamp<int64_t>(wanted / phase.rowBands, 1, columnTiles);
  divide(columnTiles, phase.columnBands, phase.columnTilesPerBand);

  // Bytes that come from beyond the second cache level, either way round.
  auto bands = static_cast<double>(phase.rowBands * phase.columnBands * phase.depth.tileCount());
  auto tiles = static_cast<double>(channelTiles);
  double weights = work.weightBytesPerTile * tiles, input = work.inputBytesPerImage;
  double bandsInner = weights + input * (input > cacheShare ? tiles : 1);
  double tilesInner = input + weights * (weights > cacheShare ? bands : 1);
  phase.channelsInner = tilesInner < bandsInner;
}

void ConvolutionTasks::forEachTask(
    LoopBuilder &loops, mlir::Value begin, mlir::Value end,
    llvm::function_ref<void(const PlanePhase &, const TaskRange &)> body) const {
  for (const PlanePhase &phase : phases) {
    mlir::Value low = loops.max(begin, loops.index(phase.firstTask));
    mlir::Value high = loops.min(end, loops.index(phase.firstTask + phase.taskCount));
    loops.loop(low, high, 1, [&](mlir::Value task) {
      mlir::Value rest = loops.add(task, -phase.firstTask);
      auto next = [&](int64_t extent) {
        mlir::Value digit = extent == 1 ? loops.index(0) : loops.rem(rest, extent);
        rest = loops.div(rest, extent);
        return digit;
      };
      TaskRange range;
      if (phase.channelsInner)
        range.channelTile = next(channelTiles);
      mlir::Value columnBand = next(phase.columnBands), rowBand = next(phase.rowBands);
      range.depth = next(phase.depth.tileCount());
      if (!phase.channelsInner)
        range.channelTile = next(channelTiles);
      range.image = images == 1 ? loops.index(0) : rest;
      auto band = [&](mlir::Value number, int64_t perBand, int64_t tiles, mlir::Value &first,
                      mlir::Value &last) {
        first = loops.mul(number, perBand);
        last = loops.min(loops.add(first, perBand), loops.index(tiles));
      };
      band(rowBand, phase.rowTilesPerBand, phase.rows.tileCount(), range.rowBegin, range.rowEnd);
      band(columnBand, phase.columnTilesPerBand, phase.columns.tileCount(), range.columnBegin,
           range.columnEnd);
      body(phase, range);
    });
  }
}

} // namespace tokamak::codegen
