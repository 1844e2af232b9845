//===- DominatorPartitioner.cpp - the published baseline -----------------------------------------===//
#include "fusion/DominatorPartitioner.h"
#include "fusion/EmissionLimits.h"
#include "fusion/Groups.h"
#include "fusion/NodeNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

DominatorPartitioner::DominatorPartitioner(Block &block, PassState &state, llvm::StringRef name)
    : tree(block), groups(tree), state(state), name(name), refusals(tree.nodes().size()) {}

void DominatorPartitioner::run() {
  for (Phase phase : {Phase::Elementwise, Phase::Injective, Phase::Tuples}) {
    for (unsigned node = 0; node < tree.nodes().size(); ++node) {
      if (phase == Phase::Injective && tree.nodes()[node].kind == FusionKind::Tuple)
        groups.absorbTuple(node);
      if (Refusal refusal = tryMerge(node, phase); refusal.reason != Reason::Fused)
        refusals[node] = std::move(refusal);
    }
  }
  if (state.decisions)
    logDecisions();
}

DominatorPartitioner::Refusal DominatorPartitioner::tryMerge(unsigned node, Phase phase) {
  std::optional<unsigned> sink = tree.nodes()[node].parent;
  const FusionKind kind = groups.kindOf(node);
  if (kind == FusionKind::Opaque)
    return {Reason::OpaqueProducer, ""};
  if (!sink)
    return withoutParent(node);
  if (groups.rootOf(node) == groups.rootOf(*sink))
    return {};
  if (tree.nodes()[node].edgeKind == FusionKind::Opaque)
    return opaqueConsumer(node);
  if (kind == FusionKind::Reduction)
    return {Reason::ReductionStarts, ""};
  if (kind == FusionKind::Anchor)
    return phase == Phase::Elementwise ? mergeAnchor(node) : refusals[node];
  if (tree.nodes()[*sink].kind == FusionKind::Anchor)
    return {Reason::AnchorInput, ""};
  // What a concatenation takes in waits until that has found its place.
  if (tree.nodes()[*sink].kind == FusionKind::Tuple)
    return phase == Phase::Tuples ? mergeInjective(node) : refusals[node];
  if (kind <= FusionKind::Broadcast)
    return mergeElementwise(node);
  // Injective and tuple nodes wait until convolutions have taken the elementwise work behind them.
  return phase == Phase::Injective ? mergeInjective(node) : refusals[node];
}

DominatorPartitioner::Refusal DominatorPartitioner::mergeAnchor(unsigned node) {
  const FusionKind edge = tree.nodes()[node].edgeKind;
  if (edge == FusionKind::Anchor)
    return {Reason::SecondAnchor, ""};
  if (edge != FusionKind::Elementwise)
    return {Reason::AnchorNotInPlace, ("the way is " + stringifyFusionKind(edge)).str()};
  return mergeAlong(node, FusionKind::Broadcast,
                    [](FusionKind sink) { return sink <= FusionKind::Broadcast; });
}

DominatorPartitioner::Refusal DominatorPartitioner::mergeElementwise(unsigned node) {
  const FusionKind edge = tree.nodes()[node].edgeKind;
  if (edge > FusionKind::Reduction)
    return {Reason::KindOnPath, ("the way is " + stringifyFusionKind(edge)).str()};
  return mergeAlong(node, FusionKind::Injective, [](FusionKind sink) { return sink <= FusionKind::Anchor; });
}

DominatorPartitioner::Refusal DominatorPartitioner::mergeInjective(unsigned node) {
  return mergeAlong(node, FusionKind::Injective,
                    [](FusionKind sink) { return sink <= FusionKind::Injective; });
}

