//===- EliminateCommonSubexpressions.cpp - equal operators once ------------------------------===//
// MLIR's own pass neither counts its steps nor keeps the location of what it drops; equality and hashes are
// MLIR's. Contract: exact.
#include "analysis/Blocks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "rewrite/Passes.h"
#include "llvm/ADT/ScopedHashTable.h"

namespace tokamak {
#define GEN_PASS_DEF_ELIMINATECOMMONSUBEXPRESSIONS
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;

namespace {

/// Operations are equal that have equal names, operands, attributes, result types and bodies.
struct EqualOperations : llvm::DenseMapInfo<Operation *> {
  static unsigned getHashValue(const Operation *op) {
    return OperationEquivalence::computeHash(
        const_cast<Operation *>(op), OperationEquivalence::directHashValue,
        OperationEquivalence::ignoreHashValue, OperationEquivalence::IgnoreLocations);
  }
  static bool isEqual(const Operation *a, const Operation *b) {
    if (a == b)
      return true;
    if (a == getEmptyKey() || a == getTombstoneKey() || b == getEmptyKey() || b == getTombstoneKey())
      return false;
    return OperationEquivalence::isEquivalentTo(const_cast<Operation *>(a), const_cast<Operation *>(b),
                                                OperationEquivalence::IgnoreLocations);
  }
};
using Known = llvm::ScopedHashTable<Operation *, Operation *, EqualOperations>;

struct EliminateCommonSubexpressions
    : tokamak::impl::EliminateCommonSubexpressionsBase<EliminateCommonSubexpressions> {
  explicit EliminateCommonSubexpressions(PassStatePtr state) : state(std::move(state)) {}

  void runOnOperation() override {
    for (Operation &func : *getOperation().getBody()) {
      Known known;
      runOn(&func, known);
    }
  }

private:
  /// What an outer block computes is known in the blocks of its regions, not the other way round.
  void runOn(Operation *holder, Known &known) {
    for (Region &region : holder->getRegions()) {
      for (Block &block : region) {
        Known::ScopeTy scope(known);
        for (Operation &op : llvm::make_early_inc_range(block))
          if (!replaceByKnown(&op, known) && !analysis::isWhole(&op))
            runOn(&op, known);
      }
    }
  }

  /// Regions of control flow may use different outer values under equal names, so those operators stay.
  static bool isCandidate(Operation *op) {
    return isMemoryEffectFree(op) && op->getNumResults() > 0 &&
           (op->getNumRegions() == 0 || op->hasTrait<OpTrait::IsIsolatedFromAbove>());
  }

  bool replaceByKnown(Operation *op, Known &known) {
    if (!isCandidate(op))
      return false;
    Operation *earlier = known.lookup(op);
    if (!earlier) {
      known.insert(op, op);
      return false;
    }
    if (!state->fuel.take(getArgument(), op->getLoc()))
      return false;
    if (!op->hasTrait<OpTrait::ConstantLike>()) {
      state->removed.merged(op->getLoc(), earlier->getLoc());
      earlier->setLoc(mergeLocations(earlier->getLoc(), op->getLoc()));
    }
    op->replaceAllUsesWith(earlier);
    op->erase();
    return true;
  }

  PassStatePtr state;
};

} // namespace

std::unique_ptr<Pass> tokamak::createEliminateCommonSubexpressionsPass(PassStatePtr state) {
  return std::make_unique<EliminateCommonSubexpressions>(orFresh(std::move(state)));
}
