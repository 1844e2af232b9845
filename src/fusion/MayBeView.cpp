//===- MayBeView.cpp - groups that may need no kernel --------------------------------------------===//
#include "fusion/MayBeView.h"
#include "ir/Tk.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace tokamak;

namespace {

/// Whether what begins at `at` of the axis can be one stretch of memory, or one an image.
bool isStretch(RankedTensorType whole, int64_t axis, int64_t at, const TargetDescription &target) {
  const bool isBlocked = axis == 1 && whole.getRank() > 2 && at % target.lanes() == 0;
  return isBlocked || llvm::all_of(whole.getShape().take_front(static_cast<size_t>(axis)),
                                   [](int64_t n) { return n == 1; });
}

Value behindReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<tk::ReshapeOp>())
    value = reshape.getInput();
  return value;
}

bool isReturned(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>() ||
           (isa<tk::ReshapeOp>(user) && isReturned(user->getResult(0)));
  });
}

/// Constants, inputs and results of control flow have places of their own, and what is returned.
bool hasFreePlace(Value value) {
  Operation *definition = value.getDefiningOp();
  return definition && !definition->hasTrait<OpTrait::ConstantLike>() &&
         !isa<tk::IfOp, tk::LoopOp>(definition) && !isReturned(value);
}

bool mayShow(tk::SliceOp slice, const TargetDescription &target) {
  if (isReturned(slice.getResult()))
    return false;
  auto whole = tk::tensorType(slice.getInput());
  int64_t cut = 0;
  for (auto [axis, size] : llvm::enumerate(slice.getSizes())) {
    const auto number = static_cast<int64_t>(axis);
    if (size == whole.getDimSize(static_cast<unsigned>(axis)) && slice.getSteps()[axis] == 1)
      continue;
    if (slice.getSteps()[axis] != 1 || !isStretch(whole, number, slice.getStarts()[axis], target))
      return false;
    ++cut;
  }
  return cut < 2;
}

bool mayHold(tk::ConcatOp concat, const TargetDescription &target) {
  int64_t at = 0;
  llvm::SmallPtrSet<Value, 8> seen;
  return llvm::all_of(concat.getInputs(), [&](Value part) {
    const Value computed = behindReshapes(part);
    if (!hasFreePlace(computed) || !seen.insert(computed).second)
      return false;
    const int64_t start = at;
    at += tk::tensorType(part).getDimSize(static_cast<unsigned>(concat.getAxis()));
    return isStretch(tk::tensorType(concat.getResult()), concat.getAxis(), start, target);
  });
}

} // namespace

bool fusion::areReshapes(llvm::ArrayRef<Operation *> group) {
  return llvm::all_of(group, [](Operation *op) { return isa<tk::ReshapeOp>(op); });
}

bool fusion::mayBeView(llvm::ArrayRef<Operation *> group, const TargetDescription &target) {
  if (areReshapes(group))
    return true;
  if (group.size() != 1)
    return false;
  if (auto slice = dyn_cast<tk::SliceOp>(group.front()))
    return mayShow(slice, target);
  auto concat = dyn_cast<tk::ConcatOp>(group.front());
  return concat && mayHold(concat, target);
}
