//===- EmissionLimits.h - what the kernel emitter cannot do ----------------------------------===//
#pragma once
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace tokamak::fusion {

enum class AnchorLimit {
  One,   ///< a convolution, matrix product or window a group
  Chain, ///< any number, their results read anywhere: it is for the emitter to say (KernelEstimate.h)
};

/// Whether one kernel can compute the operations of `group` (of one block, in block order). Where not, `why`
/// says it in a few words. Partitioners ask before every merge, so a group that they form always has a
/// kernel.
bool canEmit(llvm::ArrayRef<mlir::Operation *> group, std::string *why, AnchorLimit limit = AnchorLimit::One);

/// Results of a kernel that a merge may cause: with more pointers, addresses take more registers than there
/// are.
inline constexpr size_t mostResults = 8;

/// Whether `op` (or its composite body) holds one of the loop nests of which a kernel has at most one: a
/// convolution, a matrix product or a window.
bool holdsAnchorNest(mlir::Operation *op);

/// Whether `op` reduces, itself or in its composite body (softmax, a norm), without being such a loop nest.
bool reducesRows(mlir::Operation *op);

/// How many operators these are to a planner: one that reads many values (a concatenation) counts as several,
/// since its expression has a part for each.
size_t plannedSize(llvm::ArrayRef<mlir::Operation *> members);

} // namespace tokamak::fusion
