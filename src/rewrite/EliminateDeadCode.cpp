//===- EliminateDeadCode.cpp - operators without users ---------------------------------------===//
// Contract: exact.
#include "analysis/Blocks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "rewrite/Passes.h"

namespace tokamak {
#define GEN_PASS_DEF_ELIMINATEDEADCODE
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;

namespace {
struct EliminateDeadCode : tokamak::impl::EliminateDeadCodeBase<EliminateDeadCode> {
  explicit EliminateDeadCode(PassStatePtr state) : state(std::move(state)) {}

  void runOnOperation() override {
    for (Operation &func : *getOperation().getBody())
      runOn(&func);
  }

private:
  /// Users before definitions, so that one walk finds whole dead chains.
  void runOn(Operation *holder) {
    for (Region &region : holder->getRegions())
      for (Block &block : region)
        for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
          if (!eraseIfDead(&op) && !analysis::isWhole(&op))
            runOn(&op);
  }

  bool eraseIfDead(Operation *op) {
    if (!isOpTriviallyDead(op) || !state->fuel.take(getArgument(), op->getLoc()))
      return false;
    if (!op->hasTrait<OpTrait::ConstantLike>())
      op->walk([&](Operation *inner) {
        if (!inner->hasTrait<OpTrait::IsTerminator>())
          state->removed.dead(inner->getLoc());
      });
    op->erase();
    return true;
  }

  PassStatePtr state;
};
} // namespace

std::unique_ptr<Pass> tokamak::createEliminateDeadCodePass(PassStatePtr state) {
  return std::make_unique<EliminateDeadCode>(orFresh(std::move(state)));
}
