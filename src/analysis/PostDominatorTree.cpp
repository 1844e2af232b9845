//===- PostDominatorTree.cpp - where all paths from a value meet again -------------------===//
#include "analysis/PostDominatorTree.h"
#include "ir/Tk.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::analysis;

FusionKind analysis::kindOf(Operation *op) {
  auto kinded = llvm::dyn_cast<tk::FusionKindInterface>(op);
  return kinded ? kinded.getFusionKind() : FusionKind::Opaque;
}

static FusionKind larger(FusionKind a, FusionKind b) { return std::max(a, b); }

/// The kind of the edge along which `consumer` reads `value`.
static FusionKind edgeKindOf(Value value, Operation *consumer) {
  FusionKind kind = kindOf(consumer);
  if (kind != FusionKind::Elementwise)
    return kind;
  auto read = llvm::dyn_cast<ShapedType>(value.getType());
  auto written = llvm::dyn_cast<ShapedType>(consumer->getResult(0).getType());
  bool sameShape = read && written && read.getShape() == written.getShape();
  return sameShape ? kind : FusionKind::Broadcast;
}

PostDominatorTree::PostDominatorTree(Block &block) : block(block) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>() || op.hasTrait<OpTrait::ConstantLike>())
      continue;
    index[&op] = all.size();
    all.push_back(Node{.op = &op, .kind = kindOf(&op), .consumers = {}, .parent = std::nullopt});
  }
  connect();
  // Consumers come later in the block, so their place in the tree is known when a producer asks for it.
  for (size_t i = all.size(); i-- > 0;)
    findParent(all[i]);
}

std::optional<unsigned> PostDominatorTree::indexOf(Operation *op) const {
  auto found = index.find(op);
  return found == index.end() ? std::nullopt : std::optional<unsigned>(found->second);
}

void PostDominatorTree::connect() {
  for (Node &node : all) {
    llvm::SmallDenseMap<unsigned, size_t, 4> known; // places in the list
    for (OpOperand &use : node.op->getUses()) {
      Operation *user = block.findAncestorOpInBlock(*use.getOwner());
      std::optional<unsigned> consumer = indexOf(user);
      if (!consumer) { // the terminator
        node.pinned = true;
        continue;
      }
      FusionKind kind = user == use.getOwner() ? edgeKindOf(use.get(), user) : kindOf(user);
      auto [place, isNew] = known.try_emplace(*consumer, node.consumers.size());
      if (isNew)
        node.consumers.push_back({*consumer, kind});
      else
        node.consumers[place->second].kind = larger(node.consumers[place->second].kind, kind);
    }
    llvm::sort(node.consumers, [](const Edge &a, const Edge &b) { return a.consumer < b.consumer; });
  }
}

void PostDominatorTree::findParent(Node &node) {
  if (node.pinned || node.consumers.empty()) {
    node.edgeKind = FusionKind::Opaque;
    return;
  }
  std::optional<unsigned> meet = node.consumers.front().consumer;
  FusionKind kind = node.consumers.front().kind;
  for (const Edge &edge : llvm::drop_begin(node.consumers)) {
    kind = larger(kind, edge.kind);
    meet = leastCommonAncestor(meet, edge.consumer, kind);
  }
  node.parent = meet;
  node.depth = meet ? all[*meet].depth + 1 : 1;
  node.edgeKind = kind;
}

/// Climbs from both until they meet; `kind` takes up the kinds of the edges climbed.
std::optional<unsigned> PostDominatorTree::leastCommonAncestor(std::optional<unsigned> a,
                                                               std::optional<unsigned> b,
                                                               FusionKind &kind) const {
  auto climb = [&](std::optional<unsigned> &from) {
    kind = larger(kind, all[*from].edgeKind);
    from = all[*from].parent;
  };
  while (a && b && *a != *b) {
    unsigned depthA = all[*a].depth, depthB = all[*b].depth;
    if (depthA >= depthB)
      climb(a);
    if (depthB >= depthA)
      climb(b);
  }
  return a && b ? a : std::nullopt;
}

void PostDominatorTree::print(llvm::raw_ostream &out) const {
  for (const auto &[i, node] : llvm::enumerate(all)) {
    out << i << ": " << node.op->getName() << " " << stringifyFusionKind(node.kind) << " -> ";
    if (node.parent)
      out << *node.parent << " (" << stringifyFusionKind(node.edgeKind) << ")";
    else
      out << (node.pinned ? "none (pinned)" : "none");
    out << "\n";
  }
}
