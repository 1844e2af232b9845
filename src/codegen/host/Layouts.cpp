//===- Layouts.cpp - which values between kernels are channel-blocked
//------------------------------------===//
#include "codegen/host/Layouts.h"
#include "codegen/anchors/Convolution.h"

namespace tokamak::codegen {

using namespace mlir;

LayoutAssignment::LayoutAssignment(func::FuncOp program, const TargetDescription &target) {
  program.walk([&](tk::FusionOp group) { assign(group, target); });
}

namespace {

/// Blocks pay from half a vector of channels on.
bool canBeBlocked(Value value, const TargetDescription &target) {
  auto type = tk::tensorType(value);
  if (type.getRank() < 3 || !type.getElementType().isF32() || type.getDimSize(1) * 2 < target.lanes())
    return false;
  return llvm::all_of(value.getUsers(), [](Operation *user) { return isa<tk::FusionOp>(user); });
}

/// The group's convolution with a register-tiled plan whose result has the shape of the group's.
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
      found = true;
    else
      llvm::consumeError(plan.takeError());
  });
  return found;
}

} // namespace

void LayoutAssignment::assign(tk::FusionOp group, const TargetDescription &target) {
  bool movesChannels = false;
  group.getBody().walk(
      [&](Operation *op) { movesChannels |= isa<tk::TransposeOp, tk::ReshapeOp, tk::MatMulOp>(op); });
  for (Value result : group.getResults()) {
    if (!canBeBlocked(result, target))
      continue;
    auto shape = tk::tensorType(result).getShape();
    bool follows = llvm::any_of(group.getInputs(), [&](Value input) {
      auto other = tk::tensorType(input).getShape();
      return layoutOf(input).isBlocked() && other.size() == shape.size() && other[0] == shape[0];
    });
    bool anchored = writesBlocks(group, result, [&](Value v) { return layoutOf(v); }, target);
    if (anchored || (follows && !movesChannels))
      layouts[result] = Layout{target.lanes()};
  }
}

} // namespace tokamak::codegen
