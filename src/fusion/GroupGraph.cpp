//===- GroupGraph.cpp - the groups of one block as a graph that merges keep acyclic -----------------===//
#include "fusion/GroupGraph.h"
#include "analysis/Blocks.h"
#include "fusion/Groups.h"
#include "ir/Tk.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include <algorithm>
#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

/// Steps that the search for a way around takes at most. Values that are read further away than that gain
/// little by sharing a kernel: they have left every cache in between.
static constexpr size_t mostSteps = 2000;
/// Steps back that are tried before.
static constexpr size_t fewSteps = 64;

GroupGraph::GroupGraph(Block &block, int64_t &next) : block(block) {
  llvm::DenseMap<int64_t, Node> byNumber;
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::ConstantLike>() || op.hasTrait<OpTrait::IsTerminator>())
      continue;
    auto node = static_cast<Node>(all.size());
    if (isGroupable(&op)) {
      auto number = op.getAttrOfType<IntegerAttr>(groupAttribute);
      if (!number) {
        setGroup(&op, next);
        number = op.getAttrOfType<IntegerAttr>(groupAttribute);
        ++next;
      }
      node = byNumber.try_emplace(number.getInt(), node).first->second;
      if (node == all.size())
        all.emplace_back(node, number.getInt());
      all[node].members.push_back(&op);
    } else {
      all.emplace_back(node);
      all.back().members.push_back(&op);
    }
    nodeByOperation[&op] = node;
  }
  connect();
  sortAll();
}

GroupGraph::Node GroupGraph::root(Node node) const {
  Node root = node;
  while (all[root].parent != root)
    root = all[root].parent;
  while (all[node].parent != root)
    node = std::exchange(all[node].parent, root);
  return root;
}

std::optional<GroupGraph::Node> GroupGraph::nodeOf(Operation *op) const {
  Operation *ancestor = block.findAncestorOpInBlock(*op);
  auto it = ancestor ? nodeByOperation.find(ancestor) : nodeByOperation.end();
  return it == nodeByOperation.end() ? std::nullopt : std::optional<Node>(root(it->second));
}

void GroupGraph::connect() {
  for (Node node = 0; node < all.size(); ++node) {
    llvm::SmallSet<Node, 4> seen;
    for (Operation *op : all[node].members)
      for (Operation *user : op->getUsers()) {
        auto consumer = nodeOf(user);
        all[node].isUsed |= consumer != node;
        if (consumer && *consumer != node && seen.insert(*consumer).second) {
          all[node].consumers.push_back(*consumer);
          all[*consumer].producers.push_back(node);
        }
      }
  }
}

void GroupGraph::sortAll() {
  sentinel = static_cast<Node>(all.size());
  all.emplace_back(sentinel);
  all[sentinel].previous = all[sentinel].next = sentinel;
  // Depth first from each node to its producers; a node is placed behind the last of them.
  std::vector<size_t> visited(all.size(), 0); // how many of the producers, plus one
  std::vector<Node> stack;
  for (Node start = 0; start < sentinel; ++start) {
    if (!visited[start])
      stack.push_back(start), visited[start] = 1;
    while (!stack.empty()) {
      Node node = stack.back();
      size_t at = visited[node] - 1;
      if (at == all[node].producers.size()) {
        stack.pop_back();
        linkBehind(node, all[sentinel].previous);
        continue;
      }
      ++visited[node];
      Node producer = all[node].producers[at];
      if (!visited[producer])
        stack.push_back(producer), visited[producer] = 1;
    }
  }
  relabel();
}

void GroupGraph::unlink(Node node) {
  all[all[node].previous].next = all[node].next;
  all[all[node].next].previous = all[node].previous;
}

void GroupGraph::linkBehind(Node node, Node place) {
  Node next = all[place].next;
  all[node].previous = place;
  all[node].next = next;
  all[place].next = all[next].previous = node;
}

void GroupGraph::relabel() {
  constexpr int64_t gap = int64_t(1) << 32;
  int64_t label = 0;
  for (Node node = all[sentinel].next; node != sentinel; node = all[node].next)
    all[node].label = label += gap;
}

std::vector<GroupGraph::Node> GroupGraph::nodes() const {
  std::vector<Node> result;
  for (Node node = all[sentinel].next; node != sentinel; node = all[node].next)
    result.push_back(node);
  return result;
}