DominatorPartitioner::Refusal DominatorPartitioner::mergeAlong(unsigned node, FusionKind onPath,
                                                               llvm::function_ref<bool(FusionKind)> atSink) {
  const unsigned sink = *tree.nodes()[node].parent;
  const std::vector<unsigned> merged = nodesBefore(node, sink);
  if (merged.size() >= mostOperators)
    return {Reason::TooManyOperators, "the limit is " + std::to_string(mostOperators)};
  for (unsigned other : llvm::drop_begin(merged))
    if (FusionKind kind = groups.kindOf(other); kind > onPath)
      return {Reason::KindOnPath,
              nameOf(other) + " is in a group that is " + stringifyFusionKind(kind).str()};
  if (FusionKind kind = groups.kindOf(sink); !atSink(kind))
    return {Reason::KindOfSink, nameOf(sink) + " is in a group that is " + stringifyFusionKind(kind).str()};

  // Groups of interior nodes count once, however many paths lead through them.
  llvm::SmallSet<unsigned, 8> roots;
  roots.insert(groups.rootOf(sink));
  for (unsigned other : merged)
    roots.insert(groups.rootOf(other));
  std::vector<unsigned> members;
  for (unsigned root : roots)
    llvm::append_range(members, groups.membersOf(root));
  if (members.size() > mostOperators)
    return {Reason::TooManyOperators,
            std::to_string(members.size()) + " operators, the limit is " + std::to_string(mostOperators)};

  llvm::sort(members); // indices follow the block
  std::string why;
  if (!canEmit(llvm::map_to_vector(members, [&](unsigned i) { return tree.nodes()[i].op; }), &why))
    return {Reason::CannotEmit, why};
  if (!state.fuel.take(name, tree.nodes()[node].op->getLoc()))
    return {Reason::OutOfFuel, ""};
  groups.merge(merged, sink);
  return {};
}

std::vector<unsigned> DominatorPartitioner::nodesBefore(unsigned node, unsigned sink) const {
  std::vector<unsigned> found = {node};
  llvm::SmallSet<unsigned, 16> seen;
  seen.insert(node);
  seen.insert(sink);
  for (size_t i = 0; i < found.size() && found.size() < mostOperators; ++i)
    for (const auto &edge : tree.nodes()[found[i]].consumers)
      if (seen.insert(edge.consumer).second)
        found.push_back(edge.consumer);
  return found;
}

DominatorPartitioner::Refusal DominatorPartitioner::withoutParent(unsigned node) const {
  if (tree.nodes()[node].pinned)
    return {Reason::GraphOutput, ""};
  Refusal opaque = opaqueConsumer(node);
  return opaque.detail.empty() ? Refusal{Reason::NoPostDominator, ""} : opaque;
}

DominatorPartitioner::Refusal DominatorPartitioner::opaqueConsumer(unsigned node) const {
  for (const auto &edge : tree.nodes()[node].consumers)
    if (edge.kind == FusionKind::Opaque)
      return {Reason::OpaqueConsumer, nameOf(edge.consumer)};
  return {Reason::OpaqueConsumer, ""};
}

int64_t DominatorPartitioner::annotate(int64_t next) {
  for (unsigned node = 0; node < tree.nodes().size(); ++node) {
    if (groups.rootOf(node) != node || groups.membersOf(node).size() < 2)
      continue;
    for (unsigned member : groups.membersOf(node))
      setGroup(tree.nodes()[member].op, next);
    ++next;
  }
  return next;
}

std::string DominatorPartitioner::nameOf(unsigned node) const { return nodeName(tree.nodes()[node].op); }

void DominatorPartitioner::logDecisions() {
  for (unsigned node = 0; node < tree.nodes().size(); ++node) {
    for (const auto &edge : tree.nodes()[node].consumers) {
      Operation *producer = tree.nodes()[node].op, *consumer = tree.nodes()[edge.consumer].op;
      Decision decision = newDecision(producer, consumer);
      if (groups.rootOf(node) == groups.rootOf(edge.consumer)) {
        decision.fused = true;
        decision.detail = std::to_string(groups.membersOf(node).size()) + " operators";
      } else {
        decision.reason = refusals[node].reason;
        decision.detail = refusals[node].detail;
      }
      state.decisions->decisions.push_back(std::move(decision));
    }
  }
}
