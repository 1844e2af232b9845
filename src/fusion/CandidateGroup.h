//===- CandidateGroup.h - operations as the group that they would be -----------------------===//
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/ArrayRef.h"

namespace tokamak::fusion {

/// The members (of one block, in block order) as a tk.fusion in a module of its own, for the emitter to
/// judge. Its operands are values that nothing computes.
mlir::OwningOpRef<mlir::ModuleOp> copyAsGroup(llvm::ArrayRef<mlir::Operation *> members);

} // namespace tokamak::fusion
