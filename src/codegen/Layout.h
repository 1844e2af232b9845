//===- Layout.h - how a value between kernels lies in memory ------------------------------===//
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace tokamak::codegen {

/// Row-major, or channel-blocked: axis 1 of [N, C, spatial...] split into blocks of `block` channels that
/// become the innermost axis, [N, ceil(C/block), spatial..., block]. The padding lanes of a ragged last block
/// hold anything.
struct Layout {
  int64_t block = 0; ///< 0: row-major
  /// Elements from one image [C, spatial...] of a blocked value to the next; 0: they lie side by side.
  int64_t pitch = 0;
  bool isBlocked() const { return block != 0; }
  bool operator==(const Layout &) const = default;
  /// Extents in memory order.
  llvm::SmallVector<int64_t> physicalShape(llvm::ArrayRef<int64_t> shape) const;
  int64_t physicalSize(
      llvm::ArrayRef<int64_t> shape) const; ///< elements of a value that is no view, padding included
};

} // namespace tokamak::codegen
