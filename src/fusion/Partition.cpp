//===- Partition.cpp - groups of one block while they grow ----------------------------------------===//
#include "fusion/Partition.h"
#include <algorithm>

using namespace tokamak;
using namespace tokamak::fusion;

Partition::Partition(const analysis::PostDominatorTree &tree) {
  for (const auto &node : tree.nodes()) {
    const auto i = static_cast<unsigned>(groups.size());
    groups.push_back(Group{i, node.kind, node.kind == FusionKind::Anchor, {i}});
  }
}

unsigned Partition::rootOf(unsigned node) {
  unsigned root = node;
  while (groups[root].parent != root)
    root = groups[root].parent;
  while (groups[node].parent != root)
    node = std::exchange(groups[node].parent, root);
  return root;
}

void Partition::merge(llvm::ArrayRef<unsigned> nodes, unsigned sink) {
  Group &target = groups[rootOf(sink)];
  for (unsigned node : nodes) {
    Group &group = groups[rootOf(node)];
    if (&group == &target)
      continue;
    group.parent = target.parent;
    target.members.insert(target.members.end(), group.members.begin(), group.members.end());
    group.members = {};
    if (group.hasAnchor) {
      target.hasAnchor = true;
      target.kind = std::max(target.kind, group.kind);
    }
  }
}
