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

/// The edges from operations of `from` to those of `to`, by their numbers there, in order. Found from the
/// side that has fewer: concatenations have thousands of operands, inputs of wide graphs thousands of users.
static std::vector<std::pair<size_t, size_t>> edgesBetween(llvm::ArrayRef<Operation *> from,
                                                           llvm::ArrayRef<Operation *> to) {
  llvm::SmallDenseMap<Operation *, size_t, 16> producers, consumers;
  for (Operation *op : from)
    producers.try_emplace(op, producers.size());
  for (Operation *op : to)
    consumers.try_emplace(op, consumers.size());
  size_t operands = 0, users = 0;
  for (Operation *op : to)
    operands += op->getNumRegions() > 0 ? fusion::readBy(op).size() : op->getNumOperands();
  for (Operation *op : from)
    for (auto user = op->user_begin(); user != op->user_end() && users <= operands; ++user)
      ++users;
  llvm::SmallSetVector<std::pair<size_t, size_t>, 4> edges;
  if (operands <= users) {
    for (Operation *op : to)
      for (Value value : fusion::readBy(op))
        if (auto producer = producers.find(value.getDefiningOp()); producer != producers.end())
          edges.insert({producer->second, consumers[op]});
  } else {
    for (Operation *op : from)
      for (Operation *user : op->getUsers()) {
        Operation *inBlock = to.empty() ? nullptr : to.front()->getBlock()->findAncestorOpInBlock(*user);
        if (auto consumer = consumers.find(inBlock); consumer != consumers.end())
          edges.insert({producers[op], consumer->second});
      }
  }
  auto sorted = edges.takeVector();
  llvm::sort(sorted);
  return {sorted.begin(), sorted.end()};
}

void fusion::MergeLog::note(llvm::ArrayRef<Operation *> from, llvm::ArrayRef<Operation *> to, Reason reason,
                            const std::string &detail, bool wasFused) {
  if (!state.decisions)
    return;
  for (auto [producer, consumer] : edgesBetween(from, to)) {
    Decision decision = newDecision(from[producer], to[consumer]);
    decision.fused = reason == Reason::Fused;
    decision.reason = reason;
    decision.detail = detail;
    put(std::move(decision), wasFused);
  }
}

void fusion::MergeLog::put(Decision decision, bool wasFused) {
  std::vector<Decision> &decisions = state.decisions->decisions;
  auto key = [](const Decision &d) { return d.producer + "\n" + d.consumer; };
  for (; indexed < decisions.size(); ++indexed)
    places[key(decisions[indexed])].push_back(indexed);
  auto &same = places[key(decision)];
  for (size_t place : same) {
    if (decisions[place].fused != wasFused)
      continue;
    decisions[place] = std::move(decision);
    return;
  }
  if (same.empty())
    decisions.push_back(std::move(decision)); // indexed by the next call
}
