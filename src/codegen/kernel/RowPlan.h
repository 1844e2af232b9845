//===- RowPlan.h - what is a row of a group, and what it keeps ----------------------------------===//
#pragma once
#include "codegen/kernel/AxisClasses.h"
#include "codegen/kernel/KernelContext.h"

namespace tokamak::codegen {

/// A value that a task keeps in its scratch.
struct KeptValue {
  mlir::Value value;
  int64_t offset = 0; ///< bytes into the scratch
};

/// Axes that every operator of a group keeps are its outer loops; an index of theirs is a row.
struct RowPlan {
  llvm::SmallVector<AxisClasses::ClassId> outer; ///< outer loops, outermost first
  std::optional<AxisClasses::ClassId> laneClass; ///< the outer class that lanes run along, if any
  /// Neighbouring vectors of the lane class that a task works on line by line, the most it has.
  int64_t vectorsAtOnce = 1;
  /// A later loop reads lines again that no cache near to the core has any more.
  bool rereadsMemory = false;
  /// A task has as many rows as there are lanes, one a lane (ShortRows.h).
  bool isTransposed = false;
  std::vector<KeptValue> stages;
  /// Arguments whose rows are transposed on their way in; results that are on their way out, maybe stages.
  std::vector<KeptValue> transposedArguments, transposedResults;
  int64_t scratchBytes = 0;
  std::shared_ptr<AxisClasses> classes;

  bool lanesAreRows() const { return laneClass || isTransposed; }
  int64_t rows() const;
  int64_t tasks(int64_t lanes) const;
  /// Iterations of an outer loop where each class is a loop of its own: for the lane class, tasks along it.
  int64_t extentOf(AxisClasses::ClassId id, int64_t lanes) const;

  const KeptValue *stageOf(mlir::Value value) const; ///< null: it is none
  bool isOuter(mlir::Value value, size_t axis) const;
  /// Axes of `value` that lie inside a row, and their extents.
  llvm::SmallVector<size_t> innerAxes(mlir::Value value) const;
  llvm::SmallVector<int64_t> innerExtents(mlir::Value value) const;
  int64_t innerElements(mlir::Value value) const; ///< their product
  /// The index of `value` in the row that `outerIndex` (one a class of `outer`) and its inner indices name.
  llvm::SmallVector<Index> rowIndex(mlir::Value value, llvm::ArrayRef<Index> outerIndex,
                                    llvm::ArrayRef<Index> inner) const;
};

/// `rowsInside`: lanes run inside rows, and the last axis of the first result as well.
RowPlan planRows(KernelBody &body, const KernelMemory &memory, const TargetDescription &target,
                 bool rowsInside = false);

} // namespace tokamak::codegen
