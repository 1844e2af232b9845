//===- MergeOutputs.cpp - groups merge although others need the value between them ----------------===//
// The baseline merges a group only with everything on all paths to where they meet again, so a value that is
// also a graph output, or that two kernels read, keeps its reader apart. Here the group merges with a reader
// nevertheless, and the value becomes one more result of the kernel: it is written as before, but not read
// again. Whether that pays, the cost model says. Groups that reduce are the business of merge-rows.
#include "codegen/kernel/KernelEstimate.h"
#include "fusion/Alike.h"
#include "fusion/Candidate.h"
#include "fusion/CostModel.h"
#include "fusion/DominatorPartitioner.h"
#include "fusion/EmissionLimits.h"
#include "fusion/GroupGraph.h"
#include "fusion/KernelDialects.h"
#include "fusion/KernelTimes.h"
#include "fusion/MayBeView.h"
#include "fusion/MergeLog.h"
#include "rewrite/Passes.h"

namespace tokamak {
#define GEN_PASS_DEF_MERGEOUTPUTS
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;
using fusion::Candidate;
using fusion::GroupGraph;
using fusion::Refusal;

namespace {

class OutputMerger {
public:
  OutputMerger(GroupGraph &groups, const fusion::CostModel &model, PassState &state)
      : groups(groups), model(model), state(state), log(state) {}

  void run() {
    // Producers first: a merged group is tried with its new neighbours when its turn comes.
    for (GroupGraph::Node node : groups.nodes()) {
      if (!groups.isCurrent(node) || !groups.isGroup(node) || reduces(node))
        continue;
      for (GroupGraph::Node consumer : groups.consumersOf(node))
        if (groups.isGroup(consumer) && !reduces(consumer) && tryMerge(node, consumer))
          break;
    }
  }

private:
  struct Known {
    codegen::KernelEstimate kernel;
    fusion::KernelTimes times;
  };

  bool reduces(GroupGraph::Node node) const {
    return llvm::any_of(groups.membersOf(node), fusion::reducesRows);
  }

  bool tryMerge(GroupGraph::Node from, GroupGraph::Node to) {
    auto producers = llvm::to_vector(groups.membersOf(from)),
         consumers = llvm::to_vector(groups.membersOf(to));
    Known together;
    std::string detail;
    Refusal refusal = judge(from, to, together, detail);
    if (!refusal && !state.fuel.take("merge-outputs", consumers.back()->getLoc()))
      refusal = {Reason::OutOfFuel, ""};
    if (refusal) {
      log.refused(producers, consumers, refusal);
      return false;
    }
    log.merged(producers, consumers, detail);
    groups.merge(from, to);
    foundAlike.erase(to);
    cache[to] = std::move(together);
    return true;
  }

  Refusal judge(GroupGraph::Node from, GroupGraph::Node to, Known &together, std::string &detail) {
    Refusal *alike = nullptr; // what was found for a producer like this one
    if (fusion::isWideReader(groups.membersOf(to))) {
      auto &[producers, found] = foundAlike.try_emplace(to, groups.membersOf(to)).first->second;
      alike = &found[producers.likenessOf(groups.membersOf(from))];
      if (*alike)
        return *alike;
    }
    Refusal refusal = refuseForm(from, to, together);
    if (!refusal)
      refusal = refuseCost(from, to, together, detail);
    if (alike && refusal.reason == Reason::NoGain)
      *alike = refusal;
    return refusal;
  }

  /// Why there can be no kernel of both that is as good as the two are.
  Refusal refuseForm(GroupGraph::Node from, GroupGraph::Node to, Known &together) {
    size_t size = fusion::plannedSize(groups.membersOf(from)) + fusion::plannedSize(groups.membersOf(to));
    if (size > fusion::DominatorPartitioner::mostOperators)
      return {Reason::TooManyOperators, std::to_string(size) + " operators"};
    GroupGraph::Members members = groups.membersOfBoth(from, to);
    // Nothing is lost where a slice that might be one is read in its place.
    for (GroupGraph::Node node : {from, to})
      if (!isa<tk::SliceOp>(groups.membersOf(node).back()) &&
          fusion::mayBeView(groups.membersOf(node), model.targetDescription()))
        return {Reason::NoGain, "a view costs nothing"};
    std::string why;
    if (llvm::count_if(members, fusion::holdsAnchorNest) > 1)
      return {Reason::SecondAnchor, ""};
    if (!fusion::canEmit(members, &why))
      return {Reason::CannotEmit, why};
    if (Refusal refusal = fusion::refusePath(groups, from, to))
      return refusal;
    Candidate candidate(members);
    if (candidate.outputs().size() > fusion::mostResults)
      return {Reason::CannotEmit, std::to_string(candidate.outputs().size()) + " results"};
    together.kernel = codegen::estimateKernel(candidate.group(), model.targetDescription());
    return refuseKernel(known(from).kernel, known(to).kernel, together.kernel);
  }

