//===- Candidate.h - operators as the group that they would be --------------------------------------===//
#pragma once
#include "analysis/Traffic.h"
#include "ir/Tk.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tokamak::fusion {

/// A copy of some operators as a tk.fusion in a module of its own, for the emitter and the cost model to
/// judge before the graph is changed. Constants are copied as well.
class Candidate {
public:
  /// `members` are of one block, in its order. The values of `internal` ones are no results, whoever reads
  /// them; values that nothing reads are.
  explicit Candidate(llvm::ArrayRef<mlir::Operation *> members,
                     const llvm::SmallPtrSetImpl<mlir::Operation *> *internal = nullptr);

  tk::FusionOp group() const { return fusion; }
  analysis::Traffic traffic() const { return analysis::trafficOf(group()); }
  /// The values that the group reads and yields, as they are in the graph.
  llvm::ArrayRef<mlir::Value> inputs() const { return read; }
  llvm::ArrayRef<mlir::Value> outputs() const { return yielded; }

private:
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mutable tk::FusionOp fusion;
  llvm::SmallVector<mlir::Value> read, yielded;
};

/// Bytes of activations that a kernel of the operators reads and writes.
inline int64_t activationBytes(const Candidate &candidate) {
  analysis::Traffic traffic = candidate.traffic();
  return traffic.bytesRead + traffic.bytesWritten;
}

} // namespace tokamak::fusion
