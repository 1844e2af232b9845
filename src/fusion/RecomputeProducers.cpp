//===- RecomputeProducers.cpp - kernels compute what they read ------------------------------------===//
// A value between kernels costs a write and, in each reader, a read. Where it is cheap to compute, each
// reader computes it instead: once in place of the value where there is one reader (an activation, a scale, a
// transposition in front of a convolution or matrix product becomes its prologue), and again in each where
// there are several. An operation belongs to one group, so the graph gets a copy of it for each reader.
#include "analysis/PostDominatorTree.h"
#include "codegen/kernel/KernelEstimate.h"
#include "fusion/Candidate.h"
#include "fusion/DominatorPartitioner.h"
#include "fusion/EmissionLimits.h"
#include "fusion/GroupGraph.h"
#include "fusion/KernelDialects.h"
#include "fusion/MergeLog.h"
#include "mlir/IR/IRMapping.h"
#include "rewrite/Passes.h"

namespace tokamak {
#define GEN_PASS_DEF_RECOMPUTEPRODUCERS
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;
using fusion::Candidate;
using fusion::GroupGraph;
using fusion::Refusal;

namespace {

class ProducerRecomputer {
public:
  ProducerRecomputer(GroupGraph &groups, const TargetDescription &target, PassState &state)
      : groups(groups), target(target), state(state), log(state) {}

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
  /// One reader of the value and what it would be with the producers inside.
  struct Reader {
    GroupGraph::Node node;
    int64_t bytesBefore = 0, bytesAfter = 0;
    double cycles = 0; ///< spent on computing the value here
  };

  bool isRead(Operation *op, GroupGraph::Node node) const {
    return llvm::any_of(op->getUsers(), [&](Operation *user) { return groups.nodeOf(user) != node; });
  }

  /// The operations of the group that `op` depends on and itself, in block order.
  GroupGraph::Members sliceOf(Operation *op, GroupGraph::Node node) const {
    llvm::SmallPtrSet<Operation *, 16> inside;
    GroupGraph::Members pending{op};
    while (!pending.empty()) {
      Operation *next = pending.pop_back_val();
      if (!inside.insert(next).second)
        continue;
      for (Value operand : next->getOperands())
        if (Operation *definition = operand.getDefiningOp())
          if (groups.nodeOf(definition) == node)
            pending.push_back(definition);
    }
    GroupGraph::Members slice;
    llvm::copy_if(groups.membersOf(node), std::back_inserter(slice),
                  [&](Operation *member) { return inside.contains(member); });
    return slice;
  }

  void tryRecompute(Operation *op, GroupGraph::Node node) {
    GroupGraph::Members slice = sliceOf(op, node);
    if (Refusal refusal = refuseSlice(slice))
      return note(op, refusal);
    if (groups.membersOf(node).size() == 1 && mayBeView(op))
      return note(op, {Reason::NoGain, "a view costs nothing"});
    codegen::ElementCost cost = codegen::elementCost(Candidate(slice).group(), target);
    std::vector<Reader> readers;
    bool isNeeded = false; // by somebody who cannot compute it
    for (GroupGraph::Node consumer : readersOf(op, node)) {
      Reader reader{consumer};
      if (Refusal refusal = judge(op, slice, cost, reader)) {
        log.refused({op}, groups.membersOf(consumer), refusal);
        isNeeded = true;
        continue;
      }
      readers.push_back(reader);
    }
    isNeeded |= llvm::any_of(op->getUsers(), [&](Operation *user) { return !groups.nodeOf(user); });
    choose(op, node, slice, cost, readers, isNeeded);
  }

  llvm::SmallVector<GroupGraph::Node> readersOf(Operation *op, GroupGraph::Node node) const {
    llvm::SmallVector<GroupGraph::Node> readers;
    for (Operation *user : op->getUsers())
      if (auto reader = groups.nodeOf(user);
          reader && *reader != node && !llvm::is_contained(readers, *reader))
        readers.push_back(*reader);
    return readers;
  }

  /// Whether a concatenation or slice alone can be a part of one memory between kernels, which needs no
  /// kernel (codegen/host/Views.h): in channel-blocked layouts, or where the axes before are of extent 1.
  bool mayBeView(Operation *op) const {
    auto isStretch = [&](RankedTensorType whole, int64_t axis, int64_t at) {
      bool isBlocked = axis == 1 && whole.getRank() > 2 && at % target.lanes() == 0;
      return isBlocked || llvm::all_of(whole.getShape().take_front(static_cast<size_t>(axis)),
                                       [](int64_t n) { return n == 1; });
    };
    if (auto slice = dyn_cast<tk::SliceOp>(op)) {
      auto whole = tk::tensorType(slice.getInput());
      int64_t cut = 0;
      for (auto [axis, size] : llvm::enumerate(slice.getSizes())) {
        auto number = static_cast<int64_t>(axis);
        if (size == whole.getDimSize(static_cast<unsigned>(axis)) && slice.getSteps()[axis] == 1)
          continue;
        if (slice.getSteps()[axis] != 1 || !isStretch(whole, number, slice.getStarts()[axis]))
          return false;
        ++cut;
      }
      return cut < 2;
    }
    auto concat = dyn_cast<tk::ConcatOp>(op);
    if (!concat)
      return false;
    int64_t at = 0;
    return llvm::all_of(concat.getInputs(), [&](Value part) {
      int64_t start = at;
      at += tk::tensorType(part).getDimSize(static_cast<unsigned>(concat.getAxis()));
      return isStretch(tk::tensorType(concat.getResult()), concat.getAxis(), start);
    });
  }

