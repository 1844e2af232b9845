//===- Layouts.cpp - which values between kernels are channel-blocked -----------------------------===//
#include "codegen/host/Layouts.h"
#include "analysis/PostDominatorTree.h"
#include "codegen/anchors/Convolution.h"
#include "mlir/IR/Iterators.h"

namespace tokamak::codegen {

using namespace mlir;

namespace {

/// Whether each element of the group's results follows from elements at the same place.
bool isElementwise(tk::FusionOp group) {
  return llvm::all_of(group.getBody().front().without_terminator(), [](Operation &op) {
    return isa<tk::ConstantOp>(op) || analysis::kindOf(&op) <= FusionKind::Broadcast;
  });
}

/// Whether the group joins values each of which is one stretch of its result's row-major memory: it moves
/// nothing where they are row-major as well (Views.h).
bool joinsStretches(tk::FusionOp group) {
  Block &body = group.getBody().front();
  auto concat = dyn_cast<tk::ConcatOp>(body.front());
  return concat && llvm::hasNItems(body, 2) &&
         llvm::all_of(
             tk::tensorType(concat.getResult()).getShape().take_front(static_cast<size_t>(concat.getAxis())),
             [](int64_t extent) { return extent == 1; });
}

/// Values that elementwise groups alone read, or concatenations that move nothing, on their way to where
/// memory is row-major: to the caller, to a library function. Such a kernel takes many times as long where it
/// changes the layout.
llvm::DenseSet<Value> valuesOnTheWayOut(func::FuncOp program) {
  llvm::DenseSet<Value> onTheWay;
  auto leadsOut = [&](Operation *user) {
    auto group = dyn_cast<tk::FusionOp>(user);
    return !group ||
           ((isElementwise(group) || joinsStretches(group)) &&
            llvm::all_of(group.getResults(), [&](Value result) { return onTheWay.contains(result); }));
  };
  program.walk<WalkOrder::PostOrder, ReverseIterator>([&](tk::FusionOp group) {
    for (Value result : group.getResults())
      if (llvm::all_of(result.getUsers(), leadsOut))
        onTheWay.insert(result);
  });
  return onTheWay;
}

} // namespace

LayoutAssignment::LayoutAssignment(func::FuncOp program, const TargetDescription &target) {
  const llvm::DenseSet<Value> onTheWayOut = valuesOnTheWayOut(program);
  program.walk([&](tk::FusionOp group) { assign(group, onTheWayOut, target); });
}

namespace {

/// Several products in one kernel, and one whose result is cut into gates, read row-major memory alone; in
/// another order their kernel would go by elements.
bool readsRows(Operation *user) {
  int64_t products = 0;
  bool isCut = false;
  user->walk([&](Operation *op) {
    products += isa<tk::MatMulOp>(op);
    isCut |= isa<tk::SliceOp>(op);
  });
  return products > 1 || (products == 1 && isCut);
}

/// Blocks pay from half a vector of channels on.
bool canBeBlocked(Value value, const TargetDescription &target) {
  auto type = tk::tensorType(value);
  if (type.getRank() < 3 || !type.getElementType().isF32() || type.getDimSize(1) * 2 < target.lanes())
    return false;
  return llvm::all_of(value.getUsers(),
                      [](Operation *user) { return isa<tk::FusionOp>(user) && !readsRows(user); });
}

/// The group has a convolution whose register-tiled plan has channels as lanes, and its result the shape of
/// the group's.
bool writesBlocks(tk::FusionOp group, Value result, llvm::function_ref<Layout(Value)> layoutOf,
                  const TargetDescription &target) {
  bool found = false;
  group.getBody().walk([&](Operation *op) {
    if (!isa<tk::ConvOp, tk::ConvTransposeOp>(op) || op->getResult(0).getType() != result.getType())
      return;
    auto argument = dyn_cast<BlockArgument>(op->getOperand(0));
    std::optional<Layout> input; // none: computed in the kernel
    if (argument && argument.getOwner() == &group.getBody().front())
      input = layoutOf(group.getInputs()[argument.getArgNumber()]);
    else if (argument) // of a composite
      input = Layout();
    auto plan = ConvolutionPlan::create(op, input, target);
    if (plan)
      found |= (*plan)->lanesAreChannels();
    else
      llvm::consumeError(plan.takeError());
  });
  return found;
}

/// A convolution by minimal filtering reads it, which finds its input in blocks or goes another way.
bool isFiltered(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    auto group = cast<tk::FusionOp>(use.getOwner());
    BlockArgument inside = group.getBody().front().getArgument(use.getOperandNumber());
    return llvm::any_of(inside.getUses(), [](OpOperand &read) {
      auto conv = dyn_cast<tk::ConvOp>(read.getOwner());
      return conv && conv.getWinograd() && read.getOperandNumber() == 0;
    });
  });
}

} // namespace

bool joinsWithinBlocks(Operation *op, int64_t lanes) {
  auto concat = dyn_cast_or_null<tk::ConcatOp>(op);
  if (!concat || concat.getAxis() != 1)
    return false;
  return llvm::any_of(concat.getInputs().drop_back(),
                      [&](Value part) { return tk::tensorType(part).getDimSize(1) % lanes != 0; });
}

void LayoutAssignment::assign(tk::FusionOp group, const llvm::DenseSet<Value> &onTheWayOut,
                              const TargetDescription &target) {
  bool movesChannels = false, cutsBlocks = false;
  group.getBody().walk([&](Operation *op) {
    movesChannels |= isa<tk::TransposeOp, tk::ReshapeOp, tk::MatMulOp>(op);
    cutsBlocks |= joinsWithinBlocks(op, target.lanes());
  });
  for (Value result : group.getResults()) {
    if (!canBeBlocked(result, target) || onTheWayOut.contains(result))
      continue;
    auto shape = tk::tensorType(result).getShape();
    bool follows = llvm::any_of(group.getInputs(), [&](Value input) {
      auto other = tk::tensorType(input).getShape();
      return layoutOf(input).isBlocked() && other.size() == shape.size() && other[0] == shape[0];
    });
    bool anchored = writesBlocks(group, result, [&](Value v) { return layoutOf(v); }, target);
    if (anchored || (follows && !movesChannels) || (isFiltered(result) && !cutsBlocks))
      layouts[result] = Layout{target.lanes()};
  }
}

} // namespace tokamak::codegen
