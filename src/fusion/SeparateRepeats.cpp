//===- SeparateRepeats.cpp - expensive producers leave kernels that would repeat them ---------------===//
// The baseline merges elementwise work into whatever reads it, and the kernel computes a value where it is
// asked for: exp of a vector, spread over the rows of a matrix, becomes an exp for each element of the
// matrix wherever the loops are not such that it can stay in a register. Where computing it once, in a kernel
// of its own, takes less time, its operators leave the group; several such values in one kernel where they
// share their loops.
#include "analysis/Blocks.h"
#include "analysis/PostDominatorTree.h"
#include "codegen/kernel/KernelEstimate.h"
#include "fusion/Candidate.h"
#include "fusion/CostModel.h"
#include "fusion/EmissionLimits.h"
#include "fusion/Groups.h"
#include "fusion/KernelDialects.h"
#include "fusion/MergeLog.h"
#include "fusion/Repeats.h"
#include "rewrite/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tokamak {
#define GEN_PASS_DEF_SEPARATEREPEATS
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;

namespace {

using Members = llvm::SmallVector<Operation *>;

class RepeatSeparator {
public:
  RepeatSeparator(Members members, int64_t &next, const fusion::CostModel &model, PassState &state,
                  fusion::MergeLog &log)
      : members(std::move(members)), next(next), model(model), state(state), log(log) {
    current.insert(this->members.begin(), this->members.end());
  }

  void run() {
    while (model.holdsDear(members) && (separateOne() || separateAll())) {
    }
  }

private:
  /// Readers first: a producer takes with it what it is computed from. What could not leave may be able to
  /// once a value that it shares with others has left.
  bool separateOne() {
    const Members all = members;
    return llvm::any_of(llvm::reverse(all), [&](Operation *op) {
      return analysis::kindOf(op) <= FusionKind::Injective && isSpread(op) && trySeparate(op);
    });
  }

  /// Whether a member makes a larger value of it.
  bool isSpread(Operation *op) const {
    return llvm::any_of(op->getUsers(), [&](Operation *user) {
      return current.contains(user) && tk::tensorType(user->getResult(0)).getNumElements() >
                                           tk::tensorType(op->getResult(0)).getNumElements();
    });
  }

  bool trySeparate(Operation *last) {
    Members slice = analysis::sliceWithin(members, last);
    if (!canLeave(slice, last))
      return false;
    const fusion::Refusal refusal = fusion::refuseRepeats(model, slice, without(slice));
    if (!refusal)
      return false;
    takeAlong(slice, last);
    if (!state.fuel.take("separate-repeats", last->getLoc()))
      return false;
    separate(slice, refusal);
    return true;
  }

  /// Where the kernel's loops suit what is repeated, no value gains by leaving alone: all of one shape do
  /// together, in as many kernels as it takes.
  bool separateAll() {
    llvm::SetVector<Type> types;
    for (Operation *op : llvm::reverse(members))
      if (analysis::kindOf(op) <= FusionKind::Injective && isSpread(op))
        types.insert(op->getResult(0).getType());
    if (types.empty())
      return false;
    const fusion::GroupCost together = costOf(members);
    if (together.dearRepeats <= fusion::repeatsAllowed)
      return false;
    for (Type type : types) {
      auto [parts, rest] = takeAll(type);
      if (parts.empty() || rest.empty())
        continue;
      double apart = costOf(rest).serial();
      for (const Members &part : parts)
        apart += costOf(part).serial();
      if (together.serial() <= apart || !state.fuel.take("separate-repeats", parts.front().back()->getLoc()))
        continue;
      const fusion::Refusal refusal{Reason::ReusesElements, fusion::comparison(together.serial(), apart)};
      for (const Members &part : parts)
        separate(part, refusal);
      return true;
    }
    return false;
  }

  /// All values of the type that are spread, in kernels none of which reads a later one; and what stays.
  std::pair<std::vector<Members>, Members> takeAll(Type type) const {
    std::vector<Members> parts;
    Members rest = members, part;
    auto finish = [&] {
      if (part.empty())
        return;
      llvm::erase_if(rest, [&](Operation *op) { return llvm::is_contained(part, op); });
      parts.push_back(std::exchange(part, {}));
    };
    for (Operation *op : llvm::reverse(members)) {
      if (op->getResult(0).getType() != type || !isSpread(op) || !llvm::is_contained(rest, op) ||
          llvm::is_contained(part, op))
        continue;
      if (Members wider = unite(part, analysis::sliceWithin(rest, op)); canLeaveTogether(wider)) {
        part = std::move(wider);
        continue;
      }
      finish();
      if (!llvm::is_contained(rest, op))
        continue;
      if (Members own = analysis::sliceWithin(rest, op); canLeaveTogether(own))
        part = std::move(own);
    }
    finish();
    return {std::move(parts), std::move(rest)};
  }

  /// Makes the slice a group of its own.
  void separate(llvm::ArrayRef<Operation *> slice, const fusion::Refusal &refusal) {
    Members rest = without(slice);
    log.separated(slice, rest, refusal);
    put(slice);
    put(rest);
    for (Operation *op : slice)
      current.erase(op);
    members = std::move(rest);
  }

