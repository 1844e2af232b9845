//===- WinogradChoice.cpp - where minimal filtering pays -------------------------------------===//
#include "codegen/anchors/WinogradChoice.h"
#include "codegen/anchors/RegisterTile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace tokamak::codegen {

/// Cycles for each of a tile's points that one vector of channels takes in the transforms, back and forth:
/// loads, stores to the second level, additions. Measured 3.9 to 6.2 from 32 channels at 160x160 to 128 at
/// 28x28.
static constexpr double cyclesPerPoint = 5;
static constexpr double leastGain = 0.1;

/// Seconds of multiply-adds in register tiles of `positions` x `vectors`.
static double multiplySeconds(double flops, int64_t positions, int64_t vectors,
                              const TargetDescription &target) {
  const double issued = static_cast<double>(positions * vectors) / 2;
  const double filled = issued / stepCycles(positions, vectors, target);
  return flops / (target.peakFlops * target.efficiency.denseConvolution * filled);
}

double modelledSeconds(const ConvolutionShape &shape, int64_t outputs, WeightSource weights,
                       const TargetDescription &target) {
  const int64_t lanes = target.lanes(), outVectors = llvm::divideCeil(shape.outChannels, lanes);
  const int64_t vectors = std::min<int64_t>(2, outVectors);
  const auto channelPairs = static_cast<double>(shape.inChannels * outVectors * lanes);
  double seconds = 0, taps = 9;
  if (outputs == 0) {
    TileProblem problem;
    problem.rows = problem.maxRows = shape.output[1];
    problem.columns = shape.output[2];
    problem.vectors = outVectors;
    const RegisterTile tile = chooseTile(problem, target);
    const auto positions = static_cast<double>(shape.batch * shape.output[1] * shape.output[2]);
    seconds = multiplySeconds(2 * taps * positions * channelPairs, tile.positions(), tile.vectors, target);
  } else {
    const int64_t side = outputs + 2, points = side * side;
    const int64_t tiles = shape.batch * static_cast<int64_t>(llvm::divideCeil(shape.output[1], outputs) *
                                                             llvm::divideCeil(shape.output[2], outputs));
    int64_t count = 0, larger = 0;
    const int64_t rows =
        balancedTile(std::max<int64_t>(tiles, 1), maxPositions(vectors, target), count, larger);
    taps = static_cast<double>(points);
    seconds =
        multiplySeconds(2 * taps * static_cast<double>(count * rows) * channelPairs, rows, vectors, target);
    const auto blocks = static_cast<double>(llvm::divideCeil(shape.inChannels, lanes) + outVectors);
    seconds += cyclesPerPoint * taps * static_cast<double>(tiles) * blocks / target.clockHz;
  }
  const MemoryLevel level = weights == WeightSource::Cache ? MemoryLevel::L3 : MemoryLevel::Memory;
  return std::max(seconds, 4 * taps * channelPairs / target.bandwidth[static_cast<size_t>(level)]);
}

int64_t chooseWinograd(const ConvolutionShape &shape, WeightSource weights, const TargetDescription &target) {
  auto seconds = [&](int64_t outputs) { return modelledSeconds(shape, outputs, weights, target); };
  const int64_t best = seconds(2) < seconds(4) ? 2 : 4;
  return seconds(best) < (1 - leastGain) * seconds(0) ? best : 0;
}

} // namespace tokamak::codegen
