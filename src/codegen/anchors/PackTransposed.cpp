//===- PackTransposed.cpp - transposes rows of a matrix into a panel while running --------===//
#include "codegen/anchors/PackTransposed.h"
#include <algorithm>

using namespace mlir;

namespace tokamak::codegen {

// log2(lanes) stages, each of which swaps off-diagonal blocks.
void transposeSquare(LoopBuilder &loops, LoopBuilder::Values &rows) {
  int64_t lanes = loops.lanes();
  for (int64_t block = 1; block < lanes; block *= 2) {
    llvm::SmallVector<int64_t> upper, lower;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      bool isRight = lane & block;
      upper.push_back(isRight ? lanes + lane - block : lane);
      lower.push_back(isRight ? lanes + lane : lane + block);
    }
    for (int64_t row = 0; row < lanes; ++row) {
      if (row & block)
        continue;
      Value a = rows[row], b = rows[row + block];
      rows[row] = loops.shuffle(a, b, upper);
      rows[row + block] = loops.shuffle(a, b, lower);
    }
  }
}

void emitPackTransposed(LoopBuilder &loops, Value matrix, Value panel, int64_t rows, int64_t extent,
                        int64_t width) {
  int64_t lanes = loops.lanes();
  // One square: `columns` elements of each of its rows, the first of which is `firstRow`.
  auto square = [&](Value from, Value to, int64_t firstRow, int64_t columns) {
    LoopBuilder::Values vectors;
    for (int64_t row = firstRow; row < firstRow + lanes; ++row)
      vectors.push_back(row < rows ? loops.loadFirst(from, row * extent, columns) : loops.zero());
    transposeSquare(loops, vectors);
    for (int64_t column = 0; column < columns; ++column)
      loops.store(vectors[column], to, column * width + firstRow);
  };
  auto squares = [&](Value from, Value to, int64_t columns) {
    for (int64_t firstRow = 0; firstRow < width; firstRow += lanes)
      square(from, to, firstRow, columns);
  };
  int64_t whole = extent / lanes * lanes;
  if (whole > 0)
    loops.loop(loops.index(0), loops.index(whole), lanes,
               [&](Value k) { squares(loops.at(matrix, k), loops.at(panel, loops.mul(k, width)), lanes); });
  if (extent > whole)
    squares(loops.at(matrix, whole), loops.at(panel, whole * width), extent - whole);
}

} // namespace tokamak::codegen
