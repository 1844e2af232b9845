//===- ShortRows.h - many short rows at once, one a lane ----------------------------------------===//
// A row of a few vectors is one long chain: its reductions fold a vector onto itself step by step, and each
// waits for the one before. As many rows as there are lanes run at once instead, each in a lane of its own:
// they are transposed on their way in and out, and everything between is elementwise. A row never sees its
// neighbours, so its result does not depend on them.
#pragma once
#include "codegen/kernel/RowPlan.h"

namespace tokamak::codegen {

/// What has to be transposed so that lanes can be rows.
struct ShortRows {
  llvm::SmallVector<mlir::Value> arguments, results;
};

/// Nothing where rows are long, few, or lie in memory in another way than one behind the other, and where
/// transposing takes longer than it saves. `stages` are the values that a row keeps. `columns`: elements of
/// the last axis in a row, where lanes would run along them alone, else 0: along the whole row.
std::optional<ShortRows> planShortRows(KernelBody &body, const KernelMemory &memory, const RowPlan &plan,
                                       llvm::ArrayRef<mlir::Value> stages, int64_t columns,
                                       const TargetDescription &target);

/// Copies rows between memory and scratch, a square of `lanes` elements of `lanes` rows at a time. Of rows
/// that are so short that squares would be mostly empty, and that lie directly one behind the other, whole
/// vectors are loaded and each column is picked out of them.
class RowTranspose {
public:
  /// `outerIndex` gives the index of the outer classes for each lane, without lanes in it. `rowCount` (type
  /// index) tells how many of the rows exist, null: all; the index of one that does not is that of another.
  RowTranspose(ElementBuilder &e, const RowPlan &plan, const TargetDescription &target,
               llvm::ArrayRef<llvm::SmallVector<Index>> outerIndex, mlir::Value rowCount)
      : e(e), plan(plan), target(target), outerIndex(outerIndex), rowCount(rowCount) {}

  void load(mlir::Value value, const Buffer &memory, const Buffer &scratch);
  void store(mlir::Value value, const Buffer &scratch, const Buffer &memory);

private:
  /// Calls `body(at, columns)` for each square: `at(c)` are the inner indices of its column c.
  using Columns = llvm::function_ref<llvm::SmallVector<Index>(const Index &)>;
  void forSquares(mlir::Value value, llvm::function_ref<void(Columns, int64_t)> body);
  /// For rows of `width` elements side by side: vector by vector of memory.
  void loadDense(mlir::Value value, const Buffer &memory, const Buffer &scratch, int64_t width);
  void storeDense(mlir::Value value, const Buffer &scratch, const Buffer &memory, int64_t width);
  /// Calls `body(number, list, index)` for each of `width` vectors of `memory`, whose elements `list` has
  /// under one axis, under a mask of those that belong to rows which exist. Not for vectors without any.
  using DenseVector = llvm::function_ref<void(int64_t, const Buffer &, llvm::ArrayRef<Index>)>;
  void forDense(mlir::Value value, const Buffer &memory, int64_t width, DenseVector body);
  llvm::SmallVector<Index> scratchIndex(mlir::Value value, int64_t column) const;

  ElementBuilder &e;
  const RowPlan &plan;
  const TargetDescription &target;
  llvm::ArrayRef<llvm::SmallVector<Index>> outerIndex;
  mlir::Value rowCount;
};

} // namespace tokamak::codegen
