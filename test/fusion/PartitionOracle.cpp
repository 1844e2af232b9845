//===- PartitionOracle.cpp - the best partition of a small graph, by trying all ----------------------===//
#include "PartitionOracle.h"
#include "analysis/Traffic.h"
#include "fusion/Groups.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/DenseMap.h"
#include <numeric>
#include <set>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

namespace {

/// Smallest member first; `to` joins the set of `from`.
class UnionFind {
public:
  explicit UnionFind(size_t size) : parents(size) { std::iota(parents.begin(), parents.end(), size_t(0)); }
  size_t find(size_t i) const {
    while (parents[i] != i)
      i = parents[i];
    return i;
  }
  void join(size_t a, size_t b) {
    a = find(a), b = find(b);
    parents[std::max(a, b)] = std::min(a, b);
  }

private:
  std::vector<size_t> parents;
};

/// The block as a graph: groupable operations first come, whatever lies between them (library calls, control
/// flow) takes part in paths only.
class Graph {
public:
  explicit Graph(Block &block) {
    for (Operation &op : block) {
      index[&op] = operations.size();
      operations.push_back(&op);
    }
    for (Operation *op : operations) {
      std::set<size_t> producers;
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (auto it = index.find(operand.getDefiningOp()); operand.getDefiningOp() && it != index.end())
            producers.insert(it->second);
      });
      reads.emplace_back(producers.begin(), producers.end());
      for (size_t producer : producers)
        if (isGroupable(op) && isGroupable(operations[producer]))
          edges.emplace_back(producer, index[op]);
    }
  }

  /// The groups of `labels` (one an operation) in an order in which they can run; nothing where there is
  /// none.
  std::optional<Groups> ordered(llvm::ArrayRef<size_t> labels) const {
    std::vector<std::set<size_t>> before(operations.size());
    std::set<size_t> waiting;
    for (size_t i = 0; i < operations.size(); ++i) {
      waiting.insert(labels[i]);
      for (size_t producer : reads[i])
        if (labels[producer] != labels[i])
          before[labels[i]].insert(labels[producer]);
    }
    Groups groups;
    while (!waiting.empty()) {
      auto ready = llvm::find_if(waiting, [&](size_t label) {
        return llvm::none_of(before[label], [&](size_t other) { return waiting.count(other); });
      });
      if (ready == waiting.end())
        return std::nullopt;
      Members members;
      for (size_t i = 0; i < operations.size(); ++i)
        if (labels[i] == *ready && isGroupable(operations[i]))
          members.push_back(operations[i]);
      if (llvm::any_of(members, [](Operation *op) { return !analysis::isFree(op); }))
        groups.push_back(std::move(members));
      waiting.erase(ready);
    }
    return groups;
  }

  std::vector<Operation *> operations;
  std::vector<std::pair<size_t, size_t>> edges;

private:
  llvm::DenseMap<Operation *, size_t> index;
  std::vector<std::vector<size_t>> reads;
};

} // namespace

std::optional<OracleResult> fusion::bestPartition(Block &block, CanHold canHold, PartitionCost cost) {
  Graph graph(block);
  if (graph.edges.size() > oracleEdges)
    return std::nullopt;
  OracleResult best;
  best.edges = graph.edges.size();
  std::set<std::vector<size_t>> seen; // several subsets join the same operations
  for (size_t subset = 0; subset < (size_t(1) << graph.edges.size()); ++subset) {
    UnionFind sets(graph.operations.size());
    for (size_t edge = 0; edge < graph.edges.size(); ++edge)
      if (subset >> edge & 1)
        sets.join(graph.edges[edge].first, graph.edges[edge].second);
    std::vector<size_t> labels;
    for (size_t i = 0; i < graph.operations.size(); ++i)
      labels.push_back(sets.find(i));
    if (!seen.insert(labels).second)
      continue;
    std::optional<Groups> groups = graph.ordered(labels);
    if (!groups || !llvm::all_of(*groups, [&](const Members &members) { return canHold(members); }))
      continue;
    const double candidate = cost(*groups);
    if (best.legal++ == 0 || candidate < best.cost) {
      best.cost = candidate;
      best.groups = std::move(*groups);
    }
  }
  return best;
}

Groups fusion::writtenPartition(Block &block) {
  Graph graph(block);
  llvm::DenseMap<int64_t, size_t> first;
  std::vector<size_t> labels;
  for (auto [i, op] : llvm::enumerate(graph.operations)) {
    auto number = op->getAttrOfType<IntegerAttr>(groupAttribute);
    labels.push_back(number ? first.try_emplace(number.getInt(), i).first->second : i);
  }
  return graph.ordered(labels).value_or(Groups());
}
