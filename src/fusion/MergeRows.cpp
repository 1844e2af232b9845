//===- MergeRows.cpp - reductions share a kernel with what surrounds them -------------------------===//
// The baseline never fuses a reduction into what follows it, so a layer norm in primitive pieces is four
// kernels that read the same row four times. Here neighbouring groups of elementwise work and reductions
// merge where the result still runs row by row: every row stays in the cache between its first reading and
// its last writing. A value that others need becomes one more result of the kernel.
#include "analysis/PostDominatorTree.h"
#include "codegen/kernel/RowEstimate.h"
#include "fusion/Candidate.h"
#include "fusion/CostModel.h"
#include "fusion/EmissionLimits.h"
#include "fusion/GroupGraph.h"
#include "fusion/KernelDialects.h"
#include "fusion/MergeLog.h"
#include "fusion/Repeats.h"
#include "rewrite/Passes.h"

namespace tokamak {
#define GEN_PASS_DEF_MERGEROWS
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;

namespace {

using fusion::GroupGraph;

/// Elementwise work, reductions, operators made of both (softmax, norms), and reshapes between them.
bool runsByRows(Operation *op) {
  return fusion::reducesRows(op) || analysis::kindOf(op) <= FusionKind::Broadcast || isa<tk::ReshapeOp>(op);
}

/// The groups of one block while they merge.
class RowMerger {
public:
  RowMerger(GroupGraph &groups, const fusion::CostModel &model, PassState &state)
      : groups(groups), model(model), target(model.targetDescription()), state(state), log(state) {}

  void run() {
    // Producers first: a merged group takes the place of its last member, and is tried with its new
    // neighbours when its turn comes.
    for (GroupGraph::Node node : groups.nodes())
      if (groups.isCurrent(node) && groups.isGroup(node) && runByRows(node))
        for (GroupGraph::Node consumer : groups.consumersOf(node))
          if (groups.isGroup(consumer) && runByRows(consumer) && tryMerge(node, consumer))
            break;
  }

private:
  /// Reshapes alone are views, which need no kernel.
  bool runByRows(GroupGraph::Node node) const {
    auto members = groups.membersOf(node);
    return llvm::all_of(members, [](Operation *op) { return runsByRows(op); }) &&
           !llvm::all_of(members, [](Operation *op) { return isa<tk::ReshapeOp>(op); });
  }

  bool tryMerge(GroupGraph::Node from, GroupGraph::Node to) {
    auto producers = llvm::to_vector(groups.membersOf(from)),
         consumers = llvm::to_vector(groups.membersOf(to));
    std::string detail;
    if (fusion::Refusal refusal = judge(from, to, detail)) {
      if (refusal.reason != Reason::KindOfSink)
        log.refused(producers, consumers, refusal);
      return false;
    }
    log.merged(producers, consumers, detail);
    groups.merge(from, to);
    return true;
  }

  /// Merging saves writing and reading the values between the groups. It must not lose the rows that threads
  /// share, nor need more scratch than the cache keeps beside what streams through.
  fusion::Refusal judge(GroupGraph::Node from, GroupGraph::Node to, std::string &detail) {
    if (llvm::none_of(groups.membersOf(from), fusion::reducesRows) &&
        llvm::none_of(groups.membersOf(to), fusion::reducesRows))
      return {Reason::KindOfSink, ""}; // elementwise work alone is the business of others
    size_t size = groups.membersOf(from).size() + groups.membersOf(to).size();
    if (size > mostOperators)
      return {Reason::TooManyOperators,
              std::to_string(size) + " operators, the limit is " + std::to_string(mostOperators)};
    if (fusion::Refusal refusal = fusion::refusePath(groups, from, to))
      return refusal;
    codegen::RowEstimate together = estimate(groups.membersOfBoth(from, to));
    int64_t wanted = std::min({rowsOf(from), rowsOf(to), enoughRows}), scratchLimit = target.l2Bytes / 4;
    std::string rows = std::to_string(together.rows) + " rows";
    std::string scratch = std::to_string(together.scratchBytes) + " bytes of scratch";
    if (together.rows < wanted)
      return {Reason::TooFewRows, rows + ", at least " + std::to_string(wanted) + " wanted"};
    if (together.scratchBytes > scratchLimit)
      return {Reason::TooMuchScratch, scratch + ", the limit is " + std::to_string(scratchLimit)};
    if (fusion::Refusal refusal = fusion::refuseRepeats(model, groups.membersOf(from), groups.membersOf(to)))
      return refusal;
    detail = rows + ", " + scratch;
    if (!state.fuel.take("merge-rows", groups.membersOf(to).back()->getLoc()))
      return {Reason::OutOfFuel, ""};
    knownRows[to] = together.rows;
    return {};
  }

  codegen::RowEstimate estimate(llvm::ArrayRef<Operation *> members) {
    return codegen::estimateRows(fusion::Candidate(members).group(), target);
  }
  int64_t rowsOf(GroupGraph::Node node) {
    auto [known, isNew] = knownRows.try_emplace(node, 0);
    if (isNew)
      known->second = estimate(groups.membersOf(node)).rows;
    return known->second;
  }

  /// Rows beyond which more parallelism is of no use.
  static constexpr int64_t enoughRows = 32;
  /// Planning a row kernel takes time that grows with the square of its operators, and what the stages share
  /// is computed again in each; a chain of some eight layer norms is long enough to have saved the traffic.
  static constexpr size_t mostOperators = 64;

  GroupGraph &groups;
  const fusion::CostModel &model;
  const TargetDescription &target;
  PassState &state;
  fusion::MergeLog log;
  llvm::DenseMap<GroupGraph::Node, int64_t> knownRows;
};

struct MergeRows : tokamak::impl::MergeRowsBase<MergeRows> {
  explicit MergeRows(PassStatePtr state) : state(std::move(state)) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    MergeRowsBase::getDependentDialects(registry);
    fusion::registerKernelDialects(registry);
  }

  void runOnOperation() override {
    fusion::CostModel model(state->target);
    model.setProgramWeights(getOperation());
    fusion::forEachGroupGraph(getOperation(),
                              [&](GroupGraph &groups) { RowMerger(groups, model, *state).run(); });
  }

  PassStatePtr state;
};

} // namespace

std::unique_ptr<Pass> tokamak::createMergeRowsPass(PassStatePtr state) {
  return std::make_unique<MergeRows>(orFresh(std::move(state)));
}
