//===- SplitReductions.cpp - convolutions add up their results where a reduction reads them ---------===//
// A global pooling behind a convolution (the squeeze of squeeze-excite, the last pooling of a classifier) is
// a kernel that reads all of its result again. The convolution's own kernel adds up each band of rows while
// they are in registers instead: the reduction is split into a tk.window of whole bands, which becomes one
// more result of that kernel, and a reduction over the bands. Where one band is all of the rows, the window
// is the reduction, and what follows it may join the kernel as well.
#include "analysis/PostDominatorTree.h"
#include "analysis/Traffic.h"
#include "codegen/kernel/BandEstimate.h"
#include "fusion/Candidate.h"
#include "fusion/CostModel.h"
#include "fusion/DominatorPartitioner.h"
#include "fusion/EmissionLimits.h"
#include "fusion/GroupGraph.h"
#include "fusion/KernelDialects.h"
#include "fusion/MergeLog.h"
#include "mlir/IR/IRMapping.h"
#include "rewrite/Passes.h"
#include "llvm/Support/FormatVariadic.h"

namespace tokamak {
#define GEN_PASS_DEF_SPLITREDUCTIONS
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;
using fusion::Candidate;
using fusion::GroupGraph;
using fusion::Refusal;

namespace {

/// A reduction in the graph: an operator, or the only one of a composite.
struct Reduction {
  Operation *holder = nullptr; ///< the operator or the composite
  tk::ReduceOp reduce;
  Value input; ///< what it reads, outside of the composite
};

std::optional<Reduction> reductionIn(Operation *op) {
  if (auto reduce = dyn_cast<tk::ReduceOp>(op))
    return Reduction{op, reduce, reduce.getInput()};
  auto composite = dyn_cast<tk::CompositeOp>(op);
  if (!composite || composite.getNumResults() != 1)
    return std::nullopt;
  Block &body = composite.getBody().front();
  Reduction found{op, nullptr, nullptr};
  for (Operation &inner : body.without_terminator())
    if (auto reduce = dyn_cast<tk::ReduceOp>(inner)) {
      if (found.reduce)
        return std::nullopt;
      found.reduce = reduce;
    }
  if (!found.reduce)
    return std::nullopt;
  auto argument = dyn_cast<BlockArgument>(found.reduce.getInput());
  // What else reads the elements that are reduced is no work on the sums.
  if (!argument || argument.getOwner() != &body || !argument.hasOneUse())
    return std::nullopt;
  for (Operation &inner : body.without_terminator())
    if (&inner != found.reduce && !inner.hasTrait<OpTrait::ConstantLike>() &&
        analysis::kindOf(&inner) > FusionKind::Injective)
      return std::nullopt;
  if (!body.getTerminator()->getOperand(0).getDefiningOp())
    return std::nullopt;
  found.input = composite.getInputs()[argument.getArgNumber()];
  return found;
}

class ReductionSplitter {
public:
  ReductionSplitter(GroupGraph &groups, const fusion::CostModel &model, PassState &state)
      : groups(groups), model(model), state(state), log(state) {}

  void run() {
    for (GroupGraph::Node node : groups.nodes()) {
      if (!groups.isCurrent(node) || !groups.isGroup(node))
        continue;
      for (Operation *op : llvm::to_vector(groups.membersOf(node)))
        if (auto reduction = reductionIn(op))
          if (trySplit(*reduction, node))
            break; // the group has changed, or is gone
    }
  }

private:
  /// What takes the place of a reduction.
  struct Split {
    tk::WindowOp window;
    GroupGraph::Members rest; ///< what follows the window, in order, with constants
    Value result;             ///< instead of the reduction's
    int64_t bands = 1;
  };
  /// The kernels of both sides once the reduction is split, and whether they are one.
  struct Outcome {
    double seconds = 0;
    bool isOne = false;
    std::string refusal;
  };

  bool trySplit(const Reduction &reduction, GroupGraph::Node node) {
    Operation *definition = reduction.input.getDefiningOp();
    auto producer = definition ? groups.nodeOf(definition) : std::nullopt;
    if (!producer || *producer == node || !groups.isGroup(*producer) ||
        llvm::none_of(groups.membersOf(*producer), fusion::holdsAnchorNest))
      return false;
    if (Refusal refusal = split(reduction, *producer, node)) {
      log.refused({definition}, {reduction.holder}, refusal);
      return false;
    }
    return true;
  }

