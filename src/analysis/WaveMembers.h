//===- WaveMembers.h - which kernels of a block run at the same time ------------------------===//
// schedule-waves numbers the kernels of a wave in an attribute and puts them side by side. Whoever orders,
// places or counts kernels afterwards asks here.
#pragma once
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

namespace tokamak::analysis {

/// An i64 on tk.fusion operations; equal numbers are one wave, over the whole module.
inline constexpr const char *waveAttribute = "tk.wave";

/// `first` and the operations directly behind it that are in its wave: all of it where `first` is its first.
/// An operation that reads another one's results is never in its wave, whatever the attributes say.
llvm::SmallVector<mlir::Operation *> waveFrom(mlir::Operation *first);

} // namespace tokamak::analysis
