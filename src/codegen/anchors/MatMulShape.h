//===- MatMulShape.h - extents of a matrix product, and how its batches broadcast ---------===//
#pragma once
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace tokamak::codegen {

/// Extents of tk.matmul: [lhsBatch..., M, K] x [rhsBatch..., K, N]. Both batches have the rank of `batch`,
/// with extent 1 where an operand broadcasts.
struct MatMulShape {
  llvm::SmallVector<int64_t> batch, lhsBatch, rhsBatch;
  int64_t m = 1, n = 1, k = 1;
  bool transposeLhs = false, transposeRhs = false;
  bool rhsIsConstant = false;
  bool computesLhs = false, computesRhs = false; ///< into scratch, not transposed
};

} // namespace tokamak::codegen
