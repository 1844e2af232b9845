//===- EmissionLimits.cpp - what the kernel emitter cannot do ----------------------------------===//
#include "fusion/EmissionLimits.h"
#include "analysis/PostDominatorTree.h"
#include "ir/Tk.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <algorithm>

using namespace mlir;
using namespace tokamak;

/// Of one operator for an element of its group. Copying a value in a kernel of its own costs less than
/// choosing among many: a chain of 22 concatenations, each of a value with itself, took 1.4 s with a kernel
/// each, 5.7 s with this limit and 13 s with 256.
static constexpr int64_t mostIndices = 32;

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

bool fusion::reducesRows(Operation *op) {
  FusionKind kind = analysis::kindOf(op);
  return kind == FusionKind::Reduction || (kind == FusionKind::Anchor && !holdsAnchorNest(op));
}

size_t fusion::plannedSize(llvm::ArrayRef<Operation *> members) {
  size_t size = 0;
  for (Operation *op : members)
    size += std::max<size_t>(op->getNumOperands(), 3) - 2;
  return size;
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

/// Whether `user`, element by element, reads `operand` where it writes its result.
static bool readsInPlace(Operation *user, Value operand) {
  FusionKind kind = analysis::kindOf(user);
  return (kind == FusionKind::Elementwise || kind == FusionKind::Broadcast) &&
         llvm::all_of(user->getResultTypes(), [&](Type type) {
           return llvm::cast<ShapedType>(type).getShape() == tk::tensorType(operand).getShape();
         });
}

/// The most indices, about, at which one element of the group's results needs an element of one operator. The
/// code for each index is code of its own: a chain of concatenations of a value with itself doubles them.
static int64_t indicesNeeded(llvm::ArrayRef<Operation *> group, int64_t enough) {
  llvm::DenseMap<Operation *, int64_t> moved, inPlace; // indices that users move, and those that they share
  int64_t most = 1;
  for (Operation *op : llvm::reverse(group)) {
    int64_t indices = std::max<int64_t>(moved.lookup(op) + inPlace.lookup(op), 1);
    most = std::max(most, indices);
    if (most > enough)
      break;
    for (Value operand : op->getOperands()) {
      Operation *definition = operand.getDefiningOp();
      if (!definition)
        continue;
      if (readsInPlace(op, operand))
        inPlace[definition] = std::max(inPlace[definition], indices);
      else
        moved[definition] += indices;
    }
  }
  return most;
}

bool fusion::canEmit(llvm::ArrayRef<Operation *> group, std::string *why, AnchorLimit limit) {
  auto refuse = [&](const llvm::Twine &reason) {
    if (why)
      *why = reason.str();
    return false;
  };
  const bool isChain = llvm::count_if(group, holdsAnchorNest) > 1;
  if (isChain && limit == AnchorLimit::One)
    return refuse("two convolutions, matrix products or windows in one kernel");

  if (indicesNeeded(group, mostIndices) > mostIndices)
    return refuse("an operator would be computed at too many indices");
  if (limit == AnchorLimit::Chain)
    return true;

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
