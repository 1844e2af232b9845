//===- GraphCost.cpp - what a graph will cost once it is fused ---------------------------------------===//
#include "rewrite/GraphCost.h"
#include "analysis/PostDominatorTree.h"
#include "analysis/Traffic.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Pass/PassManager.h"
#include "rewrite/Passes.h"
#include "rewrite/WeightedAnchor.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace tokamak;

/// Constants in place of what fold-constants makes of constants; their values do not matter here.
static void foldToPlaceholders(Block &block) {
  OpBuilder builder(block.getParentOp()->getContext());
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (op.hasTrait<OpTrait::ConstantLike>() || op.getNumResults() != 1 ||
        !rewrite::isConstantExpression(op.getResult(0)))
      continue;
    builder.setInsertionPoint(&op);
    Value result = op.getResult(0);
    result.replaceAllUsesWith(rewrite::splat(builder, op.getLoc(), tk::tensorType(result), 0));
    op.erase();
  }
}

/// The only operation of the group, or null.
static Operation *onlyOperation(Operation *op) {
  auto group = dyn_cast<tk::FusionOp>(op);
  return group && llvm::hasNItems(group.getBody().front(), 2) ? &group.getBody().front().front() : nullptr;
}

/// Whether each part of `axis` is one stretch of row-major memory.
static bool hasRowStretches(RankedTensorType whole, int64_t axis) {
  return llvm::all_of(whole.getShape().take_front(static_cast<size_t>(axis)),
                      [](int64_t n) { return n == 1; });
}

/// Whether a stretch of `axis` that begins at `at` is one stretch of memory in each image: whole channel
/// blocks, or elements with nothing outside.
static bool isStretch(RankedTensorType whole, int64_t axis, int64_t at, const TargetDescription &target) {
  if (whole.getRank() >= 3 && axis == 1)
    return at % target.lanes() == 0;
  return hasRowStretches(whole, axis);
}

static bool isSliceView(tk::SliceOp slice, const TargetDescription &target) {
  auto type = tk::tensorType(slice.getInput());
  for (auto [axis, size] : llvm::enumerate(slice.getSizes()))
    if (size != type.getDimSize(static_cast<unsigned>(axis)))
      return isStretch(type, static_cast<int64_t>(axis), slice.getStarts()[axis], target);
  return true;
}

static bool isView(Operation *op, const TargetDescription &target);

/// Whether the argument stands for what a kernel computes.
static bool isComputed(BlockArgument argument) {
  return cast<func::FuncOp>(argument.getOwner()->getParentOp())
             .getArgAttr(argument.getArgNumber(), rewrite::computedAttribute) != nullptr;
}

/// Whether the operand of main's terminator leaves the whole graph.
static bool isReturned(OpOperand &use) {
  auto function = dyn_cast<func::FuncOp>(use.getOwner()->getParentOp());
  return function && isa<func::ReturnOp>(use.getOwner()) &&
         function.getResultAttr(use.getOperandNumber(), rewrite::returnedAttribute);
}

/// Marks convolutions as choose-winograd will.
static void chooseWinograd(Block &block, codegen::WeightSource weights, const TargetDescription &target) {
  fusion::WinogradUse use(
      weights, target,
      {.comesInBlocks = [](BlockArgument argument) { return isComputed(argument); },
       .leavesInBlocks =
           [](OpOperand &use) { return isa<func::ReturnOp>(use.getOwner()) && !isReturned(use); }});
  for (auto conv : block.getOps<tk::ConvOp>())
    if (const int64_t outputs = use.outputs(conv))
      conv.setWinograd(outputs);
}

/// Whether a kernel computes the value, in a place of our choice. Arguments say so of what they stand for.
static bool isPlaceable(Value value, const TargetDescription &target) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return isComputed(argument);
  return isa<tk::FusionOp>(value.getDefiningOp()) && !isView(value.getDefiningOp(), target);
}

/// Whether a result of `op` leaves the whole graph.
static bool isReturned(Operation *op) {
  return llvm::any_of(op->getUses(), [](OpOperand &use) { return isReturned(use); });
}

/// Whether each operand can be computed in its place: in channel blocks, or in rows where the result leaves.
static bool isConcatView(tk::FusionOp group, tk::ConcatOp concat, const TargetDescription &target) {
  auto axis = static_cast<int64_t>(concat.getAxis());
  const bool writesRows = isReturned(group);
  int64_t at = 0;
  for (Value input : concat.getInputs()) {
    auto argument = dyn_cast<BlockArgument>(input);
    if (!argument || !(writesRows ? hasRowStretches(concat.getType(), axis)
                                  : isStretch(concat.getType(), axis, at, target)))
      return false;
    if (!isPlaceable(group.getInputs()[argument.getArgNumber()], target))
      return false;
    at += tk::tensorType(input).getDimSize(static_cast<unsigned>(axis));
  }
  return true;
}

