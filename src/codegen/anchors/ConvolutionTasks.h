//===- ConvolutionTasks.h - a convolution's results, cut into independent tasks -----------===//
#pragma once
#include "analysis/TargetDescription.h"
#include "codegen/anchors/Anchor.h"
#include "codegen/anchors/AxisTiling.h"
#include "codegen/anchors/RegisterTile.h"
#include <vector>

namespace tokamak::codegen {

/// The outputs of one combination of phases (see axisPhases), in register tiles and bands of tiles.
struct PlanePhase {
  AxisTiling depth, rows, columns;
  int64_t rowTilesPerBand = 1, rowBands = 1, columnTilesPerBand = 1, columnBands = 1;
  int64_t firstTask = 0, taskCount = 0;
  /// Whether consecutive tasks share a band (and differ in the channel tile) or share a channel tile.
  bool channelsInner = false;

  bool isEmpty() const { return depth.tileCount() == 0 || rows.tileCount() == 0 || columns.tileCount() == 0; }
  std::array<const AxisTaps *, 3> axes() const { return {&depth.axis, &rows.axis, &columns.axis}; }
  /// The output position of the first result of a tile at `q`, and that of its result (row, column) as the
  /// spatial indices of an accumulator point.
  std::array<mlir::Value, 3> outputBase(LoopBuilder &loops, llvm::ArrayRef<mlir::Value> q) const;
  llvm::SmallVector<PointIndex> outputIndex(const std::array<mlir::Value, 3> &base, int64_t row,
                                            int64_t column, int64_t spatialRank) const;
  /// Kernel positions that this phase multiplies.
  int64_t tapCount() const { return depth.axis.tapCount * rows.axis.tapCount * columns.axis.tapCount; }
};

/// What one task computes: an image, a tile of channels, one plane of the depth axis and a band of tiles of
/// it.
struct TaskRange {
  mlir::Value image, channelTile, depth;
  mlir::Value rowBegin, rowEnd, columnBegin, columnEnd; ///< in tiles

  /// The results in the rows of a region, where each is one tile, with all columns. Channels are left open.
  static TaskRange ofRegion(LoopBuilder &loops, const PlanePhase &phase, const ConvolutionRegion &region);
};

/// Each accumulator that code is written for brings an epilogue along; more than this take seconds to
/// compile.
constexpr int64_t kMaxWrittenAccumulators = 10000;

/// Cuts (image, channel tile, output plane) into tasks: so many that a few threads can share them, yet each
/// worth its dispatch, with the rows that a task reads and the weights of its channel tile both
/// cache-resident.
class ConvolutionTasks {
public:
  struct Work {
    int64_t channelTiles = 1;
    double weightBytesPerTile = 0, inputBytesPerImage = 0;
    double flopsPerPosition = 0; ///< of one channel tile and one tap
  };
  ConvolutionTasks(const ConvolutionShape &shape, const RegisterTile &tile, const Work &work,
                   const TargetDescription &target);

  int64_t taskCount() const { return count; }
  llvm::ArrayRef<PlanePhase> planePhases() const { return phases; }
  /// Results whose computation the code writes out: the positions of one tile of each run of each phase.
  int64_t writtenPositions() const;
  /// Emits loops over the tasks [begin, end) of every phase.
  void forEachTask(LoopBuilder &loops, mlir::Value begin, mlir::Value end,
                   llvm::function_ref<void(const PlanePhase &, const TaskRange &)> body) const;

private:
  void chooseBands(PlanePhase &phase, const Work &work, const TargetDescription &target);

  int64_t images, channelTiles;
  std::vector<PlanePhase> phases;
  int64_t count = 0;
};

} // namespace tokamak::codegen
