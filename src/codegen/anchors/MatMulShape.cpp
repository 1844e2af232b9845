//===- MatMulShape.cpp - from tk.matmul to the extents of a matrix product ----------------===//
#include "codegen/anchors/MatMul.h"
#include "ir/Tk.h"
#include <numeric>

using namespace mlir;

namespace tokamak::codegen {

bool MatMulShape::canFoldBatch() const {
  auto product = [](ArrayRef<int64_t> extents) {
    return std::accumulate(extents.begin(), extents.end(), int64_t(1), std::multiplies<>());
  };
  return !transposeLhs && product(rhsBatch) == 1 && product(lhsBatch) == product(batch);
}

/// The batch extents of an operand, with leading ones up to `rank`.
static SmallVector<int64_t> batchOf(RankedTensorType type, size_t rank) {
  ArrayRef<int64_t> extents = type.getShape().drop_back(2);
  SmallVector<int64_t> batch(rank - extents.size(), 1);
  batch.append(extents.begin(), extents.end());
  return batch;
}

llvm::Expected<std::unique_ptr<MatMulPlan>> MatMulPlan::create(tk::MatMulOp op, bool rhsIsConstant,
                                                               const MatMulInputs &computed,
                                                               const TargetDescription &target) {
  RankedTensorType lhs = tk::tensorType(op.getLhs()), result = tk::tensorType(op.getResult());
  if (!result.getElementType().isF32())
    return llvm::createStringError("not float32");
  MatMulShape shape;
  shape.batch.assign(result.getShape().begin(), result.getShape().end() - 2);
  shape.lhsBatch = batchOf(lhs, shape.batch.size());
  shape.rhsBatch = batchOf(tk::tensorType(op.getRhs()), shape.batch.size());
  shape.m = result.getShape().end()[-2];
  shape.n = result.getShape().end()[-1];
  shape.k = lhs.getShape().end()[op.getTransposeLhs() ? -2 : -1];
  // Computed operands are stored as the product reads them.
  shape.transposeLhs = op.getTransposeLhs() && !computed.lhs;
  shape.transposeRhs = op.getTransposeRhs() && !computed.rhs;
  shape.computesLhs = computed.lhs;
  shape.computesRhs = computed.rhs;
  shape.computesLhsOnce = computed.lhsOnce;
  shape.oneBand = computed.oneBand;
  shape.rows = computed.rows;
  shape.rhsIsConstant = rhsIsConstant;
  if (shape.rows && shape.rows->foldsBatch && !shape.canFoldBatch())
    return llvm::createStringError("the rows do not count through all matrices");
  return create(shape, target);
}

} // namespace tokamak::codegen