/// Whether the group is no kernel: its result lies in the memory of its operand, or its operands in that of
/// its result. The code generator decides so by layouts; this is what they will most likely be.
static bool isView(Operation *op, const TargetDescription &target) {
  Operation *only = onlyOperation(op);
  if (auto slice = dyn_cast_or_null<tk::SliceOp>(only))
    return isSliceView(slice, target) && !isReturned(op);
  if (auto concat = dyn_cast_or_null<tk::ConcatOp>(only))
    return isConcatView(cast<tk::FusionOp>(op), concat, target);
  return false;
}

/// Elements that the group picks lane by lane out of channel blocks: slices that split a block, and those of
/// which it writes rows. (Anchors go over blocks whatever they write.) The model takes all values to be
/// row-major.
static double pickedElements(Operation *op, const TargetDescription &target) {
  double elements = 0;
  bool writesRows = isReturned(op);
  op->walk([&](Operation *member) {
    writesRows &= member->getNumRegions() > 0 || analysis::kindOf(member) != FusionKind::Anchor;
  });
  op->walk([&](tk::SliceOp slice) {
    if (slice.getType().getRank() >= 3 && (writesRows || !isSliceView(slice, target)))
      elements += static_cast<double>(slice.getType().getNumElements());
  });
  return elements;
}

/// What the model looks at: the operators inside, their types and attributes, and which operands are weights.
static size_t identityOf(Operation *group) {
  llvm::DenseMap<Value, size_t> numbers;
  auto numberOf = [&](Value value) {
    return llvm::hash_combine(numbers.try_emplace(value, numbers.size()).first->second, value.getType());
  };
  llvm::hash_code hash = 0;
  for (Value operand : group->getOperands())
    hash = llvm::hash_combine(hash, numberOf(operand), analysis::isWeight(operand));
  group->walk<WalkOrder::PreOrder>([&](Operation *op) {
    hash = llvm::hash_combine(hash, OperationEquivalence::computeHash(op, numberOf,
                                                                      OperationEquivalence::ignoreHashValue,
                                                                      OperationEquivalence::IgnoreLocations));
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        hash = llvm::hash_combine(hash, numberOf(argument));
    for (Value result : op->getResults())
      numberOf(result);
  });
  return hash;
}

double rewrite::GraphPricer::secondsOf(Operation *op) {
  if (!isa<tk::FusionOp, tk::LibraryCallInterface>(op) || isView(op, target()))
    return 0;
  auto [entry, isNew] = known.try_emplace(identityOf(op));
  if (isNew)
    entry->second = model.group(op).seconds();
  constexpr double cyclesToPick = 3; // of one element, its address and its mask included
  return entry->second + pickedElements(op, target()) * cyclesToPick / target().clockHz;
}

std::vector<double> rewrite::GraphPricer::kernelCosts(ModuleOp module, GroupsOf groups) {
  OwningOpRef<ModuleOp> copy = module.clone();
  Block &block = copy->lookupSymbol<func::FuncOp>("main").getBody().front();
  foldToPlaceholders(block);
  auto state = std::make_shared<PassState>();
  state->target = target();
  auto run = [&](llvm::function_ref<void(OpPassManager &)> fill) {
    PassManager passes(copy->getContext(), ModuleOp::getOperationName());
    passes.enableVerifier(false);
    fill(passes);
    [[maybe_unused]] LogicalResult result = passes.run(*copy);
    assert(succeeded(result) && "groups close no cycle");
  };
  run([&](OpPassManager &passes) { // what is cut apart and joined again costs nothing
    passes.addPass(createSimplifySlicesPass(state));
    passes.addPass(createEliminateDeadCodePass(state));
  });
  if (filtered)
    chooseWinograd(block, *filtered, target());
  run([&](OpPassManager &passes) {
    passes.addPass(createPartitionDominatorPass(state));
    if (groups == GroupsOf::Full) {
      passes.addPass(createSeparateRepeatsPass(state));
      passes.addPass(createMergeRowsPass(state));
      passes.addPass(createMergeOutputsPass(state));
      passes.addPass(createRecomputeProducersPass(state));
      passes.addPass(createMergeAnchorsPass(state));
      passes.addPass(createSplitReductionsPass(state));
    }
    passes.addPass(createOutlineGroupsPass());
  });
  std::vector<double> costs;
  for (Operation &op : block)
    if (const double seconds = secondsOf(&op); seconds > 0)
      costs.push_back(seconds);
  return costs;
}

double rewrite::sumOf(llvm::ArrayRef<double> costs) {
  return std::accumulate(costs.begin(), costs.end(), 0.0);
}

double rewrite::changedCost(std::vector<double> before, std::vector<double> after) {
  llvm::sort(before);
  llvm::sort(after);
  std::vector<double> changed;
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(), std::back_inserter(changed));
  return sumOf(changed);
}
