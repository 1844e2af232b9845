//===- GraphCost.cpp - what a graph will cost once it is fused ---------------------------------------===//
#include "rewrite/GraphCost.h"
#include "analysis/Traffic.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "rewrite/Passes.h"
#include "rewrite/WeightedAnchor.h"
#include <algorithm>

using namespace mlir;
using namespace tokamak;

/// Operations from which a kernel is shared among threads, as the emitter does it.
static constexpr int64_t parallelFlops = 100'000;

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

/// Whether a stretch of `axis` that begins at `at` is one stretch of memory in each image: whole channel
/// blocks, or elements with nothing outside.
static bool isStretch(RankedTensorType whole, int64_t axis, int64_t at, const TargetDescription &target) {
  if (whole.getRank() >= 3 && axis == 1)
    return at % target.lanes() == 0;
  return llvm::all_of(whole.getShape().take_front(static_cast<size_t>(axis)),
                      [](int64_t n) { return n == 1; });
}

static bool isSliceView(tk::SliceOp slice, const TargetDescription &target) {
  auto type = tk::tensorType(slice.getInput());
  for (auto [axis, size] : llvm::enumerate(slice.getSizes()))
    if (size != type.getDimSize(static_cast<unsigned>(axis)))
      return isStretch(type, static_cast<int64_t>(axis), slice.getStarts()[axis], target);
  return true;
}

static bool isView(Operation *op, const TargetDescription &target);

/// Whether a kernel computes the value, in a place of our choice. Arguments say so of what they stand for.
static bool isPlaceable(Value value, const TargetDescription &target) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return cast<func::FuncOp>(argument.getOwner()->getParentOp())
               .getArgAttr(argument.getArgNumber(), rewrite::computedAttribute) != nullptr;
  return isa<tk::FusionOp>(value.getDefiningOp()) && !isView(value.getDefiningOp(), target);
}

/// Whether each operand can be computed in its place.
static bool isConcatView(tk::FusionOp group, tk::ConcatOp concat, const TargetDescription &target) {
  auto axis = static_cast<int64_t>(concat.getAxis());
  int64_t at = 0;
  for (Value input : concat.getInputs()) {
    auto argument = dyn_cast<BlockArgument>(input);
    if (!argument || !isStretch(concat.getType(), axis, at, target))
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
    return isSliceView(slice, target);
  if (auto concat = dyn_cast_or_null<tk::ConcatOp>(only))
    return isConcatView(cast<tk::FusionOp>(op), concat, target);
  return false;
}

/// Bytes at a rate of their own each, so that a kernel of two costs no more than the two; arithmetic at the
/// rate of good kernels; and one call. Activations have just been written; weights come from further away.
static double secondsOf(Operation *op, const TargetDescription &target) {
  analysis::Traffic traffic = analysis::trafficOf(op);
  if (traffic.kernels == 0 || isView(op, target))
    return 0;
  auto rate = [&](MemoryLevel level) { return target.bandwidth[static_cast<size_t>(level)]; };
  const double serial =
      static_cast<double>(traffic.bytesRead + traffic.bytesWritten) / rate(MemoryLevel::L2) +
      static_cast<double>(traffic.weightBytes) / rate(MemoryLevel::L3) +
      static_cast<double>(traffic.flops) / (target.peakFlops * target.efficiency.denseConvolution);
  const bool isParallel = traffic.flops > parallelFlops;
  return isParallel ? serial / static_cast<double>(target.cores) + target.dispatchSeconds
                    : serial + target.callSeconds;
}

double rewrite::graphCost(ModuleOp module, const TargetDescription &target) {
  OwningOpRef<ModuleOp> copy = module.clone();
  Block &block = copy->lookupSymbol<func::FuncOp>("main").getBody().front();
  foldToPlaceholders(block);
  auto state = std::make_shared<PassState>();
  state->target = target;
  PassManager passes(copy->getContext(), ModuleOp::getOperationName());
  passes.enableVerifier(false);
  passes.addPass(createPartitionDominatorPass(state));
  passes.addPass(createOutlineGroupsPass());
  [[maybe_unused]] LogicalResult result = passes.run(*copy);
  assert(succeeded(result) && "the baseline's groups close no cycle");
  double seconds = 0;
  for (Operation &op : block)
    seconds += secondsOf(&op, target);
  return seconds;
}
