//===- PanelPrefetch.h - weights are asked for before they are read -------------------------===//
#pragma once
#include "analysis/TargetDescription.h"
#include "codegen/anchors/LoopBuilder.h"

namespace tokamak::codegen {

/// Packed weights are panels one behind the other, each read by some register tiles, row by row, a row a
/// step. The first tile of a panel would wait for memory while its arithmetic is idle, and the others leave
/// memory idle: a processor's own prefetcher ends at each page, and does not look from one panel to the next.
/// So while the tiles of a panel compute, they ask for the lines of the panel behind it, the first of them
/// for some lines of each row, the next for others. Of panels so large that the second cache level does not
/// hold two, the first tile asks for lines further on.
///
/// Asks for nothing where all weights stay in the second cache level.
class PanelPrefetch {
public:
  PanelPrefetch() = default;
  /// Panels of `panelSize` float32 in rows of `rowSize`, `count` of them, each read by `tiles` register tiles
  /// at least.
  PanelPrefetch(int64_t panelSize, int64_t rowSize, int64_t count, int64_t tiles,
                const TargetDescription &target);

  bool isNone() const { return linesPerStep == 0; }
  /// How far behind the row that it reads lies what the `tile`th register tile of a panel asks for, in
  /// elements.
  mlir::Value distance(LoopBuilder &loops, mlir::Value tile) const;
  /// One step's share; `row` points to what the step reads.
  void emit(LoopBuilder &loops, mlir::Value row, mlir::Value distance) const;

private:
  int64_t ahead = 0;          ///< elements from a row to the first line that is asked for when it is read
  bool isOfSamePanel = false; ///< the panel is too large to ask for the next one
  int64_t linesPerStep = 0;   ///< none: nothing is asked for
  int64_t askingTiles = 1;    ///< tiles among which the lines of a row are shared
};

} // namespace tokamak::codegen