  Refusal split(const Reduction &reduction, GroupGraph::Node producer, GroupGraph::Node node) {
    if (Refusal refusal = refuseReduction(reduction.reduce))
      return refusal;
    auto producers = llvm::to_vector(groups.membersOf(producer)),
         consumers = llvm::to_vector(groups.membersOf(node));
    size_t size = fusion::plannedSize(producers) + fusion::plannedSize(consumers);
    if (size > fusion::DominatorPartitioner::mostOperators)
      return {Reason::TooManyOperators, std::to_string(size) + " operators"};
    auto rows = codegen::bandRowsOf(Candidate(producers).group(), model.targetDescription());
    if (!rows)
      return {Reason::CannotEmit, "its kernel has no bands of rows to add up"};

    const fusion::GroupCost convolution = model.group(producers);
    const double before = convolution.seconds() + model.group(consumers).seconds();
    const double unsure = uncertainty * (convolution.seconds() - convolution.dispatch - convolution.call);
    Split parts = build(reduction, *rows);
    // As if it were gone: what it reads may have no other readers.
    Operation *holder = reduction.holder;
    llvm::SmallVector<Value> operands(holder->getOperands());
    holder->setOperands({});
    Outcome after = price(parts, producer, node, holder);
    after.seconds += secondsOfBlocking(producers) / convolution.parallelism;
    holder->setOperands(operands);

    std::string detail =
        llvm::formatv("{0} of {1} rows: {2:F1} us instead of {3:F1}",
                      parts.bands == 1 ? std::string("one band") : std::to_string(parts.bands) + " bands",
                      *rows, after.seconds * 1e6, before * 1e6)
            .str();
    Refusal refusal;
    if (!after.refusal.empty())
      refusal = {Reason::CannotEmit, after.refusal};
    else if (after.seconds + unsure >= before)
      refusal = {Reason::NoGain, detail};
    else if (!state.fuel.take("split-reductions", holder->getLoc()))
      refusal = {Reason::OutOfFuel, ""};
    if (refusal) {
      undo(parts, holder);
      return refusal;
    }
    log.merged({reduction.input.getDefiningOp()}, {holder}, detail);
    accept(parts, producer, node, holder, after.isOne);
    return {};
  }

  /// Sums of what is narrower than float32 would be rounded band by band, and integers have no such kernels.
  static Refusal refuseReduction(tk::ReduceOp reduce) {
    auto type = tk::tensorType(reduce.getInput());
    if (reduce.getKind() != tk::ReduceKind::Sum && reduce.getKind() != tk::ReduceKind::Max)
      return {Reason::CannotEmit, "neither a sum nor a maximum"};
    if (!type.getElementType().isF32())
      return {Reason::CannotEmit, "bands of float32 only are added up"};
    if (type.getRank() != 4 || reduce.getAxes() != llvm::ArrayRef<int64_t>{2, 3})
      return {Reason::CannotEmit, "not over rows and columns"};
    if (type.getNumElements() == 0)
      return {Reason::CannotEmit, "of no elements"};
    return {};
  }

  /// Convolutions of narrow groups add up channels, so what lies row-major in memory is brought into blocks
  /// first, lane by lane; alone they might have taken columns as they lie.
  double secondsOfBlocking(llvm::ArrayRef<Operation *> producers) const {
    auto isConvolution = [](Operation *op) { return isa<tk::ConvOp, tk::ConvTransposeOp, tk::WindowOp>(op); };
    double elements = 0;
    for (Operation *op : producers) {
      auto group = op->getAttrOfType<IntegerAttr>("group");
      if (!isConvolution(op) || !group || group.getInt() == 1)
        continue;
      Operation *definition = op->getOperand(0).getDefiningOp();
      auto before = definition ? groups.nodeOf(definition) : std::nullopt;
      if (!before || llvm::none_of(groups.membersOf(*before), isConvolution))
        elements += static_cast<double>(tk::tensorType(op->getOperand(0)).getNumElements());
    }
    constexpr double cyclesOfLane = 3;
    return elements * cyclesOfLane / model.targetDescription().clockHz;
  }

