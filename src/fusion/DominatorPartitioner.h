//===- DominatorPartitioner.h - the published baseline -------------------------------------------===//
// Chen et al., "TVM: An Automated End-to-End Optimizing Compiler for Deep Learning" (OSDI 2018), as its graph
// partitioner does it today. Nodes are taken in topological order, three times; a node merges with everything
// on all paths to its post-dominator (the sink), or not at all. Therefore all paths that leave a group start
// at its root, and no group closes a cycle.
#pragma once
#include "analysis/PostDominatorTree.h"
#include "fusion/Decision.h"
#include "fusion/Partition.h"
#include "rewrite/PassState.h"
#include <string>
#include <vector>

namespace tokamak::fusion {

class DominatorPartitioner {
public:
  /// Operators of a group at most; without a bound the expression of a long chain grows without one.
  static constexpr size_t mostOperators = 256;

  /// `name` names the merges that fuel is taken for.
  DominatorPartitioner(mlir::Block &block, PassState &state, llvm::StringRef name);

  /// Forms the groups and appends the decisions to the log.
  void run();
  /// Numbers the groups of two and more from `next` on, in the operations' attributes; returns the next free
  /// number.
  int64_t annotate(int64_t next);

private:
  struct Refusal {
    Reason reason = Reason::Fused;
    std::string detail;
  };
  enum class Phase { Elementwise, Injective, Tuples };

  Refusal tryMerge(unsigned node, Phase phase);
  Refusal mergeAnchor(unsigned node);
  Refusal mergeElementwise(unsigned node);
  Refusal mergeInjective(unsigned node);
  /// Merges if the groups on all paths from `node` are of at most `onPath`, the sink's group satisfies
  /// `atSink`, the cap holds and the group can be emitted.
  Refusal mergeAlong(unsigned node, FusionKind onPath, llvm::function_ref<bool(FusionKind)> atSink);
  Refusal withoutParent(unsigned node) const;
  /// Names the opaque operator that reads the node's value; with no name where it lies further on.
  Refusal opaqueConsumer(unsigned node) const;
  /// `node` and everything on its paths to `sink`, without that; cut off at the cap.
  std::vector<unsigned> nodesBefore(unsigned node, unsigned sink) const;
  std::string nameOf(unsigned node) const;
  void logDecisions();

  analysis::PostDominatorTree tree;
  Partition groups;
  PassState &state;
  llvm::StringRef name;
  std::vector<Refusal> refusals; ///< a node's latest
};

} // namespace tokamak::fusion
