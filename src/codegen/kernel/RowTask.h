//===- RowTask.h - one task of a row kernel: its rows, its scratch, loops inside a row --------------===//
#pragma once
#include "codegen/kernel/RowPlan.h"
#include "codegen/kernel/VectorLoops.h"

namespace tokamak::codegen {

/// Which vectors of rows a task's code is for: lanes of the last one may have no row.
enum class RowVectors { any, whole, last };

/// Rows that the last vector along them has, where it is not full; else 0.
int64_t rowsOfLastVector(const RowPlan &plan, int64_t lanes);

/// Code of one task: a row, or as many as there are lanes. Refers to what it was made from.
class RowTask {
public:
  /// `number` is the task's, of type index.
  RowTask(KernelContext &kernel, const RowPlan &plan, mlir::Value number, RowVectors vectors);
  RowTask(const RowTask &) = delete; // buffers refer to it
  RowTask &operator=(const RowTask &) = delete;

  KernelContext &k;
  const RowPlan &plan;
  IndexSpace space;
  ElementBuilder e;

  // Of a block of rows (RowPlan::isTransposed): their indices lane by lane, and how many of them there are
  // (type index) where it may not be full.
  llvm::SmallVector<llvm::SmallVector<Index>> laneRows;
  mlir::Value rowsLeft;

  Buffer scratch(const KeptValue &kept);
  /// The index of `value` in this row.
  llvm::SmallVector<Index> rowIndex(mlir::Value value, llvm::ArrayRef<Index> inner) const {
    return plan.rowIndex(value, rows, inner);
  }

  /// Lanes run over rows: plain loops inside.
  void forScalars(llvm::ArrayRef<int64_t> extents, llvm::function_ref<void(llvm::ArrayRef<Index>)> body);
  /// Calls `body` with the index of each element of `value` in this row.
  void forElements(mlir::Value value, llvm::function_ref<void(llvm::ArrayRef<Index>)> body);
  /// Calls `body` for each of the vectors that the task works on side by side, in a loop where they are
  /// several.
  void forVectors(llvm::function_ref<void()> body);

  /// To scratch, which has room for whole vectors: what a masked store leaves has to reach the cache before
  /// it can be loaded.
  void storeWhole(mlir::Value value, const Buffer &memory, llvm::ArrayRef<Index> index);

  /// Picks how many axes of `nest` run as one vector loop. The probe sees this row's buffers.
  using Probe = std::function<void(ElementBuilder &, llvm::ArrayRef<Index>)>;
  void chooseCollapse(VectorNest &nest, const Probe &emit);

private:
  void bindBlock(const Index &block);
  void bindColumns();
  /// Sets the mask where the vector may not be full, and returns how many lanes have a row, else null.
  /// `remaining`: rows from the first of the vector on.
  mlir::Value maskRows(const Index &remaining);
  double probeCost(const VectorNest &nest, const Probe &emit);

  const RowVectors vectors;
  llvm::SmallVector<Index> rows; ///< one an outer class
  // Of the lane class: its place in `rows`; all its elements, by vectors; which of these are the task's.
  size_t laneAxis = 0;
  VectorNest columns;
  Index firstColumn;
  mlir::Value firstVector, lastVector; ///< [first, last), where they are several
};

} // namespace tokamak::codegen
