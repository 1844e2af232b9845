//===- Scatter.h - which elements the updates of a scatter go to ----------------------------===//
#pragma once
#include "ir/Tk.h"
#include <vector>

namespace tokamak::reference {

/// The updates, in order, go to blocks of `block` elements each, of which number i starts at `offsets[i]`.
struct ScatterTargets {
  std::vector<int64_t> offsets;
  int64_t block = 1;
};
/// Into a tensor of `shape`; fails with a diagnostic at the operation where an index is out of range.
mlir::FailureOr<ScatterTargets> scatterTargets(tk::ScatterElementsOp op, llvm::ArrayRef<int64_t> shape,
                                               const Tensor &indices);
mlir::FailureOr<ScatterTargets> scatterTargets(tk::ScatterNDOp op, llvm::ArrayRef<int64_t> shape,
                                               const Tensor &indices);

} // namespace tokamak::reference
