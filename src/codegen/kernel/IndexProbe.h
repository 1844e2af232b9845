//===- IndexProbe.h - which elements an operator reads, as index maps ---------------------------===//
#pragma once
#include "codegen/expression/ElementBuilder.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tokamak::codegen {

/// The elements read to compute one element of a value.
struct Access {
  mlir::Value tensor;
  llvm::SmallVector<Index> index; ///< over one uniform atom for each axis of the value, and loop variables
};

/// Emits element (i0, i1, ...) of `value` into a throw-away block and records which elements of other values
/// it asks for. `stopAt` says where to stop pulling; block arguments always stop.
class IndexProbe {
public:
  IndexProbe(mlir::Value value, llvm::function_ref<bool(mlir::Value)> stopAt);

  llvm::ArrayRef<Access> accesses() const { return recorded; }
  IndexSpace &space() { return indices; }
  /// The atom of an axis of the value (a constant 0 for extents below 2).
  const Index &axis(size_t i) const { return axes[i]; }
  size_t rank() const { return axes.size(); }
  llvm::ArrayRef<Index> ownIndex() const { return axes; }
  /// True if `index` names the very element of a tensor of the value's shape.
  bool isIdentity(llvm::ArrayRef<Index> index) const { return index == llvm::ArrayRef<Index>(axes); }

private:
  IndexSpace indices;
  llvm::SmallVector<Index> axes;
  llvm::SmallVector<Access> recorded;
};

} // namespace tokamak::codegen
