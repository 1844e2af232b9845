//===- Views.h - values that lie inside the memory of others -------------------------------------===//
#pragma once
#include "codegen/host/Layouts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace tokamak::codegen {

/// The value whose memory `value` shows: reshapes are views of row-major memory.
mlir::Value viewedValue(mlir::Value value);

/// Concatenations whose operands are computed in their places in the result, and slices that are read where
/// they lie. Such a group needs no kernel. It takes that each part is one stretch of memory, or,
/// channel-blocked, one stretch an image, whole blocks each.
class ViewAssignment {
public:
  /// Writes the distance between images into the layouts of the views it finds.
  ViewAssignment(mlir::func::FuncOp program, LayoutAssignment &layouts);

  /// Element `elements` of the memory of `base`, which is no view itself.
  struct Location {
    mlir::Value base;
    int64_t elements = 0;
  };
  /// Where `value` begins; reshapes are followed as well.
  Location locate(mlir::Value value) const;
  bool isView(mlir::Operation *group) const { return groups.contains(group); }
  /// The values inside the memory of `base`.
  llvm::ArrayRef<mlir::Value> partsOf(mlir::Value base) const;

private:
  void tryConcat(tk::FusionOp group, tk::ConcatOp concat);
  void trySlice(tk::FusionOp group, tk::SliceOp slice);
  void place(mlir::Value part, mlir::Value whole, int64_t elements);
  void setPitches();

  LayoutAssignment &layouts;
  llvm::MapVector<mlir::Value, Location> parents; ///< a view's neighbour on the way to its base
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> parts;
  llvm::DenseSet<mlir::Operation *> groups;
};

/// Marks the groups that code generation for `target` will make views of.
void markViews(mlir::func::FuncOp program, const TargetDescription &target);

} // namespace tokamak::codegen
