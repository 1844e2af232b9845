//===- Block.h - evaluating the operations of a block -------------------------------------===//
#pragma once
#include "reference/Evaluate.h"
#include "reference/Register.h"

namespace tokamak::reference {

using Values = llvm::DenseMap<mlir::Value, Tensor>;

/// Runs the block's operations on `values`, which holds its arguments and all it uses from outside, and adds
/// their results to it. Returns the operands of the terminator. `done`, if given, sees each operation with
/// its results; see Evaluate.h for `revise`.
Result evaluateBlock(mlir::Block &block, Values &values,
                     llvm::function_ref<void(mlir::Operation *, Operands)> done = nullptr,
                     Revise revise = nullptr);

/// The values from outside that the regions of `op` use, in the order in which models expect them.
llvm::SmallVector<mlir::Value> capturedValues(mlir::Operation *op);

} // namespace tokamak::reference
