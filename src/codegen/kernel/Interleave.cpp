//===- Interleave.cpp - the columns of short rows that lie one behind the other ----------------------===//
// Of an even number of columns those with even numbers and those with odd ones are taken apart first, pair by
// pair of vectors: both halves are rows of half as many elements then. Of an odd number each column has lanes
// in each vector, and adds up from them.
#include "codegen/kernel/Interleave.h"

namespace tokamak::codegen {

using namespace mlir;

namespace {

/// Every second one, from `first` on.
LoopBuilder::Values everySecond(ArrayRef<Value> values, size_t first) {
  LoopBuilder::Values result;
  for (size_t i = first; i < values.size(); i += 2)
    result.push_back(values[i]);
  return result;
}

/// The vector whose lane i is what `laneOf(source, i)` says of one of the sources, if not -1; of one only.
Value pick(LoopBuilder &loops, ArrayRef<Value> sources,
           llvm::function_ref<int64_t(int64_t source, int64_t lane)> laneOf) {
  const int64_t lanes = loops.lanes();
  Value sum = sources.front();
  for (auto [number, source] : llvm::enumerate(sources)) {
    SmallVector<int64_t> from;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int64_t at = laneOf(static_cast<int64_t>(number), lane);
      from.push_back(at < 0 ? lane : lanes + at);
    }
    sum = loops.shuffle(sum, source, from);
  }
  return sum;
}

} // namespace

LoopBuilder::Values columnsOf(LoopBuilder &loops, ArrayRef<Value> vectors) {
  const int64_t lanes = loops.lanes();
  const auto width = static_cast<int64_t>(vectors.size());
  LoopBuilder::Values columns(vectors.begin(), vectors.end());
  if (width == 1)
    return columns;
  if (width % 2 != 0) {
    for (int64_t column = 0; column < width; ++column)
      columns[static_cast<size_t>(column)] = pick(loops, vectors, [&](int64_t vector, int64_t row) {
        const int64_t element = row * width + column;
        return element / lanes == vector ? element % lanes : -1;
      });
    return columns;
  }
  for (size_t parity : {0, 1}) {
    SmallVector<int64_t> picked;
    for (int64_t lane = 0; lane < lanes; ++lane)
      picked.push_back(2 * lane + static_cast<int64_t>(parity));
    LoopBuilder::Values half;
    for (size_t i = 0; i < vectors.size(); i += 2)
      half.push_back(loops.shuffle(vectors[i], vectors[i + 1], picked));
    half = columnsOf(loops, half);
    for (auto [i, column] : llvm::enumerate(half))
      columns[2 * i + parity] = column;
  }
  return columns;
}

LoopBuilder::Values rowsOf(LoopBuilder &loops, ArrayRef<Value> columns) {
  const int64_t lanes = loops.lanes();
  const auto width = static_cast<int64_t>(columns.size());
  LoopBuilder::Values vectors(columns.begin(), columns.end());
  if (width == 1)
    return vectors;
  if (width % 2 != 0) {
    for (int64_t vector = 0; vector < width; ++vector)
      vectors[static_cast<size_t>(vector)] = pick(loops, columns, [&](int64_t column, int64_t lane) {
        const int64_t element = vector * lanes + lane;
        return element % width == column ? element / width : -1;
      });
    return vectors;
  }
  const LoopBuilder::Values even = rowsOf(loops, everySecond(columns, 0)),
                            odd = rowsOf(loops, everySecond(columns, 1));
  for (size_t i = 0; i < even.size(); ++i)
    for (size_t half : {0, 1}) {
      SmallVector<int64_t> picked;
      for (int64_t lane = 0; lane < lanes; ++lane)
        picked.push_back(lane % 2 * lanes + static_cast<int64_t>(half) * lanes / 2 + lane / 2);
      vectors[2 * i + half] = loops.shuffle(even[i], odd[i], picked);
    }
  return vectors;
}

int64_t stepsOfInterleaving(int64_t width, const TargetDescription &target) {
  // Without mask registers two instructions take two vectors apart, three pick lanes of either.
  const int64_t apart = target.hasMaskRegisters ? 1 : 2, picking = target.hasMaskRegisters ? 1 : 3;
  if (width == 1)
    return 0;
  return width % 2 == 0 ? width * apart + 2 * stepsOfInterleaving(width / 2, target)
                        : width * width * picking;
}

} // namespace tokamak::codegen
