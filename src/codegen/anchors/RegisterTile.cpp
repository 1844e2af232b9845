//===- RegisterTile.cpp - how many accumulators a microkernel keeps, and in which shape ---===//
#include "codegen/anchors/RegisterTile.h"
#include <algorithm>
#include <limits>

namespace tokamak::codegen {

int64_t maxPositions(int64_t vectors, const TargetDescription &target) {
  return (target.vectorRegisters - 2 - vectors) / vectors;
}

double stepCycles(int64_t positions, int64_t vectors, const TargetDescription &target) {
  constexpr double kMulAddsPerCycle = 2, kLoadsPerCycle = 1.6, kMulAddLatency = 4, kL2BytesPerCycle = 32;
  constexpr double kLoopOverhead = 0.5;
  double arithmetic = static_cast<double>(positions * vectors) / kMulAddsPerCycle;
  double loads = static_cast<double>(positions + vectors) / kLoadsPerCycle;
  double weights = static_cast<double>(vectors * target.vectorBytes) / kL2BytesPerCycle;
  return std::max({arithmetic, loads, weights, kMulAddLatency}) + kLoopOverhead;
}

int64_t balancedTile(int64_t extent, int64_t width, int64_t &count, int64_t &larger) {
  count = (extent + width - 1) / width;
  if (count == 0) {
    larger = 0;
    return width;
  }
  int64_t smallest = extent / count;
  larger = extent - smallest * count;
  if (larger == 0) {
    larger = count;
    return smallest;
  }
  return smallest + 1;
}

/// Modelled cycles for one step of every tile of the problem.
static double totalCycles(const TileProblem &problem, const RegisterTile &tile,
                          const TargetDescription &target) {
  int64_t rowTiles, largerRows, columnTiles, largerColumns;
  int64_t rows = balancedTile(problem.rows, tile.rows, rowTiles, largerRows);
  int64_t columns = balancedTile(problem.columns, tile.columns, columnTiles, largerColumns);
  auto plane = [&](int64_t vectors) {
    auto cycles = [&](int64_t r, int64_t c) { return stepCycles(r * c, vectors, target); };
    auto row = [&](int64_t r) {
      return static_cast<double>(largerColumns) * cycles(r, columns) +
             static_cast<double>(columnTiles - largerColumns) * cycles(r, columns - 1);
    };
    return static_cast<double>(largerRows) * row(rows) +
           static_cast<double>(rowTiles - largerRows) * row(rows - 1);
  };
  int64_t full = problem.vectors / tile.vectors, rest = problem.vectors % tile.vectors;
  return static_cast<double>(full) * plane(tile.vectors) + (rest ? plane(rest) : 0);
}

RegisterTile chooseTile(const TileProblem &problem, const TargetDescription &target) {
  // More vectors than this buy nothing: enough independent accumulators hide the latency of one position.
  constexpr int64_t kMaxVectors = 8;
  int64_t rows = std::max<int64_t>(problem.rows, 1), columns = std::max<int64_t>(problem.columns, 1);
  RegisterTile best;
  double bestCycles = std::numeric_limits<double>::infinity();
  for (int64_t n = 1; n <= std::min(problem.vectors, kMaxVectors); ++n) {
    int64_t positions = std::min(maxPositions(n, target), problem.maxPositions);
    if (positions < 1)
      break;
    if (problem.vectorsMustDivide && problem.vectors % n != 0)
      continue;
    if (problem.wholeColumns && positions < columns)
      break;
    int64_t count, larger;
    RegisterTile tile;
    tile.vectors = n;
    tile.columns = balancedTile(columns, std::min(positions, columns), count, larger);
    tile.rows = std::max<int64_t>(1, std::min({positions / tile.columns, problem.maxRows, rows}));
    double cycles = totalCycles(problem, tile, target);
    if (cycles < bestCycles) {
      bestCycles = cycles;
      best = tile;
    }
  }
  return best;
}

} // namespace tokamak::codegen
