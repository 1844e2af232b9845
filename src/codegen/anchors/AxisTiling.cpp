//===- AxisTiling.cpp - the outputs along one axis, cut into tiles of equal code ----------===//
#include "codegen/anchors/AxisTiling.h"
#include "codegen/anchors/RegisterTile.h"
#include <algorithm>

namespace tokamak::codegen {

/// The run of one tile that covers outputs [start, start + width).
static TileRun describeTile(const AxisTaps &axis, int64_t start, int64_t width) {
  TileRun run;
  run.start = start;
  run.width = width;
  run.inside.resize(static_cast<unsigned>(width * axis.tapCount));
  for (int64_t o = 0; o < width; ++o)
    for (int64_t t = 0; t < axis.tapCount; ++t)
      if (axis.isInside(start + o, t))
        run.inside.set(static_cast<unsigned>(o * axis.tapCount + t));
  if (run.inside.all())
    run.taps = TileRun::Taps::All, run.inside.clear();
  else
    run.taps = TileRun::Taps::Pattern;
  return run;
}

/// Appends a tile, into the last run where it has the same code.
static void appendTile(llvm::SmallVectorImpl<TileRun> &runs, TileRun tile) {
  if (!runs.empty()) {
    TileRun &last = runs.back();
    tile.firstTile = last.firstTile + last.tileCount;
    if (last.width == tile.width && last.taps == tile.taps && last.inside == tile.inside) {
      last.tileCount += tile.tileCount;
      return;
    }
  }
  runs.push_back(std::move(tile));
}

/// Tiles of at most `width` over all outputs, appended to `runs`.
static void appendBalanced(llvm::SmallVectorImpl<TileRun> &runs, const AxisTaps &axis, int64_t width) {
  int64_t count, larger;
  int64_t tile = balancedTile(axis.outCount, width, count, larger);
  for (int64_t i = 0, start = 0; i < count; ++i) {
    int64_t size = i < larger ? tile : tile - 1;
    appendTile(runs, describeTile(axis, start, size));
    start += size;
  }
}

/// How many taps the code of all runs names one by one.
static int64_t writtenTaps(llvm::ArrayRef<TileRun> runs, int64_t tapCount) {
  return tapCount *
         llvm::count_if(runs, [](const TileRun &run) { return run.taps == TileRun::Taps::Pattern; });
}

AxisTiling AxisTiling::create(const AxisTaps &axis, int64_t width, int64_t patternTaps) {
  AxisTiling tiling;
  tiling.axis = axis;
  // Interior outputs: those whose first and last taps are inside (taps ascend).
  int64_t low = 0, high = axis.outCount;
  while (low < high && axis.tapCount > 0 && !axis.isInside(low, 0))
    ++low;
  while (high > low && axis.tapCount > 0 && !axis.isInside(high - 1, axis.tapCount - 1))
    --high;
  // Describing every tile tap by tap would take long where long rows meet long kernels.
  constexpr int64_t kMaxDescribedTaps = 1 << 20;
  bool hasBorder = low > 0 || high < axis.outCount;
  if (hasBorder && axis.outCount * axis.tapCount <= kMaxDescribedTaps) {
    appendBalanced(tiling.runs, axis, width);
    if (writtenTaps(tiling.runs, axis.tapCount) <= patternTaps)
      return tiling;
    tiling.runs.clear();
  }
  if (low > 0)
    appendTile(tiling.runs, TileRun{0, low, 0, 1, TileRun::Taps::Bounded, {}});
  if (high > low) {
    int64_t count, larger;
    int64_t tile = balancedTile(high - low, width, count, larger);
    appendTile(tiling.runs, TileRun{0, larger, low, tile, TileRun::Taps::All, {}});
    if (count > larger)
      appendTile(tiling.runs,
                 TileRun{0, count - larger, low + larger * tile, tile - 1, TileRun::Taps::All, {}});
  }
  if (high < axis.outCount)
    appendTile(tiling.runs, TileRun{0, axis.outCount - high, high, 1, TileRun::Taps::Bounded, {}});
  return tiling;
}

AxisTiling AxisTiling::single(const AxisTaps &axis) {
  AxisTiling tiling;
  tiling.axis = axis;
  auto taps = axis.neverOutside() ? TileRun::Taps::All : TileRun::Taps::Bounded;
  if (axis.outCount > 0)
    tiling.runs.push_back(TileRun{0, axis.outCount, 0, 1, taps, {}});
  return tiling;
}

void AxisTiling::forEachTile(LoopBuilder &loops, mlir::Value begin, mlir::Value end,
                             llvm::function_ref<void(const TileRun &, mlir::Value)> body) const {
  for (const TileRun &run : runs) {
    mlir::Value low = loops.max(begin, loops.index(run.firstTile));
    mlir::Value high = loops.min(end, loops.index(run.firstTile + run.tileCount));
    loops.loop(low, high, 1, [&](mlir::Value tile) {
      mlir::Value q = loops.add(loops.mul(tile, run.width), run.start - run.firstTile * run.width);
      body(run, q);
    });
  }
}

mlir::Value AxisTiling::firstOutput(LoopBuilder &loops, mlir::Value tile) const {
  mlir::Value output = loops.index(0);
  for (const TileRun &run : runs) {
    mlir::Value before = loops.max(loops.add(tile, -run.firstTile), loops.index(0));
    output = loops.add(output, loops.mul(loops.min(before, loops.index(run.tileCount)), run.width));
  }
  return output;
}

std::pair<mlir::Value, mlir::Value> outputsIn(LoopBuilder &loops, const AxisTaps &axis,
                                              const RegionAxis &region) {
  auto outputsBefore = [&](mlir::Value position) {
    mlir::Value behind = loops.max(loops.add(position, -axis.outStart), loops.index(0));
    mlir::Value outputs = loops.div(loops.add(behind, axis.outStep - 1), axis.outStep);
    return loops.min(outputs, loops.index(axis.outCount));
  };
  return {outputsBefore(region.begin), outputsBefore(region.end)};
}

TapBounds tapBounds(LoopBuilder &loops, const AxisTaps &axis, mlir::Value q) {
  // Tap t reads first + t * step with first = q * inStep + inStart; inside where 0 <= that < extent. Clamped
  // at zero before dividing, so that the unsigned quotient rounds as needed.
  mlir::Value zero = loops.index(0);
  mlir::Value first = loops.add(loops.mul(q, axis.inStep), axis.inStart);
  mlir::Value before = loops.max(loops.sub(zero, first), zero);
  mlir::Value low = loops.div(loops.add(before, axis.inTapStep - 1), axis.inTapStep);
  mlir::Value rest = loops.max(loops.sub(loops.index(axis.inExtent + axis.inTapStep - 1), first), zero);
  mlir::Value high = loops.min(loops.div(rest, axis.inTapStep), loops.index(axis.tapCount));
  return {low, high};
}

} // namespace tokamak::codegen
