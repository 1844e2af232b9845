//===- WaveMembers.cpp - which kernels of a block run at the same time ----------------------===//
#include "analysis/WaveMembers.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace tokamak;

llvm::SmallVector<Operation *> analysis::waveFrom(Operation *first) {
  llvm::SmallVector<Operation *> members = {first};
  auto number = first->getAttrOfType<IntegerAttr>(waveAttribute);
  if (!number)
    return members;
  llvm::SmallPtrSet<Operation *, 8> inside = {first};
  for (Operation *op = first->getNextNode(); op && op->getAttr(waveAttribute) == number;
       op = op->getNextNode()) {
    if (llvm::any_of(op->getOperands(),
                     [&](Value operand) { return inside.contains(operand.getDefiningOp()); }))
      break;
    inside.insert(op);
    members.push_back(op);
  }
  return members;
}