  /// An anchor stays register-tiled, and elementwise results run in one loop nest, each value computed once.
  static Refusal refuseKernel(const codegen::KernelEstimate &producer,
                              const codegen::KernelEstimate &consumer,
                              const codegen::KernelEstimate &together) {
    for (const codegen::KernelEstimate *part : {&producer, &consumer})
      if (part->isTiled() && part->kind != together.kind)
        return {part == &consumer ? Reason::AnchorInput : Reason::CannotEmit,
                "the " + part->kind + " would not stay register-tiled"};
    if (together.scratchBytes > std::max(producer.scratchBytes, consumer.scratchBytes) ||
        (together.computesInput && !producer.computesInput && !consumer.computesInput))
      return {Reason::AnchorInput, ""}; // a prologue is the business of recompute-producers
    if (together.isTiled())
      return {};
    if (together.kind != "pointwise")
      return {Reason::CannotEmit, "a kernel of kind " + together.kind + " with several results"};
    if (together.nests > 1) // as good as several kernels, in one
      return {Reason::CannotEmit, std::to_string(together.nests) + " loop nests that share nothing"};
    return {};
  }

  /// Why the kernel of both does not pay: the value between them is written still, but not read again, and
  /// there is one kernel less to call; yet together they may run over memory in an order that suits only one.
  Refusal refuseCost(GroupGraph::Node from, GroupGraph::Node to, Known &together, std::string &detail) {
    fusion::GroupCost cost = model.group(groups.membersOfBoth(from, to));
    if (!cost.refusal.empty())
      return {Reason::CannotEmit, cost.refusal};
    together.times = fusion::KernelTimes(cost);
    fusion::KernelTimes apart = known(from).times;
    apart += known(to).times;
    if (together.times.takesLonger(apart))
      return {Reason::NoGain, fusion::comparison(together.times.woken, apart.woken) + " on all threads"};
    detail = fusion::comparison(together.times.alone, apart.alone);
    return together.times.alone < apart.alone ? Refusal() : Refusal{Reason::NoGain, detail};
  }

  const Known &known(GroupGraph::Node node) {
    auto [place, isNew] = cache.try_emplace(node);
    if (isNew)
      place->second = {
          codegen::estimateKernel(Candidate(groups.membersOf(node)).group(), model.targetDescription()),
          fusion::KernelTimes(model.group(groups.membersOf(node)))};
    return place->second;
  }

  GroupGraph &groups;
  const fusion::CostModel &model;
  PassState &state;
  fusion::MergeLog log;
  std::map<GroupGraph::Node, Known> cache;                            ///< references into it stay valid
  std::map<GroupGraph::Node, fusion::FoundAlike<Refusal>> foundAlike; ///< by reader, which is large
};

struct MergeOutputs : tokamak::impl::MergeOutputsBase<MergeOutputs> {
  explicit MergeOutputs(PassStatePtr state) : state(std::move(state)) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    MergeOutputsBase::getDependentDialects(registry);
    fusion::registerKernelDialects(registry);
  }

  void runOnOperation() override {
    fusion::CostModel model(state->target);
    model.setProgram(getOperation());
    fusion::forEachGroupGraph(getOperation(),
                              [&](GroupGraph &groups) { OutputMerger(groups, model, *state).run(); });
  }

  PassStatePtr state;
};

} // namespace

std::unique_ptr<Pass> tokamak::createMergeOutputsPass(PassStatePtr state) {
  return std::make_unique<MergeOutputs>(orFresh(std::move(state)));
}
