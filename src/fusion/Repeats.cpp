//===- Repeats.cpp - kernels that compute expensive elements again and again ------------------------===//
#include "fusion/Repeats.h"
#include "fusion/Candidate.h"
#include "ir/Tk.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tokamak;

namespace {
/// Whether an operator of `to` has more elements than a value of `from` that it reads. Elsewhere nothing can
/// be computed twice, and most groups are asked no further.
bool spreads(llvm::ArrayRef<Operation *> from, llvm::ArrayRef<Operation *> to) {
  llvm::SmallPtrSet<Operation *, 16> producers(from.begin(), from.end());
  return llvm::any_of(to, [&](Operation *op) {
    return op->getNumResults() > 0 && llvm::any_of(op->getOperands(), [&](Value operand) {
             return operand.getDefiningOp() && producers.contains(operand.getDefiningOp()) &&
                    tk::tensorType(op->getResult(0)).getNumElements() >
                        tk::tensorType(operand).getNumElements();
           });
  });
}
} // namespace

fusion::Refusal fusion::refuseRepeats(const CostModel &model, llvm::ArrayRef<Operation *> from,
                                      llvm::ArrayRef<Operation *> to) {
  if (!spreads(from, to) || !(model.holdsDear(from) || model.holdsDear(to)))
    return {};
  llvm::SmallVector<Operation *> both(from);
  llvm::append_range(both, to);
  llvm::sort(both, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  auto costOf = [&](llvm::ArrayRef<Operation *> members) {
    const Candidate candidate(members);
    Operation *group = candidate.group();
    return model.group(group);
  };
  const GroupCost together = costOf(both);
  if (together.dearRepeats <= repeatsAllowed)
    return {};
  // On one core, calls included: how the tasks divide is no reason to compute a thing twice.
  const double apart = costOf(from).serial() + costOf(to).serial();
  if (together.serial() <= apart)
    return {};
  return {Reason::ReusesElements, llvm::formatv("each element {0:F1} times, {1}", together.dearRepeats,
                                                comparison(together.serial(), apart))
                                      .str()};
}
