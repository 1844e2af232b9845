//===- RecomputeProducers.cpp - kernels compute what they read ------------------------------------===//
// A value between kernels costs a write and, in each reader, a read. Where it is cheap to compute, each
// reader computes it instead: once in place of the value where there is one reader (an activation, a scale, a
// transposition in front of a convolution or matrix product becomes its prologue), and again in each where
// there are several. An operation belongs to one group, so the graph gets a copy of it for each reader.
#include "analysis/Blocks.h"
#include "analysis/PostDominatorTree.h"
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
#include "fusion/Repeats.h"
#include "mlir/IR/IRMapping.h"
#include "rewrite/Passes.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>
#include <optional>

namespace tokamak {
#define GEN_PASS_DEF_RECOMPUTEPRODUCERS
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;
using fusion::Candidate;
using fusion::GroupGraph;
using fusion::KernelTimes;
using fusion::Refusal;

namespace {

class ProducerRecomputer {
public:
  ProducerRecomputer(GroupGraph &groups, const fusion::CostModel &model, PassState &state)
      : groups(groups), model(model), state(state), log(state) {}

  void run() {
    // Consumers first: what moved into a reader reads values that may move there in turn.
    std::vector<GroupGraph::Node> nodes = groups.nodes();
    for (GroupGraph::Node node : llvm::reverse(nodes)) {
      if (!groups.isCurrent(node) || !groups.isGroup(node))
        continue;
      erased.clear();
      auto members = llvm::to_vector(groups.membersOf(node));
      for (Operation *op : llvm::reverse(members))
        if (!erased.contains(op) && op->getNumResults() == 1 && isRead(op, node))
          tryRecompute(op, node);
    }
  }

private:
  /// One kernel as it is, or as it would be.
  struct Known {
    fusion::GroupCost cost;
    int64_t bytes = 0;                                            ///< of activations
    std::optional<codegen::KernelEstimate> kernel = std::nullopt; ///< where it has been planned
  };
  /// One reader of the value, and what it would be with the producers inside; or several kernels.
  struct Reader {
    GroupGraph::Node node = 0;
    KernelTimes before, after;
    int64_t saved = 0;      ///< bytes
    bool isPlanned = false; ///< what can be known of the kernel by its plan alone, is
    /// On one core, as long as all of them together take no longer.
    double gain() const { return after.takesLonger(before) ? 0 : before.alone - after.alone; }
    std::string comparison() const {
      return after.takesLonger(before) ? fusion::comparison(after.woken, before.woken) + " on all threads"
                                       : fusion::comparison(after.alone, before.alone);
    }
  };

  struct Judged {
    Refusal refusal;
    Reader reader;
  };

  bool isRead(Operation *op, GroupGraph::Node node) const {
    return llvm::any_of(op->getUsers(), [&](Operation *user) { return groups.nodeOf(user) != node; });
  }

  void tryRecompute(Operation *op, GroupGraph::Node node) {
    const GroupGraph::Members slice = analysis::sliceWithin(groups.membersOf(node), op);
    if (!isElementByElement(slice))
      return; // what other passes said of it holds
    if (fusion::areReshapes(slice) || fusion::mayBeView(groups.membersOf(node), model.targetDescription()))
      return note(op, {Reason::NoGain, "a view costs nothing"});
    std::vector<Reader> readers;
    bool isNeeded = false; // by somebody who cannot compute it
    for (GroupGraph::Node consumer : readersOf(op, node)) {
      Reader reader;
      reader.node = consumer;
      if (Refusal refusal = refuseReader(slice, reader)) {
        log.refused({op}, groups.membersOf(consumer), refusal);
        isNeeded = true;
        continue;
      }
      readers.push_back(reader);
    }
    isNeeded |= llvm::any_of(op->getUsers(), [&](Operation *user) { return !groups.nodeOf(user); });
    choose(op, node, slice, readers, isNeeded);
  }

  llvm::SmallVector<GroupGraph::Node> readersOf(Operation *op, GroupGraph::Node node) const {
    llvm::SmallVector<GroupGraph::Node> readers;
    for (Operation *user : op->getUsers())
      if (auto reader = groups.nodeOf(user);
          reader && *reader != node && !llvm::is_contained(readers, *reader))
        readers.push_back(*reader);
    return readers;
  }

