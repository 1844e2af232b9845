//===- Repeats.h - kernels that compute expensive elements again and again --------------------------===//
#pragma once
#include "fusion/CostModel.h"
#include "fusion/MergeLog.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"

namespace tokamak::fusion {

/// How often a kernel may compute an expensive element, on average: the edges of bands and blocks are free.
inline constexpr double repeatsAllowed = 1.25;

/// Refuses one kernel of `from` and of `to`, which reads it, where the kernel would compute elements of
/// `from` that are dear, an exponential or a division, more than once for a value that `to` spreads over a
/// larger one, and would take longer than the two. Both are of one block, in its order.
Refusal refuseRepeats(const CostModel &model, llvm::ArrayRef<mlir::Operation *> from,
                      llvm::ArrayRef<mlir::Operation *> to);

} // namespace tokamak::fusion
