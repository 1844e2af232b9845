//===- Groups.h - how a partition is written down in the graph -------------------------------===//
// Partitioners number their groups in an attribute of the operations; outline-groups reads it. Operations of
// one group lie in one block.
#pragma once
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringRef.h"

namespace tokamak::fusion {

/// An i64 on each grouped operation; equal numbers are one group, over the whole module.
inline constexpr llvm::StringLiteral groupAttribute = "tk.group";

void setGroup(mlir::Operation *op, int64_t group);

/// Operators that a kernel can hold: neither constants nor library calls, control flow, groups or
/// terminators.
bool isGroupable(mlir::Operation *op);

} // namespace tokamak::fusion
