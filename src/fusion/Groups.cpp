//===- Groups.cpp - how a partition is written down in the graph -----------------------------===//
#include "fusion/Groups.h"
#include "analysis/PostDominatorTree.h"
#include "ir/Tk.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tokamak;

void fusion::setGroup(Operation *op, int64_t group) {
  op->setAttr(groupAttribute, Builder(op->getContext()).getI64IntegerAttr(group));
}

bool fusion::isGroupable(Operation *op) {
  return !op->hasTrait<OpTrait::ConstantLike>() && !op->hasTrait<OpTrait::IsTerminator>() &&
         !llvm::isa<tk::LibraryCallInterface>(op) && analysis::kindOf(op) != FusionKind::Opaque;
}
