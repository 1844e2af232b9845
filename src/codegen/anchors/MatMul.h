//===- MatMul.h - matrix products as register-tiled kernels -----------------------------===//
#pragma once
#include "codegen/anchors/Anchor.h"
#include "codegen/anchors/InputRegion.h"
#include "codegen/anchors/MatMulShape.h"
#include "ir/Tensor.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace tokamak::tk {
class MatMulOp;
} // namespace tokamak::tk

namespace tokamak::codegen {

/// Which operands are not in memory, but computed part by part.
struct MatMulInputs {
  bool lhs = false, rhs = false;
  bool lhsOnce = false;           ///< the left one is dear to compute
  bool oneBand = false;           ///< a task has all rows of a matrix
  std::optional<MatMulRows> rows; ///< given by the product that reads the result from scratch
};
/// What computes a part of them; null for operands in memory.
struct MatMulInputFns {
  MatrixInputFn lhs, rhs;
};

/// Rows of a product: tiles [first, last) of the matrix at the batch index (empty: of all matrices).
struct MatMulBand {
  llvm::SmallVector<RegionAxis> batch; ///< begin only
  mlir::Value firstTile, lastTile;
};

/// Elements between the rows of a computed left operand of depth `k`: whole vectors, and not all rows in one
/// set of the first-level cache.
int64_t computedRowStride(int64_t k, const TargetDescription &target);

/// How one tk.matmul is computed. Lanes run over N (the last axis of the result). Float32 only, row-major
/// operands of any batch broadcasting and transposition. A constant right operand is packed when compiling;
/// otherwise it is read in place, or packed panel by panel into scratch.
class MatMulPlan {
public:
  virtual ~MatMulPlan() = default;
  /// A plan, or the reason why this product has none (the caller then emits the plain element expression).
  static llvm::Expected<std::unique_ptr<MatMulPlan>>
  create(tk::MatMulOp op, bool rhsIsConstant, const MatMulInputs &computed, const TargetDescription &target);
  static llvm::Expected<std::unique_ptr<MatMulPlan>> create(const MatMulShape &shape,
                                                            const TargetDescription &target);
  /// Whether the kernel wants `pack(rhs)` in place of the right operand.
  virtual bool packsRhs() const = 0;
  virtual Tensor pack(const Tensor &rhs) const = 0;
  virtual int64_t taskCount() const = 0;
  /// Bytes of scratch that a task needs (0: none).
  virtual int64_t scratchBytes() const { return 0; }
  virtual MatMulRows rows() const = 0;
  virtual int64_t tileCount() const = 0; ///< of rows
  /// How often an element of a computed operand is computed, on average.
  virtual double lhsRepeats() const { return 1; }
  virtual double rhsRepeats() const { return 1; }
  /// Emits tasks [begin, end) (type index). Pointers are !llvm.ptr. Each output vector goes to `epilogue`
  /// once: axes before the vector axis are the batch axes and the row, none behind. Lanes beyond `validLanes`
  /// hold anything. Pointers of computed operands are null, and so are the functions of the others.
  virtual void emit(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value lhs, mlir::Value rhs,
                    mlir::Value scratch, mlir::Value begin, mlir::Value end, const EpilogueFn &epilogue,
                    const MatMulInputFns &compute = {}) const = 0;
  /// Emits all columns of some rows.
  virtual void emitBand(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value lhs, mlir::Value rhs,
                        mlir::Value scratch, const MatMulBand &band, const EpilogueFn &epilogue,
                        const MatMulInputFns &compute = {}) const = 0;
};

} // namespace tokamak::codegen
