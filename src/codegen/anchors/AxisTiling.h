//===- AxisTiling.h - the outputs along one axis, cut into tiles of equal code ------------===//
#pragma once
#include "codegen/anchors/ConvolutionShape.h"
#include "codegen/anchors/InputRegion.h"
#include "codegen/anchors/LoopBuilder.h"
#include "llvm/ADT/BitVector.h"

namespace tokamak::codegen {

/// Consecutive tiles that share their code: tile i (0 <= i < tileCount) covers outputs q in [start + i *
/// width, + width).
struct TileRun {
  enum class Taps {
    All,     ///< every tap of every output lies inside the input
    Pattern, ///< `inside` says which do; the others are left out when the code is written
    Bounded, ///< width 1: the taps inside form an interval that is computed at run time
  };
  int64_t firstTile = 0, tileCount = 1, start = 0, width = 1;
  Taps taps = Taps::All;
  llvm::BitVector inside; ///< Pattern: bit output * tapCount + tap

  bool isInside(int64_t output, int64_t tap, int64_t tapCount) const {
    return taps != Taps::Pattern || inside[static_cast<unsigned>(output * tapCount + tap)];
  }
};

/// One axis of a convolution's output, in tiles.
struct AxisTiling {
  AxisTaps axis;
  llvm::SmallVector<TileRun> runs;
  int64_t tileCount() const { return runs.empty() ? 0 : runs.back().firstTile + runs.back().tileCount; }

  /// Tiles of at most `width`, as equal as can be. At the borders the taps that fall on padding are left out,
  /// tile by tile, where that takes no more than `patternTaps` taps written out; else outputs near the border
  /// become tiles of width 1 with bounded taps.
  static AxisTiling create(const AxisTaps &axis, int64_t width, int64_t patternTaps);
  /// Tiles of width 1 whose taps are bounded at run time.
  static AxisTiling single(const AxisTaps &axis);

  /// The first output of a tile, or where the last one ends.
  mlir::Value firstOutput(LoopBuilder &loops, mlir::Value tile) const;
  /// Emits, for each tile in [begin, end), `body(run, q)` where q is the first output of the tile.
  void forEachTile(LoopBuilder &loops, mlir::Value begin, mlir::Value end,
                   llvm::function_ref<void(const TileRun &, mlir::Value)> body) const;
};

/// The outputs [first, second) of `axis` whose positions lie in `region`, an interval of positions.
std::pair<mlir::Value, mlir::Value> outputsIn(LoopBuilder &loops, const AxisTaps &axis,
                                              const RegionAxis &region);

/// The interval [low, high) of taps inside the input for output `q`.
struct TapBounds {
  mlir::Value low, high;
};
TapBounds tapBounds(LoopBuilder &loops, const AxisTaps &axis, mlir::Value q);

} // namespace tokamak::codegen