  /// Values that would leave as well join the kernel where that takes less time: each with what it is
  /// computed from, so what they share is computed once and stays inside. One loop nest computes all.
  void takeAlong(Members &slice, Operation *last) {
    double least = costOf(slice).serial();
    Members rest = without(slice);
    fusion::GroupCost cost = costOf(rest);
    for (Operation *op : llvm::reverse(members)) {
      if (cost.dearRepeats <= fusion::repeatsAllowed)
        return;
      if (op->getResult(0).getType() != last->getResult(0).getType() || !llvm::is_contained(rest, op) ||
          !isSpread(op))
        continue;
      const Members own = analysis::sliceWithin(rest, op);
      Members wider = unite(slice, own), others = without(wider);
      if (others.empty() || !canLeaveTogether(wider))
        continue;
      fusion::GroupCost costOfOthers = costOf(others);
      const double alone = costOf(own).serial(), together = costOf(wider).serial();
      if (cost.serial() <= alone + costOfOthers.serial() || together >= least + alone)
        continue;
      least = together, cost = std::move(costOfOthers);
      slice = std::move(wider), rest = std::move(others);
    }
  }

  /// One value passes from the one kernel to the other, or several of one loop nest; and computing them needs
  /// no loops of their own.
  bool canLeave(llvm::ArrayRef<Operation *> slice, Operation *last) const {
    if (slice.size() == members.size() || !needsNoLoops(slice))
      return false;
    const llvm::SmallPtrSet<Operation *, 16> needed(slice.begin(), slice.end());
    const bool isOneValue = llvm::all_of(slice, [&](Operation *op) {
      return op == last ||
             llvm::all_of(op->getUsers(), [&](Operation *user) { return needed.contains(user); });
    });
    return isOneValue || canLeaveTogether(slice);
  }

  /// The same for several values. Nobody but the group may read them: what is computed of one elsewhere could
  /// be what another one waits for.
  bool canLeaveTogether(llvm::ArrayRef<Operation *> slice) const {
    auto staysInside = [&](Operation *op) {
      return llvm::all_of(op->getUsers(), [&](Operation *user) { return current.contains(user); });
    };
    std::string why;
    if (slice.size() == members.size() || !needsNoLoops(slice) || !llvm::all_of(slice, staysInside) ||
        !fusion::canEmit(slice, &why))
      return false;
    const fusion::Candidate candidate(slice);
    if (candidate.outputs().size() > fusion::mostResults)
      return false;
    const codegen::KernelEstimate kernel =
        codegen::estimateKernel(candidate.group(), model.targetDescription());
    return kernel.kind == "pointwise" && kernel.nests == 1;
  }

  static bool needsNoLoops(llvm::ArrayRef<Operation *> slice) {
    return llvm::all_of(slice, [](Operation *op) { return analysis::kindOf(op) <= FusionKind::Injective; });
  }

  fusion::GroupCost costOf(llvm::ArrayRef<Operation *> group) const {
    const fusion::Candidate candidate(group);
    Operation *kernel = candidate.group();
    return model.group(kernel);
  }

  Members without(llvm::ArrayRef<Operation *> slice) const {
    const llvm::SmallPtrSet<Operation *, 16> needed(slice.begin(), slice.end());
    Members rest;
    llvm::copy_if(members, std::back_inserter(rest), [&](Operation *op) { return !needed.contains(op); });
    return rest;
  }

  /// In block order.
  Members unite(llvm::ArrayRef<Operation *> a, llvm::ArrayRef<Operation *> b) const {
    llvm::SmallPtrSet<Operation *, 16> either(a.begin(), a.end());
    either.insert(b.begin(), b.end());
    Members both;
    llvm::copy_if(members, std::back_inserter(both), [&](Operation *op) { return either.contains(op); });
    return both;
  }

  /// Makes a group of the operators; one alone needs no number.
  void put(llvm::ArrayRef<Operation *> group) {
    for (Operation *op : group)
      if (group.size() > 1)
        fusion::setGroup(op, next);
      else
        op->removeAttr(fusion::groupAttribute);
    ++next;
  }

  Members members;                            ///< of the group now, in block order
  llvm::SmallPtrSet<Operation *, 16> current; ///< the same
  int64_t &next;                              ///< number of a group
  const fusion::CostModel &model;
  PassState &state;
  fusion::MergeLog &log;
};

struct SeparateRepeats : tokamak::impl::SeparateRepeatsBase<SeparateRepeats> {
  explicit SeparateRepeats(PassStatePtr state) : state(std::move(state)) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    SeparateRepeatsBase::getDependentDialects(registry);
    fusion::registerKernelDialects(registry);
  }

  void runOnOperation() override {
    fusion::CostModel model(state->target);
    model.setProgram(getOperation());
    llvm::MapVector<int64_t, Members> groups;
    int64_t next = 0;
    getOperation().walk([&](Operation *op) {
      if (auto number = op->getAttrOfType<IntegerAttr>(fusion::groupAttribute)) {
        groups[number.getInt()].push_back(op);
        next = std::max(next, number.getInt() + 1);
      }
    });
    fusion::MergeLog log(*state); // one for all groups: it indexes what has been decided
    for (auto &[number, members] : groups)
      RepeatSeparator(std::move(members), next, model, *state, log).run();
  }

  PassStatePtr state;
};

} // namespace

std::unique_ptr<Pass> tokamak::createSeparateRepeatsPass(PassStatePtr state) {
  return std::make_unique<SeparateRepeats>(orFresh(std::move(state)));
}