llvm::SmallVector<GroupGraph::Node> GroupGraph::consumersOf(Node node) const {
  llvm::SmallVector<Node> result;
  for (Node consumer : all[root(node)].consumers)
    if (consumer = root(consumer); consumer != root(node))
      result.push_back(consumer);
  llvm::sort(result, [this](Node a, Node b) { return isBefore(a, b); });
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

GroupGraph::Members GroupGraph::membersOfBoth(Node a, Node b) const {
  Members result;
  std::merge(membersOf(a).begin(), membersOf(a).end(), membersOf(b).begin(), membersOf(b).end(),
             std::back_inserter(result), [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
  return result;
}

GroupGraph::Path GroupGraph::between(Node from, Node to, llvm::SmallVectorImpl<Node> &found,
                                     size_t limit) const {
  llvm::SmallSet<Node, 16> seen;
  size_t steps = 0;
  // The first entry stands for `from`, whose direct edge to `to` is no way around.
  found.push_back(from);
  for (size_t i = 0; i < found.size(); ++i) {
    for (Node consumer : all[found[i]].consumers) {
      if (++steps > limit)
        return Path::TooLong;
      consumer = root(consumer);
      if (consumer == from || (consumer == to && i == 0))
        continue;
      if (consumer == to)
        return Path::Around;
      if (isBefore(consumer, to) && seen.insert(consumer).second)
        found.push_back(consumer);
    }
  }
  found.erase(found.begin());
  llvm::sort(found, [this](Node a, Node b) { return isBefore(a, b); });
  return Path::None;
}

GroupGraph::Path GroupGraph::pathAround(Node from, Node to) const {
  from = root(from), to = root(to);
  // Backwards first: what thousands read is mostly read by groups that read little else.
  llvm::SmallVector<Node> behind{to}, found;
  size_t steps = 0;
  for (size_t i = 0; i < behind.size(); ++i)
    for (Node producer : all[behind[i]].producers) {
      producer = root(producer);
      if (++steps > fewSteps)
        return between(from, to, found, mostSteps);
      if (producer == from && i > 0)
        return Path::Around;
      if (isBefore(from, producer) && producer != to && !llvm::is_contained(behind, producer))
        behind.push_back(producer);
    }
  return Path::None;
}

void GroupGraph::merge(Node from, Node to) {
  from = root(from), to = root(to);
  llvm::SmallVector<Node> behind;
  // What was asked for before was answered backwards, maybe: there is no limit for the other way.
  [[maybe_unused]] Path path = between(from, to, behind, std::numeric_limits<size_t>::max());
  assert(path == Path::None && "the merged group would depend on itself");

  // The merged group takes the place of `to`; what follows `from` moves right behind it.
  unlink(from);
  int64_t room = all[to].next == sentinel ? (int64_t(1) << 32) * static_cast<int64_t>(behind.size() + 1)
                                          : all[all[to].next].label - all[to].label;
  int64_t gap = room / static_cast<int64_t>(behind.size() + 1);
  Node place = to;
  for (Node node : behind) {
    unlink(node);
    linkBehind(node, place);
    all[node].label = all[place].label + gap;
    place = node;
  }
  if (gap == 0)
    relabel();

  Entry &source = all[from], &target = all[to];
  for (Operation *op : source.members)
    setGroup(op, target.number);
  target.members = membersOfBoth(from, to);
  source.parent = to;
  // The shorter list goes into the longer one.
  auto join = [](std::vector<Node> &a, std::vector<Node> &b) {
    if (a.size() < b.size())
      a.swap(b);
    a.insert(a.end(), b.begin(), b.end());
    b = {};
  };
  join(target.producers, source.producers);
  join(target.consumers, source.consumers);
  source.members.clear();
}

void GroupGraph::add(Operation *op, Node node) {
  node = root(node);
  setGroup(op, all[node].number);
  nodeByOperation[op] = node;
  Members &members = all[node].members;
  members.insert(
      llvm::upper_bound(members, op, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); }), op);
  for (Value operand : op->getOperands()) {
    Operation *definition = operand.getDefiningOp();
    auto producer = definition ? nodeOf(definition) : std::nullopt;
    if (!producer || *producer == node)
      continue;
    assert(isBefore(*producer, node) && "the order holds as it is");
    all[*producer].consumers.push_back(node);
    all[node].producers.push_back(*producer);
  }
}

void GroupGraph::erase(Operation *op) {
  Node node = *nodeOf(op);
  llvm::erase(all[node].members, op);
  nodeByOperation.erase(op);
  op->erase();
}

void fusion::forEachGroupGraph(ModuleOp module, llvm::function_ref<void(GroupGraph &)> visit) {
  int64_t next = 0;
  module.walk([&](Operation *op) {
    if (auto number = op->getAttrOfType<IntegerAttr>(groupAttribute))
      next = std::max(next, number.getInt() + 1);
  });
  analysis::forEachGraphBlock(module, [&](Block &block) {
    GroupGraph graph(block, next);
    visit(graph);
  });
}
