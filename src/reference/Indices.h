//===- Indices.h - indices that are data ----------------------------------------------------===//
#pragma once
#include "ir/Tk.h"

namespace tokamak::reference {

/// The position that `index` means on an axis of `extent` elements, negative ones counted from the end; an
/// error at `op` where there is none.
inline mlir::FailureOr<int64_t> resolveIndex(mlir::Operation *op, int64_t index, int64_t extent) {
  if (index >= extent || index < -extent)
    return op->emitOpError("index ") << index << " is out of range for an axis of " << extent
                                     << " elements; give indices that fit";
  return index < 0 ? index + extent : index;
}

} // namespace tokamak::reference
