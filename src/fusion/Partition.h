//===- Partition.h - groups of one block while they grow ------------------------------------------===//
#pragma once
#include "analysis/PostDominatorTree.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>
#include <vector>

namespace tokamak::fusion {

/// Disjoint groups of the nodes of a post-dominator tree; at first each node is one. A group is known by its
/// root: the node that all paths from the group's other nodes lead to.
class Partition {
public:
  explicit Partition(const analysis::PostDominatorTree &tree);

  unsigned rootOf(unsigned node);
  /// The kind of the node's group: its root's own, raised by the anchor that merged into it. An injective
  /// node that merges into an elementwise one leaves the kind, as in the published algorithm.
  FusionKind kindOf(unsigned node) { return groups[rootOf(node)].kind; }
  llvm::ArrayRef<unsigned> membersOf(unsigned node) { return groups[rootOf(node)].members; }

  /// The published baseline spells a concatenation as a tuple and an injective operator behind it, which
  /// takes the tuple in when its turn comes; here one node is both. From then on the node counts as
  /// injective.
  void absorbTuple(unsigned node) { groups[rootOf(node)].kind = FusionKind::Injective; }
  /// Merges the groups of `nodes` into the group of `sink`.
  void merge(llvm::ArrayRef<unsigned> nodes, unsigned sink);

private:
  struct Group {
    unsigned parent; ///< itself at a root
    FusionKind kind;
    bool hasAnchor;
    std::vector<unsigned> members; ///< at a root
  };
  std::vector<Group> groups;
};

} // namespace tokamak::fusion
