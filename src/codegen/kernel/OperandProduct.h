//===- OperandProduct.h - operands that a product of the same kernel computes matrix by matrix ------===//
// Queries, keys and values are the columns of one wide product, cut into heads. The kernel that attends needs
// those of one head at a time: it computes them into scratch, and the wide product's result need not exist.
#pragma once
#include "codegen/anchors/MatMul.h"
#include "codegen/kernel/KernelContext.h"

namespace tokamak::codegen {

class OperandProduct {
public:
  /// For `operand` of a product whose result has the batch extents `batch`; nothing where the operand's
  /// matrices are no rectangles of another product's result, or not each its own.
  static std::optional<OperandProduct> create(KernelBody &body, const KernelMemory &memory,
                                              mlir::Value operand, llvm::ArrayRef<int64_t> batch,
                                              const TargetDescription &target);

  mlir::Value value() const { return operand; }
  mlir::Operation *source() const { return origin; }
  int64_t columnsOfMatrix() const { return columns; }
  int64_t scratchBytes() const { return rows * rowStride * static_cast<int64_t>(sizeof(float)); }
  /// How often the weights are read.
  double weightPasses() const;
  void addPacking(std::vector<std::function<Tensor(const Tensor &)>> &packing) const;
  /// The operand in scratch, of one matrix.
  Buffer buffer() const;
  /// Computes the matrix at a batch index.
  Buffer emit(KernelContext &k, mlir::Value scratch, llvm::ArrayRef<RegionAxis> batchIndex) const;

private:
  /// offset + sum(strides[i] * batch index i)
  struct Base {
    int64_t offset = 0;
    llvm::SmallVector<int64_t> strides;
  };
  mlir::Value at(class LoopBuilder &loops, const Base &base, llvm::ArrayRef<RegionAxis> batchIndex) const;

  tk::MatMulOp origin;
  mlir::Value operand;
  size_t input = 0, weight = 0; ///< kernel arguments
  int64_t rows = 1, columns = 1, rowStride = 0;
  bool isTransposed = false; ///< the rectangle's columns are the operand's rows
  Base firstRow, segment;    ///< of the rectangle; a segment is so many columns
  int64_t matrices = 1;
  std::shared_ptr<MatMulPlan> plan; ///< a batch of segments
};

} // namespace tokamak::codegen
