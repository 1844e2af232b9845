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

/// Elements of what `op`, or an operator in it, reduces line by line: neighbours in memory belong to
/// different sums. Zero: it does not.
int64_t linesReduced(Operation *op) {
  int64_t elements = 0;
  op->walk([&](tk::ReduceOp reduce) {
    auto type = tk::tensorType(reduce.getInput());
    int64_t last = type.getRank() - 1;
    while (last > 0 && type.getDimSize(last) == 1)
      --last;
    if (!reduce.getAxes().empty() && !llvm::is_contained(reduce.getAxes(), last))
      elements = std::max(elements, type.getNumElements());
  });
  return elements;
}

/// The groups of one block while they merge.
class RowMerger {
public:
  RowMerger(GroupGraph &groups, const fusion::CostModel &model, PassState &state)
      : groups(groups), model(model), target(model.targetDescription()), state(state), log(state) {}

  void run() {
    // Producers first: a merged group takes the place of its last member, and is tried with its new
    // neighbours when its turn comes.
    llvm::SmallVector<GroupGraph::Node> postponed;
    for (GroupGraph::Node node : groups.nodes())
      forConsumers(node, [&](GroupGraph::Node consumer) {
        if (!leavesSums(node, consumer))
          return tryMerge(node, consumer);
        if (postponed.empty() || postponed.back() != node)
          postponed.push_back(node);
        return false;
      });
    // By now the consumer may be part of a norm.
    for (GroupGraph::Node node : postponed)
      forConsumers(node, [&](GroupGraph::Node consumer) { return tryMerge(node, consumer); });
  }

private:
  /// Until `merge` has merged the node into one.
  void forConsumers(GroupGraph::Node node, llvm::function_ref<bool(GroupGraph::Node)> merge) {
    if (groups.isCurrent(node) && groups.isGroup(node) && runByRows(node))
      for (GroupGraph::Node consumer : groups.consumersOf(node))
        if (groups.isGroup(consumer) && runByRows(consumer) && merge(consumer))
          break;
  }

  /// Whether `from` reduces lines, and `to` is elementwise work as large that reads sums of it, not lines.
  /// One kernel of both would read the lines twice as two do, but by columns, which the hardware does not
  /// fetch ahead.
  bool leavesSums(GroupGraph::Node from, GroupGraph::Node to) const {
    if (llvm::any_of(groups.membersOf(to), fusion::reducesRows))
      return false;
    int64_t lines = 0, passed = 0, computed = 0;
    for (Operation *op : groups.membersOf(from))
      lines = std::max(lines, linesReduced(op));
    for (Operation *op : groups.membersOf(to)) {
      for (Value operand : op->getOperands())
        if (Operation *producer = operand.getDefiningOp(); producer && groups.nodeOf(producer) == from)
          passed = std::max(passed, tk::tensorType(operand).getNumElements());
      for (Value result : op->getResults())
        computed = std::max(computed, tk::tensorType(result).getNumElements());
    }
    return passed < lines && lines <= computed;
  }

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
    if (leavesSums(from, to))
      return {Reason::NoGain, "the lines that are reduced would be read twice as well"};
    size_t size = groups.membersOf(from).size() + groups.membersOf(to).size();
    if (size > mostOperators)
      return {Reason::TooManyOperators,
              std::to_string(size) + " operators, the limit is " + std::to_string(mostOperators)};
    if (fusion::Refusal refusal = fusion::refusePath(groups, from, to))
      return refusal;
    codegen::RowEstimate together = estimate(groups.membersOfBoth(from, to));
    const codegen::RowEstimate producers = estimateOf(from), consumers = estimateOf(to);
    const int64_t wanted = rowsWanted(producers, consumers), scratchLimit = target.l2Bytes / 4;
    std::string rows = std::to_string(together.rows) + " rows";
    std::string scratch = std::to_string(together.scratchBytes) + " bytes of scratch";
    if (together.rows < wanted && !fillsThreads(together))
      return {Reason::TooFewRows, rows + ", at least " + std::to_string(wanted) + " wanted"};
    if (together.scratchBytes > scratchLimit)
      return {Reason::TooMuchScratch, scratch + ", the limit is " + std::to_string(scratchLimit)};
    if (together.rereadsMemory && !producers.rereadsMemory && !consumers.rereadsMemory)
      return {Reason::TooMuchScratch, "columns so long that they leave the cache before they are read again"};
    if (fusion::Refusal refusal = fusion::refuseRepeats(model, groups.membersOf(from), groups.membersOf(to)))
      return refusal;
    detail = rows + ", " + scratch;
    if (!state.fuel.take("merge-rows", groups.membersOf(to).back()->getLoc()))
      return {Reason::OutOfFuel, ""};
    known[to] = together;
    return {};
  }

  codegen::RowEstimate estimate(llvm::ArrayRef<Operation *> members) {
    return codegen::estimateRows(fusion::Candidate(members).group(), target);
  }
  /// Little work next to much needs no rows of its own for threads.
  static int64_t rowsWanted(const codegen::RowEstimate &a, const codegen::RowEstimate &b) {
    int64_t wanted = enoughRows;
    for (const codegen::RowEstimate *one : {&a, &b})
      if (one->isWorthSharing || a.isWorthSharing == b.isWorthSharing)
        wanted = std::min(wanted, one->rows);
    return wanted;
  }
  /// Few rows are enough where hardly a thread waits for the one that is done last.
  bool fillsThreads(const codegen::RowEstimate &rows) const {
    constexpr double wellFilled = 0.88;
    const int64_t tasks = llvm::divideCeil(rows.rows, rows.rowsAtOnce * rows.vectorsAtOnce),
                  rounds = llvm::divideCeil(tasks, target.cores);
    return static_cast<double>(tasks) >= wellFilled * static_cast<double>(rounds * target.cores);
  }
  codegen::RowEstimate estimateOf(GroupGraph::Node node) {
    auto [entry, isNew] = known.try_emplace(node);
    if (isNew)
      entry->second = estimate(groups.membersOf(node));
    return entry->second;
  }

  /// Rows beyond which threads share them well, however many there are.
  static constexpr int64_t enoughRows = 32;
  /// Planning a row kernel takes time that grows with the square of its operators, and what the stages share
  /// is computed again in each; a chain of some eight layer norms is long enough to have saved the traffic.
  static constexpr size_t mostOperators = 64;

  GroupGraph &groups;
  const fusion::CostModel &model;
  const TargetDescription &target;
  PassState &state;
  fusion::MergeLog log;
  llvm::DenseMap<GroupGraph::Node, codegen::RowEstimate> known;
};

struct MergeRows : tokamak::impl::MergeRowsBase<MergeRows> {
  explicit MergeRows(PassStatePtr state) : state(std::move(state)) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    MergeRowsBase::getDependentDialects(registry);
    fusion::registerKernelDialects(registry);
  }

  void runOnOperation() override {
    fusion::CostModel model(state->target);
    model.setProgram(getOperation());
    fusion::forEachGroupGraph(getOperation(),
                              [&](GroupGraph &groups) { RowMerger(groups, model, *state).run(); });
  }

  PassStatePtr state;
};

} // namespace

std::unique_ptr<Pass> tokamak::createMergeRowsPass(PassStatePtr state) {
  return std::make_unique<MergeRows>(orFresh(std::move(state)));
}