  /// Only what computes each element on its own is worth computing again.
  static bool isElementByElement(llvm::ArrayRef<Operation *> slice) {
    return llvm::all_of(slice, [](Operation *op) {
      FusionKind kind = analysis::kindOf(op);
      return kind != FusionKind::Reduction && kind != FusionKind::Anchor;
    });
  }

  Refusal refuseReader(llvm::ArrayRef<Operation *> slice, Reader &reader) {
    if (!groups.isGroup(reader.node) || !fusion::isWideReader(groups.membersOf(reader.node)))
      return judgeReader(slice, reader);
    auto &[producers, found] =
        foundAlike.try_emplace(reader.node, groups.membersOf(reader.node)).first->second;
    auto [alike, isNew] = found.try_emplace(producers.likenessOf(slice), Judged{{}, reader});
    if (isNew)
      alike->second.refusal = judgeReader(slice, alike->second.reader);
    reader = alike->second.reader;
    return alike->second.refusal;
  }

  /// Whether a convolution by minimal filtering would compute its input. Plain sums take several times as
  /// long, which what is saved hardly makes up for, and expressions that gather are modelled too dear to
  /// tell.
  static bool losesFiltering(llvm::ArrayRef<Operation *> slice, llvm::ArrayRef<Operation *> reader) {
    return llvm::any_of(reader, [&](Operation *op) {
      auto convolution = dyn_cast<tk::ConvOp>(op);
      return convolution && convolution.getWinograd() &&
             llvm::is_contained(slice, convolution.getInput().getDefiningOp());
    });
  }

  /// Why there can be no kernel of the reader with the slice inside; what it would take otherwise.
  Refusal judgeReader(llvm::ArrayRef<Operation *> slice, Reader &reader) {
    if (!groups.isGroup(reader.node))
      return {Reason::OpaqueConsumer, ""};
    auto members = groups.membersOf(reader.node);
    if (fusion::areReshapes(members))
      return {Reason::NoGain, "a view costs nothing"};
    size_t size = fusion::plannedSize(members) + fusion::plannedSize(slice);
    if (size > fusion::DominatorPartitioner::mostOperators)
      return {Reason::TooManyOperators, std::to_string(size) + " operators"};
    const GroupGraph::Members both = unite(slice, members);
    std::string why;
    if (!fusion::canEmit(both, &why))
      return {Reason::CannotEmit, why};
    if (losesFiltering(slice, members))
      return {Reason::AnchorInput, "it goes by minimal filtering, which reads its input in memory"};
    const Candidate candidate = together(slice, both);
    const Known &before = known(reader.node), after = price(candidate);
    reader.saved = before.bytes - after.bytes;
    reader.before = KernelTimes(before.cost);
    reader.after = KernelTimes(after.cost);
    // Planning takes ten times as long as all the rest, and elementwise kernels are all of one kind: they are
    // planned when everything else speaks for them.
    if (isElementByElement(both) && after.cost.refusal.empty())
      return refuseRepeats(before, after);
    reader.isPlanned = true;
    return refuseKernel(reader.node, candidate, after);
  }

