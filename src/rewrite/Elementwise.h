//===- Elementwise.h - operators that work element by element ------------------------------------===//
#pragma once
#include "ir/Tk.h"

namespace tokamak::rewrite {

/// Whether `op` computes each element of its one result from those at the same place of its operands, so that
/// it may as well run on other views of them.
inline bool isElementwise(mlir::Operation *op) {
  auto kinded = llvm::dyn_cast<tk::FusionKindInterface>(op);
  return kinded && kinded.getFusionKind() == FusionKind::Elementwise && op->getNumOperands() > 0 &&
         op->getNumResults() == 1 &&
         op->getNumRegions() == 0 &&      // a composite's body is written for its shapes
         !llvm::isa<tk::BatchNormOp>(op); // whose operands run along axis 1
}

} // namespace tokamak::rewrite
