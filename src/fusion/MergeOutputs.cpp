//===- MergeOutputs.cpp - groups merge although others need the value between them ----------------===//
// The baseline merges a group only with everything on all paths to where they meet again, so a value that is
// also a graph output, or that two kernels read, keeps its reader apart. Here the group merges with a reader
// nevertheless, and the value becomes one more result of the kernel: it is written as before, but not read
// again. Groups that reduce are the business of merge-rows.
#include "analysis/PostDominatorTree.h"
#include "codegen/kernel/KernelEstimate.h"
#include "fusion/Candidate.h"
#include "fusion/DominatorPartitioner.h"
#include "fusion/EmissionLimits.h"
#include "fusion/GroupGraph.h"
#include "fusion/KernelDialects.h"
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
  OutputMerger(GroupGraph &groups, const TargetDescription &target, PassState &state)
      : groups(groups), target(target), state(state), log(state) {}

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
    int64_t bytes = 0;
  };

  bool reduces(GroupGraph::Node node) const {
    return llvm::any_of(groups.membersOf(node), fusion::reducesRows);
  }

  bool tryMerge(GroupGraph::Node from, GroupGraph::Node to) {
    auto producers = llvm::to_vector(groups.membersOf(from)),
         consumers = llvm::to_vector(groups.membersOf(to));
    std::string detail;
    if (Refusal refusal = judge(from, to, detail)) {
      log.refused(producers, consumers, refusal);
      return false;
    }
    log.merged(producers, consumers, detail);
    groups.merge(from, to);
    return true;
  }

  Refusal judge(GroupGraph::Node from, GroupGraph::Node to, std::string &detail) {
    size_t size = fusion::plannedSize(groups.membersOf(from)) + fusion::plannedSize(groups.membersOf(to));
    if (size > fusion::DominatorPartitioner::mostOperators)
      return {Reason::TooManyOperators, std::to_string(size) + " operators"};
    GroupGraph::Members members = groups.membersOfBoth(from, to);
    std::string why;
    if (llvm::count_if(members, fusion::holdsAnchorNest) > 1)
      return {Reason::SecondAnchor, ""};
    if (!fusion::canEmit(members, &why))
      return {Reason::CannotEmit, why};
    if (Refusal refusal = fusion::refusePath(groups, from, to))
      return refusal;

    Candidate candidate(members);
    if (candidate.outputs().size() > mostResults)
      return {Reason::CannotEmit, std::to_string(candidate.outputs().size()) + " results"};
    Known together{codegen::estimateKernel(candidate.group(), target), activationBytes(candidate)};
    const Known &producer = known(from), &consumer = known(to);
    if (Refusal refusal = refuseKernel(producer, consumer, together))
      return refusal;
    int64_t apart = producer.bytes + consumer.bytes;
    detail = std::to_string(together.bytes) + " bytes instead of " + std::to_string(apart);
    if (together.bytes >= apart)
      return {Reason::NoGain, detail};
    if (!state.fuel.take("merge-outputs", groups.membersOf(to).back()->getLoc()))
      return {Reason::OutOfFuel, ""};
    cache[to] = together;
    return {};
  }

  /// The merged kernel must be as good as the two: an anchor stays register-tiled, and elementwise results
  /// run in one loop nest, each value computed once.
  static Refusal refuseKernel(const Known &producer, const Known &consumer, const Known &together) {
    for (const Known *part : {&producer, &consumer})
      if (part->kernel.isTiled() && part->kernel.kind != together.kernel.kind)
        return {part == &consumer ? Reason::AnchorInput : Reason::CannotEmit,
                "the " + part->kernel.kind + " would not stay register-tiled"};
    if (together.kernel.scratchBytes > std::max(producer.kernel.scratchBytes, consumer.kernel.scratchBytes))
      return {Reason::AnchorInput, ""}; // a prologue is the business of recompute-producers
    if (together.kernel.isTiled())
      return {};
    if (together.kernel.kind != "pointwise")
      return {Reason::CannotEmit, "a kernel of kind " + together.kernel.kind + " with several results"};
    if (together.kernel.nests > 1)
      return {Reason::CannotEmit, std::to_string(together.kernel.nests) + " loop nests that share nothing"};
    double apart = producer.kernel.accesses + consumer.kernel.accesses;
    if (together.kernel.accesses > apart)
      return {Reason::NoGain, std::to_string(static_cast<int64_t>(together.kernel.accesses)) +
                                  " loads and stores instead of " +
                                  std::to_string(static_cast<int64_t>(apart))};
    return {};
  }

  const Known &known(GroupGraph::Node node) {
    auto [place, isNew] = cache.try_emplace(node);
    if (isNew) {
      Candidate candidate(groups.membersOf(node));
      place->second = {codegen::estimateKernel(candidate.group(), target), activationBytes(candidate)};
    }
    return place->second;
  }

  /// Beyond so many pointers, addresses take more registers than there are.
  static constexpr size_t mostResults = 8;

  GroupGraph &groups;
  const TargetDescription &target;
  PassState &state;
  fusion::MergeLog log;
  std::map<GroupGraph::Node, Known> cache; ///< references into it stay valid
};

struct MergeOutputs : tokamak::impl::MergeOutputsBase<MergeOutputs> {
  explicit MergeOutputs(PassStatePtr state) : state(std::move(state)) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    MergeOutputsBase::getDependentDialects(registry);
    fusion::registerKernelDialects(registry);
  }

  void runOnOperation() override {
    fusion::forEachGroupGraph(getOperation(),
                              [&](GroupGraph &groups) { OutputMerger(groups, state->target, *state).run(); });
  }

  PassStatePtr state;
};

} // namespace

std::unique_ptr<Pass> tokamak::createMergeOutputsPass(PassStatePtr state) {
  return std::make_unique<MergeOutputs>(orFresh(std::move(state)));
}
