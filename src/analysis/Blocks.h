//===- Blocks.h - the blocks that passes work on --------------------------------------------===//
#pragma once
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tokamak::analysis {

/// True for operators whose body is one kernel or one ONNX node (tk.fusion, tk.composite): passes see them as
/// one.
bool isWhole(mlir::Operation *op);

/// Calls `visit` on each block below `root` that holds graph operators: bodies of functions and of control
/// flow, outer before inner. `visit` may change the block.
void forEachGraphBlock(mlir::Operation *root, llvm::function_ref<void(mlir::Block &)> visit);

/// The ones of `members`, which are in block order, that `last` is computed from, and `last` itself, in that
/// order. (mlir::getBackwardSlice ends at operators with isolated bodies, such as composites.)
llvm::SmallVector<mlir::Operation *> sliceWithin(llvm::ArrayRef<mlir::Operation *> members,
                                                 mlir::Operation *last);

} // namespace tokamak::analysis
