//===- HoistInvariants.cpp - what a loop need not repeat leaves it --------------------------------------===//
#include "codegen/object/HoistInvariants.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;

namespace tokamak::codegen {
namespace {

/// A load marked invariant may run where the loop would not: the emitter marks those whose indices are in
/// range whatever the loops around do.
bool mayLeave(Operation *op) {
  if (auto load = dyn_cast<LLVM::LoadOp>(op))
    return load.getInvariant();
  return isMemoryEffectFree(op) && isSpeculatable(op);
}

struct HoistInvariants : PassWrapper<HoistInvariants, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HoistInvariants)
  StringRef getName() const override { return "hoist-invariants"; }

  void runOnOperation() override {
    // Inner loops first: what leaves one may leave the next.
    getOperation().walk([](LoopLikeOpInterface loop) {
      moveLoopInvariantCode(
          loop.getLoopRegions(), [&](Value value, Region *) { return loop.isDefinedOutsideOfLoop(value); },
          [](Operation *op, Region *) { return mayLeave(op); },
          [&](Operation *op, Region *) { loop.moveOutOfLoop(op); });
    });
  }
};

} // namespace

std::unique_ptr<Pass> createHoistInvariantsPass() { return std::make_unique<HoistInvariants>(); }

} // namespace tokamak::codegen
