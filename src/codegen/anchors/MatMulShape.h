//===- MatMulShape.h - extents of a matrix product, and how its batches broadcast ---------===//
#pragma once
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace tokamak::codegen {

/// How the rows of a product are cut into tiles and bands. Products of which one reads the rows of the other
/// from scratch have this in common.
struct MatMulRows {
  int64_t tile = 1, tilesPerBand = 1;
  bool foldsBatch = false; ///< rows count through all matrices
};

/// Extents of tk.matmul: [lhsBatch..., M, K] x [rhsBatch..., K, N]. Both batches have the rank of `batch`,
/// with extent 1 where an operand broadcasts.
struct MatMulShape {
  llvm::SmallVector<int64_t> batch, lhsBatch, rhsBatch;
  int64_t m = 1, n = 1, k = 1;
  std::optional<int64_t> rhsRowStride; ///< of a right operand in memory that is not transposed; nothing: n
  bool transposeLhs = false, transposeRhs = false;
  bool rhsIsConstant = false;
  bool computesLhs = false, computesRhs = false; ///< into scratch, not transposed
  bool computesLhsOnce = false;                  ///< dear to compute: a task needs all columns of its rows
  bool oneBand = false;                          ///< a task has all rows of a matrix
  std::optional<MatMulRows> rows;                ///< given

  /// Whether the batches of the left operand are just more rows, as the right one has none.
  bool canFoldBatch() const;
};

} // namespace tokamak::codegen