  static GroupGraph::Members unite(llvm::ArrayRef<Operation *> slice, llvm::ArrayRef<Operation *> members) {
    GroupGraph::Members both(slice);
    llvm::append_range(both, members);
    llvm::sort(both, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    return both;
  }

  static Candidate together(llvm::ArrayRef<Operation *> slice, llvm::ArrayRef<Operation *> both) {
    llvm::SmallPtrSet<Operation *, 16> internal(slice.begin(), slice.end());
    return Candidate(both, &internal);
  }

  Refusal plan(llvm::ArrayRef<Operation *> slice, Reader &reader) {
    reader.isPlanned = true;
    const Candidate candidate = together(slice, unite(slice, groups.membersOf(reader.node)));
    return refuseKernel(reader.node, candidate, price(candidate));
  }

  /// Of the node with producers inside.
  Refusal refuseKernel(GroupGraph::Node node, const Candidate &candidate, const Known &after) {
    Known &before = known(node);
    if (!before.kernel)
      before.kernel = estimate(Candidate(groups.membersOf(node)));
    const codegen::KernelEstimate &kernelBefore = *before.kernel;
    const codegen::KernelEstimate kernelAfter = estimate(candidate);
    if (kernelBefore.kind != kernelAfter.kind)
      return {kernelBefore.isTiled() ? Reason::AnchorInput : Reason::CannotEmit,
              "the " + kernelBefore.kind + " would become " + kernelAfter.kind};
    if (!after.cost.refusal.empty())
      return {Reason::CannotEmit, after.cost.refusal};
    if (kernelAfter.scratchBytes > std::max(kernelBefore.scratchBytes, model.targetDescription().l2Bytes / 2))
      return {Reason::TooMuchScratch, std::to_string(kernelAfter.scratchBytes) + " bytes"};
    // What stays on one thread needs no tasks.
    if (before.cost.parallelism > 1 && kernelAfter.tasks < std::min(kernelBefore.tasks, enoughTasks))
      return {Reason::TooFewRows, std::to_string(kernelAfter.tasks) + " tasks"};
    return refuseRepeats(before, after);
  }

  static Refusal refuseRepeats(const Known &before, const Known &after) {
    // Values of main memory take so long to move that even an exponential costs less to repeat, as long as
    // other cores leave the bandwidth to this one and their own exponentials alone. Neither is known here, so
    // what is dear is never repeated for elements that one kernel asks for again.
    if (after.cost.dearRepeats > std::max(fusion::repeatsAllowed, before.cost.dearRepeats))
      return {Reason::ReusesElements,
              llvm::formatv("each element {0:F2} times", after.cost.dearRepeats).str()};
    return {};
  }

  /// Recomputes in all readers, so that nobody has to store the value, or in those alone that gain by it,
  /// whichever takes less time.
  void choose(Operation *op, GroupGraph::Node node, llvm::ArrayRef<Operation *> slice,
              std::vector<Reader> &readers, bool isNeeded) {
    if (readers.empty())
      return;
    double alone = 0;
    Reader all; // kernels together
    for (const Reader &reader : readers) {
      alone += std::max(reader.gain(), 0.0);
      all.before += reader.before, all.after += reader.after, all.saved += reader.saved;
    }
    if (!isNeeded) {
      const Reader producer = withoutValue(op, node);
      all.before += producer.before, all.after += producer.after, all.saved += producer.saved;
    }
    // Where the value moves into its one reader, nothing is repeated: what the model cannot tell apart then,
    // bytes decide.
    const bool moves = readers.size() == 1 && all.saved > 0;
    const bool inAll = !isNeeded && !all.after.takesLonger(all.before, moves ? margin : 1) &&
                       (moves ? all.before.alone * margin - all.after.alone : all.gain()) > alone;
    if (!planReaders(op, slice, readers, inAll))
      return choose(op, node, slice, readers, /*isNeeded=*/true);
    for (const Reader &reader : readers) {
      auto members = llvm::to_vector(groups.membersOf(reader.node));
      const bool pays = inAll || reader.gain() > 0;
      const std::string detail = inAll || !(isNeeded || pays) ? all.comparison() : reader.comparison();
      if (!pays) {
        log.refused({op}, members, {Reason::NoGain, detail});
        continue;
      }
      if (!state.fuel.take("recompute-producers", op->getLoc())) {
        log.refused({op}, members, {Reason::OutOfFuel, ""});
        return;
      }
      log.merged({op}, members, detail);
      copyInto(op, slice, reader.node);
    }
    for (Operation *original : llvm::reverse(slice))
      if (original->use_empty()) {
        erased.insert(original);
        groups.erase(original);
      }
    cache.erase(node);
    foundAlike.erase(node);
  }

  /// Plans the readers that would change. One that cannot is left out, and what the others do is open again.
  bool planReaders(Operation *op, llvm::ArrayRef<Operation *> slice, std::vector<Reader> &readers,
                   bool inAll) {
    for (auto reader = readers.begin(); reader != readers.end(); ++reader) {
      if (reader->isPlanned || !(inAll || reader->gain() > 0))
        continue;
      if (Refusal refusal = plan(slice, *reader)) {
        log.refused({op}, groups.membersOf(reader->node), refusal);
        readers.erase(reader);
        return false;
      }
    }
    return true;
  }

  /// Of the producer's kernel as it is, and once nobody reads the value from memory.
  Reader withoutValue(Operation *op, GroupGraph::Node node) {
    Reader producer{node, KernelTimes(known(node).cost), {}, known(node).bytes};
    auto members = groups.membersOf(node);
    llvm::SmallPtrSet<Operation *, 16> kept;
    GroupGraph::Members pending;
    for (Operation *member : members)
      if (member != op && isRead(member, node))
        pending.push_back(member);
    while (!pending.empty()) {
      Operation *next = pending.pop_back_val();
      if (!kept.insert(next).second)
        continue;
      for (Value operand : next->getOperands())
        if (Operation *definition = operand.getDefiningOp())
          if (groups.nodeOf(definition) == node)
            pending.push_back(definition);
    }
    if (kept.empty())
      return producer;
    GroupGraph::Members rest;
    llvm::copy_if(members, std::back_inserter(rest),
                  [&](Operation *member) { return kept.contains(member); });
    llvm::SmallPtrSet<Operation *, 1> internal{op};
    Candidate candidate(rest, &internal);
    producer.after = KernelTimes(costOf(candidate));
    producer.saved -= fusion::activationBytes(candidate);
    return producer;
  }

  void copyInto(Operation *op, llvm::ArrayRef<Operation *> slice, GroupGraph::Node reader) {
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    IRMapping copies;
    Operation *copy = nullptr;
    for (Operation *original : slice) {
      copy = builder.clone(*original, copies);
      groups.add(copy, reader);
    }
    op->getResult(0).replaceUsesWithIf(
        copy->getResult(0), [&](OpOperand &use) { return groups.nodeOf(use.getOwner()) == reader; });
    cache.erase(reader);
    foundAlike.erase(reader);
  }

  void note(Operation *op, const Refusal &refusal) {
    for (Operation *user : op->getUsers())
      if (auto reader = groups.nodeOf(user); reader && groups.isGroup(*reader))
        log.refused({op}, {user}, refusal);
  }

  fusion::GroupCost costOf(const Candidate &candidate) const {
    Operation *group = candidate.group();
    return model.group(group);
  }
  codegen::KernelEstimate estimate(const Candidate &candidate) const {
    return codegen::estimateKernel(candidate.group(), model.targetDescription());
  }
  Known price(const Candidate &candidate) const {
    return {costOf(candidate), fusion::activationBytes(candidate)};
  }
  Known &known(GroupGraph::Node node) {
    auto [place, isNew] = cache.try_emplace(node);
    if (isNew)
      place->second = price(Candidate(groups.membersOf(node)));
    return place->second;
  }

  /// Of the modelled time: prologues of little work came out up to 2.3 % slower in the model, and up to 1 %
  /// slower or faster by the clock.
  static constexpr double margin = 1.03;
  /// Beyond so many tasks, more parallelism is of no use.
  static constexpr int64_t enoughTasks = 6;

  GroupGraph &groups;
  const fusion::CostModel &model;
  PassState &state;
  fusion::MergeLog log;
  llvm::SmallPtrSet<Operation *, 16> erased; ///< of the group in hand
  std::map<GroupGraph::Node, Known> cache;   ///< of groups as they are now
  std::map<GroupGraph::Node, fusion::FoundAlike<Judged>>
      foundAlike; ///< by reader, which is large and as it is now
};

struct RecomputeProducers : tokamak::impl::RecomputeProducersBase<RecomputeProducers> {
  explicit RecomputeProducers(PassStatePtr state) : state(std::move(state)) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    RecomputeProducersBase::getDependentDialects(registry);
    fusion::registerKernelDialects(registry);
  }

  void runOnOperation() override {
    fusion::CostModel model(state->target);
    model.setProgram(getOperation());
    fusion::forEachGroupGraph(getOperation(),
                              [&](GroupGraph &groups) { ProducerRecomputer(groups, model, *state).run(); });
  }

  PassStatePtr state;
};

} // namespace

std::unique_ptr<Pass> tokamak::createRecomputeProducersPass(PassStatePtr state) {
  return std::make_unique<RecomputeProducers>(orFresh(std::move(state)));
}
