//===- EmissionLimits.cpp - what the kernel emitter cannot do ----------------------------------===//
#include "fusion/EmissionLimits.h"
#include "analysis/PostDominatorTree.h"
#include "ir/Tk.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace tokamak;

/// The convolution or matrix product of `op`, itself or in its composite body: its results come out of
/// registers once, tile by tile.
static Operation *tiledAnchor(Operation *op) {
  if (llvm::isa<tk::ConvOp, tk::ConvTransposeOp, tk::MatMulOp>(op))
    return op;
  if (auto composite = llvm::dyn_cast<tk::CompositeOp>(op))
    for (Operation &inner : composite.getBody().front())
      if (Operation *anchor = tiledAnchor(&inner))
        return anchor;
  return nullptr;
}

bool fusion::holdsAnchorNest(Operation *op) {
  if (llvm::isa<tk::WindowOp>(op) || tiledAnchor(op))
    return true;
  auto composite = llvm::dyn_cast<tk::CompositeOp>(op);
  return composite &&
         llvm::any_of(composite.getBody().front(), [](Operation &inner) { return holdsAnchorNest(&inner); });
}

/// Whether reshaping keeps each element's row-major place among the axes that are longer than one.
static bool onlyUnitDimensions(tk::ReshapeOp op) {
  auto longAxes = [](RankedTensorType type) {
    return llvm::to_vector<4>(
        llvm::make_filter_range(type.getShape(), [](int64_t extent) { return extent != 1; }));
  };
  return longAxes(tk::tensorType(op.getInput())) == longAxes(op.getType());
}

/// Whether `op` may run on the accumulators: element i of its result needs element i of the operand that
/// comes from the anchor.
static bool isEpilogue(Operation *op, Value fromAnchor) {
  if (auto reshape = llvm::dyn_cast<tk::ReshapeOp>(op))
    return onlyUnitDimensions(reshape);
  return analysis::kindOf(op) == FusionKind::Elementwise &&
         llvm::all_of(op->getResultTypes(), [&](Type type) {
           return llvm::cast<ShapedType>(type).getShape() == tk::tensorType(fromAnchor).getShape();
         });
}

bool fusion::canEmit(llvm::ArrayRef<Operation *> group, std::string *why) {
  auto refuse = [&](const llvm::Twine &reason) {
    if (why)
      *why = reason.str();
    return false;
  };
  if (llvm::count_if(group, holdsAnchorNest) > 1)
    return refuse("two convolutions, matrix products or windows in one kernel");

  const auto *anchor = llvm::find_if(group, [](Operation *op) { return tiledAnchor(op) != nullptr; });
  if (anchor == group.end() || llvm::isa<tk::CompositeOp>(*anchor))
    return true;
  // What the anchor's accumulators flow through, in block order.
  llvm::SmallPtrSet<Operation *, 16> flow = {*anchor};
  for (Operation *op : group) {
    for (Value operand : op->getOperands()) {
      if (!operand.getDefiningOp() || !flow.contains(operand.getDefiningOp()))
        continue;
      if (!isEpilogue(op, operand))
        return refuse(op->getName().getStringRef() + " reads the result of " +
                      (*anchor)->getName().getStringRef() + " at another index than it writes");
      flow.insert(op);
    }
  }
  return true;
}