  /// Only what computes each element on its own is worth computing again.
  static Refusal refuseSlice(llvm::ArrayRef<Operation *> slice) {
    for (Operation *op : slice) {
      FusionKind kind = analysis::kindOf(op);
      if (kind == FusionKind::Reduction)
        return {Reason::ReductionStarts, ""};
      if (kind == FusionKind::Anchor)
        return {Reason::SecondAnchor, ""};
    }
    if (llvm::all_of(slice, [](Operation *op) { return isa<tk::ReshapeOp>(op); }))
      return {Reason::NoGain, "a view costs nothing"};
    return {};
  }

  Refusal judge(Operation *op, llvm::ArrayRef<Operation *> slice, const codegen::ElementCost &cost,
                Reader &reader) {
    if (!groups.isGroup(reader.node))
      return {Reason::OpaqueConsumer, ""};
    auto members = groups.membersOf(reader.node);
    if (llvm::all_of(members, [](Operation *member) { return isa<tk::ReshapeOp>(member); }))
      return {Reason::NoGain, "a view costs nothing"};
    size_t size = fusion::plannedSize(members) + fusion::plannedSize(slice);
    if (size > fusion::DominatorPartitioner::mostOperators)
      return {Reason::TooManyOperators, std::to_string(size) + " operators"};

    Candidate before(members);
    GroupGraph::Members both(slice);
    llvm::append_range(both, members);
    llvm::sort(both, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    std::string why;
    if (!fusion::canEmit(both, &why))
      return {Reason::CannotEmit, why};
    llvm::SmallPtrSet<Operation *, 16> internal(slice.begin(), slice.end());
    Candidate after(both, &internal);
    codegen::KernelEstimate kernelBefore = codegen::estimateKernel(before.group(), target),
                            kernelAfter = codegen::estimateKernel(after.group(), target);
    if (kernelBefore.kind != kernelAfter.kind)
      return {kernelBefore.isTiled() ? Reason::AnchorInput : Reason::CannotEmit,
              "the " + kernelBefore.kind + " would become " + kernelAfter.kind};
    if (kernelAfter.scratchBytes > std::max(kernelBefore.scratchBytes, target.l2Bytes / 2))
      return {Reason::TooMuchScratch, std::to_string(kernelAfter.scratchBytes) + " bytes"};
    if (kernelAfter.tasks < std::min<int64_t>(kernelBefore.tasks, enoughTasks))
      return {Reason::TooFewRows, std::to_string(kernelAfter.tasks) + " tasks"};

    Value value = op->getResult(0);
    const auto *place = llvm::find(before.inputs(), value);
    auto operand = static_cast<unsigned>(place - before.inputs().begin());
    // An anchor's operand is computed into its scratch, and read from there as often as is needed.
    bool isPrologue = kernelAfter.isTiled() && kernelAfter.scratchBytes > kernelBefore.scratchBytes;
    double requests = isPrologue                   ? kernelAfter.repeats
                      : kernelAfter.kind == "rows" ? requestsOfRows(before.group(), kernelAfter, value, cost)
                                                   : codegen::requestsPerElement(before.group(), operand);
    constexpr double once = 1.25;
    if (requests > once && cost.dearest >= dear)
      return {Reason::ReusesElements,
              "each element " + number(requests) + " times, at " + number(cost.dearest) + " cycles a vector"};
    double perVector = isPrologue ? cost.all + 2 : cost.all; // it is stored and loaded again
    reader.cycles =
        perVector * requests * vectorsOf(value) + std::max(kernelAfter.accesses - kernelBefore.accesses, 0.0);
    reader.bytesBefore = activationBytes(before);
    reader.bytesAfter = activationBytes(after);
    return {};
  }

  /// In a row, dear values are computed once, others in each loop nest; a value smaller than the rows
  /// together is computed for each of them.
  static double requestsOfRows(tk::FusionOp group, const codegen::KernelEstimate &kernel, Value value,
                               const codegen::ElementCost &cost) {
    int64_t largest = 1;
    for (Operation &op : group.getBody().front().without_terminator())
      for (Value result : op.getResults())
        largest = std::max(largest, tk::tensorType(result).getNumElements());
    for (Value input : group.getInputs())
      largest = std::max(largest, tk::tensorType(input).getNumElements());
    double reuse = static_cast<double>(largest) /
                   static_cast<double>(std::max<int64_t>(tk::tensorType(value).getNumElements(), 1));
    return std::max(reuse, 1.0) * (cost.dearest >= dear ? 1 : static_cast<double>(kernel.nests));
  }

  /// Recomputes in all readers if that is possible and pays, else in those where it pays alone.
  void choose(Operation *op, GroupGraph::Node node, llvm::ArrayRef<Operation *> slice,
              const codegen::ElementCost &cost, std::vector<Reader> readers, bool isNeeded) {
    auto [saved, savedSeconds] = isNeeded ? Saving() : savedInProducer(op, node);
    if (isNeeded)
      llvm::erase_if(readers, [&](const Reader &reader) {
        bool pays = reader.bytesAfter < reader.bytesBefore;
        if (!pays)
          log.refused({op}, groups.membersOf(reader.node), {Reason::NoGain, bytes(reader)});
        return !pays;
      });
    if (readers.empty())
      return;
    double cycles = 0;
    for (const Reader &reader : readers) {
      saved += reader.bytesBefore - reader.bytesAfter;
      cycles += reader.cycles;
    }
    if (!isNeeded) // it is computed once in any case
      cycles -= cost.all * vectorsOf(op->getResult(0));
    std::string detail = std::to_string(saved) + " bytes saved for " +
                         std::to_string(static_cast<int64_t>(cycles)) + " cycles";
    bool pays = saved > 0 && seconds(saved, op->getResult(0)) + savedSeconds > cycles / target.clockHz;
    for (const Reader &reader : readers) {
      auto members = llvm::to_vector(groups.membersOf(reader.node));
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
  }

  /// What the producer's kernel no longer does once nobody reads the value from memory.
  struct Saving {
    int64_t bytes = 0;
    double seconds = 0; ///< besides those that the bytes take
  };
  Saving savedInProducer(Operation *op, GroupGraph::Node node) const {
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
    Candidate before(members);
    if (kept.empty()) {
      double cycles = codegen::estimateKernel(before.group(), target).accesses;
      return {activationBytes(before), cycles / target.clockHz + target.callSeconds};
    }
    GroupGraph::Members rest;
    llvm::copy_if(members, std::back_inserter(rest),
                  [&](Operation *member) { return kept.contains(member); });
    llvm::SmallPtrSet<Operation *, 1> internal{op};
    return {activationBytes(before) - activationBytes(Candidate(rest, &internal)), 0};
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
  }

  void note(Operation *op, const Refusal &refusal) {
    for (Operation *user : op->getUsers())
      if (auto reader = groups.nodeOf(user); reader && groups.isGroup(*reader))
        log.refused({op}, {user}, refusal);
  }

  double vectorsOf(Value value) const {
    return static_cast<double>(tk::tensorType(value).getNumElements()) / static_cast<double>(target.lanes());
  }
  static std::string number(double value) { return std::to_string(value).substr(0, 5); }
  static std::string bytes(const Reader &reader) {
    return std::to_string(reader.bytesAfter) + " bytes instead of " + std::to_string(reader.bytesBefore);
  }
  /// Time of moving bytes of a value that one kernel writes and others read.
  double seconds(int64_t bytes, Value value) const {
    auto level = MemoryLevel::L2;
    while (level != MemoryLevel::Memory && analysis::tensorBytes(value) > target.capacity(level))
      level = static_cast<MemoryLevel>(static_cast<int>(level) + 1);
    return static_cast<double>(bytes) / target.bandwidth[static_cast<size_t>(level)];
  }
  /// An operator of so many cycles a vector (a division, a root, a polynomial) is not repeated.
  static constexpr double dear = 4;
  /// Beyond so many tasks, more parallelism is of no use.
  static constexpr int64_t enoughTasks = 6;

  GroupGraph &groups;
  const TargetDescription &target;
  PassState &state;
  fusion::MergeLog log;
  llvm::SmallPtrSet<Operation *, 16> erased; ///< of the group in hand
};

struct RecomputeProducers : tokamak::impl::RecomputeProducersBase<RecomputeProducers> {
  explicit RecomputeProducers(PassStatePtr state) : state(std::move(state)) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    RecomputeProducersBase::getDependentDialects(registry);
    fusion::registerKernelDialects(registry);
  }

  void runOnOperation() override {
    fusion::forEachGroupGraph(
        getOperation(), [&](GroupGraph &groups) { ProducerRecomputer(groups, state->target, *state).run(); });
  }

  PassStatePtr state;
};

} // namespace

std::unique_ptr<Pass> tokamak::createRecomputeProducersPass(PassStatePtr state) {
  return std::make_unique<RecomputeProducers>(orFresh(std::move(state)));
}