  static Split build(const Reduction &reduction, int64_t rows) {
    tk::ReduceOp reduce = reduction.reduce;
    auto input = tk::tensorType(reduction.input);
    Split split;
    split.bands = (input.getDimSize(2) + rows - 1) / rows;
    const int64_t below = split.bands * rows - input.getDimSize(2);
    OpBuilder builder(reduction.holder->getContext());
    builder.setInsertionPointAfter(reduction.input.getDefiningOp());
    Location loc = reduction.holder->getLoc();
    auto type = RankedTensorType::get({input.getDimSize(0), input.getDimSize(1), split.bands, 1},
                                      input.getElementType());
    split.window = builder.create<tk::WindowOp>(
        loc, type, reduction.input, reduce.getKind(), llvm::ArrayRef<int64_t>{rows, input.getDimSize(3)},
        llvm::ArrayRef<int64_t>{rows, input.getDimSize(3)}, llvm::ArrayRef<int64_t>{1, 1},
        llvm::ArrayRef<int64_t>{0, 0}, llvm::ArrayRef<int64_t>{below, 0});

    builder.setInsertionPoint(reduction.holder);
    Value whole = split.window.getResult();
    auto note = [&](Operation *op) {
      split.rest.push_back(op);
      return op->getResult(0);
    };
    if (split.bands > 1)
      whole = note(builder.create<tk::ReduceOp>(loc, reduce.getType(), whole, reduce.getKind(),
                                                reduce.getAxes(), reduce.getKeepDims()));
    else if (!reduce.getKeepDims())
      whole =
          note(builder.create<tk::ReshapeOp>(loc, reduce.getType(), whole, type.getShape().take_front(2)));
    split.result = whole;
    if (auto composite = dyn_cast<tk::CompositeOp>(reduction.holder)) {
      Block &body = composite.getBody().front();
      IRMapping mapping;
      mapping.map(body.getArguments(), composite.getInputs());
      mapping.map(reduce.getResult(), whole);
      for (Operation &inner : body.without_terminator())
        if (&inner != reduce) {
          Operation *copy = builder.clone(inner, mapping);
          copy->setLoc(loc);
          note(copy);
        }
      split.result = mapping.lookup(body.getTerminator()->getOperand(0));
    }
    reduction.holder->getResult(0).replaceAllUsesWith(split.result);
    return split;
  }

  static void undo(const Split &split, Operation *holder) {
    Value result = split.result;
    result.replaceAllUsesWith(holder->getResult(0));
    for (Operation *op : llvm::reverse(split.rest))
      op->erase();
    tk::WindowOp(split.window)->erase();
  }

  Outcome price(const Split &split, GroupGraph::Node producer, GroupGraph::Node node, Operation *holder) {
    auto inOrder = [](GroupGraph::Members members) {
      llvm::sort(members, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
      return members;
    };
    GroupGraph::Members first(groups.membersOf(producer)), second(groups.membersOf(node));
    first.push_back(split.window);
    first = inOrder(first);
    llvm::erase(second, holder);
    llvm::copy_if(split.rest, std::back_inserter(second),
                  [](Operation *op) { return !op->hasTrait<OpTrait::ConstantLike>(); });
    second = inOrder(second);

    Outcome outcome;
    fusion::GroupCost alone = model.group(first);
    outcome.refusal = alone.refusal;
    outcome.seconds = alone.seconds();
    if (second.empty())
      return outcome;
    outcome.seconds += model.group(second).seconds();
    if (split.bands > 1 || groups.pathAround(producer, node) != GroupGraph::Path::None)
      return outcome;
    GroupGraph::Members both(first);
    llvm::append_range(both, second);
    fusion::GroupCost together = model.group(inOrder(both));
    if (together.refusal.empty() && together.seconds() < outcome.seconds)
      outcome = {together.seconds(), true, ""};
    return outcome;
  }

  void accept(const Split &split, GroupGraph::Node producer, GroupGraph::Node node, Operation *holder,
              bool isOne) {
    groups.add(split.window, producer);
    for (Operation *op : split.rest)
      if (!op->hasTrait<OpTrait::ConstantLike>())
        groups.add(op, node);
    groups.erase(holder);
    if (isOne)
      groups.merge(producer, node);
  }

  /// The part of a convolution's time that the model cannot tell: adding up bands, it has tiles of one row
  /// and other tasks.
  static constexpr double uncertainty = 0.01;

  GroupGraph &groups;
  const fusion::CostModel &model;
  PassState &state;
  fusion::MergeLog log;
};

struct SplitReductions : tokamak::impl::SplitReductionsBase<SplitReductions> {
  explicit SplitReductions(PassStatePtr state) : state(std::move(state)) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    SplitReductionsBase::getDependentDialects(registry);
    fusion::registerKernelDialects(registry);
  }

  void runOnOperation() override {
    fusion::CostModel model(state->target);
    model.setProgram(getOperation());
    fusion::forEachGroupGraph(getOperation(),
                              [&](GroupGraph &groups) { ReductionSplitter(groups, model, *state).run(); });
  }

  PassStatePtr state;
};

} // namespace

std::unique_ptr<Pass> tokamak::createSplitReductionsPass(PassStatePtr state) {
  return std::make_unique<SplitReductions>(orFresh(std::move(state)));
}
