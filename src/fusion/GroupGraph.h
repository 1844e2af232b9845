//===- GroupGraph.h - the groups of one block as a graph that merges keep acyclic -------------------===//
// What passes behind the partitioner work on. Its nodes are groups, and operations that no kernel can hold;
// an edge leads from a node to one that reads its values. The nodes stand in a topological order that each
// merge mends near the merged ones only (after Pearce & Kelly, "A dynamic topological sort algorithm for
// directed acyclic graphs", JEA 2006), so a pass takes n log n steps as long as ways around are short.
#pragma once
#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <vector>

namespace tokamak::fusion {

class GroupGraph {
public:
  using Node = unsigned; ///< known by any node that merged into it
  using Members = llvm::SmallVector<mlir::Operation *>;

  /// Reads the groups from the operations' attributes. An operator without one becomes a group of its own,
  /// numbered from `next` on, which is counted up.
  GroupGraph(mlir::Block &block, int64_t &next);

  /// The nodes there are now, in topological order.
  std::vector<Node> nodes() const;
  /// Whether the node has neither merged into another nor lost all operations.
  bool isCurrent(Node node) const { return root(node) == node && !all[node].members.empty(); }
  /// The node of an operation of the block, or of one nested in such; nothing for constants, the terminator
  /// and operations elsewhere.
  std::optional<Node> nodeOf(mlir::Operation *op) const;
  /// Whether a kernel computes the node; none computes what nothing uses.
  bool isGroup(Node node) const { return all[root(node)].number >= 0 && all[root(node)].isUsed; }
  /// In block order.
  llvm::ArrayRef<mlir::Operation *> membersOf(Node node) const { return all[root(node)].members; }
  /// The members that the two would have as one, in block order.
  Members membersOfBoth(Node a, Node b) const;
  /// Distinct nodes that read values of `node`, in topological order.
  llvm::SmallVector<Node> consumersOf(Node node) const;

  enum class Path { None, Around, TooLong };
  /// Whether a path from `from` to its consumer `to` leads through a third node: as one, they would depend
  /// on themselves. Ways of more steps than are searched are taken to be one.
  Path pathAround(Node from, Node to) const;

  /// Makes one group of two, which no path around may connect.
  void merge(Node from, Node to);
  /// Takes a new operation into a group that stands behind all that the operation reads.
  void add(mlir::Operation *op, Node node);
  /// Takes an operation out that nothing uses any more, and erases it.
  void erase(mlir::Operation *op);

private:
  struct Entry {
    explicit Entry(Node self, int64_t number = -1) : parent(self), number(number) {}
    Node parent;    ///< itself at a root
    int64_t number; ///< of the group; negative for operations that no kernel can hold
    bool isUsed = false;
    Members members;
    std::vector<Node> producers, consumers; ///< may repeat, and may name nodes that merged
    // The topological order is a list; labels increase along it.
    Node previous = 0, next = 0;
    int64_t label = 0;
  };

  Node root(Node node) const;
  bool isBefore(Node a, Node b) const { return all[a].label < all[b].label; }
  /// Nodes that follow `from`, directly or not, and stand before `to`, in order. At most `limit` edges are
  /// looked at.
  Path between(Node from, Node to, llvm::SmallVectorImpl<Node> &found, size_t limit) const;
  void connect();
  /// Puts all nodes into topological order. Groups that wait for each other keep their place in the block.
  void sortAll();
  void unlink(Node node);
  void linkBehind(Node node, Node place);
  void relabel();

  mlir::Block &block;
  mutable std::vector<Entry> all;
  llvm::DenseMap<mlir::Operation *, Node> nodeByOperation;
  Node sentinel = 0; ///< before the first and behind the last
};

/// Calls `visit` with the groups of each block of the module that holds graph operators.
void forEachGroupGraph(mlir::ModuleOp module, llvm::function_ref<void(GroupGraph &)> visit);

} // namespace tokamak::fusion
