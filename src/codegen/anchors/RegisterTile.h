//===- RegisterTile.h - how many accumulators a microkernel keeps, and in which shape -----===//
#pragma once
#include "analysis/TargetDescription.h"
#include <cstdint>

namespace tokamak::codegen {

/// A tile of results in registers: rows x columns positions (pixels, or rows of a matrix) by `vectors`
/// vectors of lanes.
struct RegisterTile {
  int64_t rows = 1, columns = 1, vectors = 1;
  int64_t positions() const { return rows * columns; }
};

/// Most positions of a tile of `vectors` vectors: positions * vectors accumulators, the vectors of weights
/// and one broadcast must fit, with one register left free. (Measured: using the last one makes the register
/// allocator spill.)
int64_t maxPositions(int64_t vectors, const TargetDescription &target);

/// Modelled cycles of one multiply-accumulate step of a tile: two fused multiply-adds and two loads a cycle,
/// four cycles from an accumulator to its next use, and the stream of weights from the second cache level.
double stepCycles(int64_t positions, int64_t vectors, const TargetDescription &target);

/// Splits `extent` into the fewest tiles of at most `width` and makes them equal but for one: returns the
/// larger width; `count` gets how many tiles there are and `larger` how many have that width (the first
/// ones).
int64_t balancedTile(int64_t extent, int64_t width, int64_t &count, int64_t &larger);

/// What is to be tiled: a plane of rows x columns positions by `vectors` vectors, and what a tile must
/// respect.
struct TileProblem {
  int64_t rows = 1, columns = 1, vectors = 1;
  int64_t maxRows = 1;            ///< rows of a tile
  int64_t maxPositions = 64;      ///< positions of a tile
  bool vectorsMustDivide = false; ///< no ragged last tile of vectors
  bool wholeColumns = false;      ///< a tile has all columns
};
/// The tile with the least modelled time.
RegisterTile chooseTile(const TileProblem &problem, const TargetDescription &target);

} // namespace tokamak::codegen
