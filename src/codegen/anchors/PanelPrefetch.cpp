//===- PanelPrefetch.cpp - weights are asked for before they are read -----------------------===//
#include "codegen/anchors/PanelPrefetch.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace mlir;

namespace tokamak::codegen {

/// float32 in a cache line.
static constexpr int64_t kLine = 16;
/// Panels of which the second cache level holds as many leave room for the next one.
static constexpr int64_t kPanelsInCache = 3;
/// How far ahead in one panel, in float32: two pages.
static constexpr int64_t kAhead = 2048;

PanelPrefetch::PanelPrefetch(int64_t panelSize, int64_t rowSize, int64_t count, int64_t tiles,
                             const TargetDescription &target)
    : ahead(panelSize) {
  const int64_t bytes = 4 * panelSize, lines = llvm::divideCeilSigned(rowSize, kLine);
  if (bytes * count <= target.l2Bytes || tiles < 1)
    return;
  if (kPanelsInCache * bytes > target.l2Bytes) {
    isOfSamePanel = true;
    ahead = kAhead;
    linesPerStep = lines;
    return;
  }
  linesPerStep = llvm::divideCeilSigned(lines, tiles);
  askingTiles = llvm::divideCeilSigned(lines, linesPerStep);
}

Value PanelPrefetch::distance(LoopBuilder &loops, Value tile) const {
  if (isOfSamePanel) // later tiles find what the first has read, so they ask for what they read themselves
    return loops.mul(loops.sub(loops.index(1), loops.min(tile, loops.index(1))), ahead);
  Value share = loops.min(tile, loops.index(askingTiles - 1));
  return loops.add(loops.mul(share, linesPerStep * kLine), ahead);
}

void PanelPrefetch::emit(LoopBuilder &loops, Value row, Value distance) const {
  if (isNone())
    return;
  Value first = loops.at(row, distance);
  for (int64_t line = 0; line < linesPerStep; ++line)
    loops.prefetch(first, line * kLine);
}

} // namespace tokamak::codegen
