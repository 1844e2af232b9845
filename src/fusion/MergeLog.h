//===- MergeLog.h - decisions of the passes that merge groups ---------------------------------------===//
#pragma once
#include "fusion/Decision.h"
#include "fusion/GroupGraph.h"
#include "mlir/IR/Operation.h"
#include "rewrite/PassState.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

namespace tokamak::fusion {

/// Why a pass leaves two groups apart, with the numbers that decided.
struct Refusal {
  Reason reason = Reason::Fused; ///< Fused: no refusal
  std::string detail;
  explicit operator bool() const { return reason != Reason::Fused; }
};

/// Refuses where another path than the edge leads from the one group to the other.
Refusal refusePath(const GroupGraph &groups, GroupGraph::Node from, GroupGraph::Node to);

/// Where a pass notes what becomes of edges that have a decision already.
class MergeLog {
public:
  explicit MergeLog(PassState &state) : state(state) {}

  /// Notes on every edge from an operation of `from` to one of `to` that they are in one group now.
  void merged(llvm::ArrayRef<mlir::Operation *> from, llvm::ArrayRef<mlir::Operation *> to,
              const std::string &detail) {
    note(from, to, Reason::Fused, detail);
  }
  /// Notes why they are not.
  void refused(llvm::ArrayRef<mlir::Operation *> from, llvm::ArrayRef<mlir::Operation *> to,
               const Refusal &refusal) {
    note(from, to, refusal.reason, refusal.detail);
  }

  /// Notes why operators of one group are in two now.
  void separated(llvm::ArrayRef<mlir::Operation *> from, llvm::ArrayRef<mlir::Operation *> to,
                 const Refusal &refusal) {
    note(from, to, refusal.reason, refusal.detail, /*wasFused=*/true);
  }

private:
  void note(llvm::ArrayRef<mlir::Operation *> from, llvm::ArrayRef<mlir::Operation *> to, Reason reason,
            const std::string &detail, bool wasFused = false);
  /// Puts the decision in the place of one on an edge of the same names that says `wasFused`; at the end
  /// where there is no decision on such an edge. Several operators may come from one node: what says
  /// otherwise is another edge of the same names, and stays.
  void put(Decision decision, bool wasFused);

  PassState &state;
  /// Of the first `indexed` decisions, by "producer\nconsumer".
  llvm::StringMap<llvm::SmallVector<size_t, 1>> places;
  size_t indexed = 0;
};

} // namespace tokamak::fusion
