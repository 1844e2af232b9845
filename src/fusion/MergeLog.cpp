//===- MergeLog.cpp - decisions of the passes that merge groups -------------------------------------===//
#include "fusion/MergeLog.h"
#include "fusion/NodeNames.h"
#include "mlir/IR/Block.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tokamak;

fusion::Refusal fusion::refusePath(const GroupGraph &groups, GroupGraph::Node from, GroupGraph::Node to) {
  switch (groups.pathAround(from, to)) {
  case GroupGraph::Path::None:
    return {};
  case GroupGraph::Path::Around:
    return {Reason::Cycle, ""};
  case GroupGraph::Path::TooLong:
    return {Reason::FarApart, ""};
  }
  llvm_unreachable("a kind of path");
}

void fusion::MergeLog::note(llvm::ArrayRef<Operation *> from, llvm::ArrayRef<Operation *> to, Reason reason,
                            const std::string &detail) {
  if (!state.decisions)
    return;
  llvm::SmallDenseMap<Operation *, size_t, 16> producers;
  for (Operation *op : from)
    producers.try_emplace(op, producers.size());
  llvm::SmallSetVector<std::pair<size_t, size_t>, 4> edges; // numbers in `from` and `to`
  for (size_t consumer = 0; consumer < to.size(); ++consumer)
    for (Value value : readBy(to[consumer]))
      if (auto producer = producers.find(value.getDefiningOp()); producer != producers.end())
        edges.insert({producer->second, consumer});
  auto sorted = edges.takeVector();
  llvm::sort(sorted);
  for (auto [producer, consumer] : sorted) {
    Decision decision = newDecision(from[producer], to[consumer]);
    decision.fused = reason == Reason::Fused;
    decision.reason = reason;
    decision.detail = detail;
    put(std::move(decision));
  }
}

void fusion::MergeLog::put(Decision decision) {
  std::vector<Decision> &decisions = state.decisions->decisions;
  auto key = [](const Decision &d) { return d.producer + "\n" + d.consumer; };
  for (; indexed < decisions.size(); ++indexed)
    places[key(decisions[indexed])].push_back(indexed);
  auto &same = places[key(decision)];
  for (size_t place : same) {
    if (decisions[place].fused != isSplitting)
      continue;
    decisions[place] = std::move(decision);
    return;
  }
  if (same.empty())
    decisions.push_back(std::move(decision)); // indexed by the next call
}
