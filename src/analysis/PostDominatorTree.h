//===- PostDominatorTree.h - where all paths from a value meet again ---------------------===//
// The tree that the published fusion algorithm works on (Chen et al., "TVM", OSDI 2018, and its graph
// partitioner). Over the data-flow graph of one block: a node is an operation, an edge leads from a producer
// to a consumer.
#pragma once
#include "ir/FusionKind.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace tokamak::analysis {

/// The operator's own kind; opaque for operations without one.
FusionKind kindOf(mlir::Operation *op);

class PostDominatorTree {
public:
  struct Edge {
    unsigned consumer; ///< index of a node
    /// The consumer's kind, but broadcast where an elementwise consumer reads a smaller operand: the consumer
    /// then reads each element several times.
    FusionKind kind;
  };
  struct Node {
    mlir::Operation *op;
    FusionKind kind;
    llvm::SmallVector<Edge, 2> consumers; ///< one edge a consumer, in block order
    bool pinned = false;                  ///< a result leaves the block: the value must stay visible
    std::optional<unsigned> parent; ///< nothing for a pinned or unused node, or where no node post-dominates
    unsigned depth = 1;             ///< 1 at a root
    FusionKind edgeKind = FusionKind::Elementwise; ///< the largest edge kind on any way to the parent
  };

  /// Constants and the terminator are no nodes. An operation nested in a region counts as its ancestor in the
  /// block. The block must be in topological order, which dominance of SSA values guarantees.
  explicit PostDominatorTree(mlir::Block &block);

  const std::vector<Node> &nodes() const { return all; } ///< in block order
  std::optional<unsigned> indexOf(mlir::Operation *op) const;

  /// One line a node: index, operator, kind, and its parent with the kind of the tree edge.
  void print(llvm::raw_ostream &out) const;

private:
  void connect();
  void findParent(Node &node);
  std::optional<unsigned> leastCommonAncestor(std::optional<unsigned> a, std::optional<unsigned> b,
                                              FusionKind &kind) const;

  mlir::Block &block;
  std::vector<Node> all;
  llvm::DenseMap<mlir::Operation *, unsigned> index;
};

} // namespace tokamak::analysis
