//===- Blocks.cpp - the blocks that passes work on ------------------------------------------===//
#include "analysis/Blocks.h"
#include "ir/Tk.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace tokamak;

bool analysis::isWhole(Operation *op) { return llvm::isa<tk::FusionOp, tk::CompositeOp>(op); }

void analysis::forEachGraphBlock(Operation *root, llvm::function_ref<void(Block &)> visit) {
  if (isWhole(root))
    return;
  for (Region &region : root->getRegions()) {
    for (Block &block : region) {
      if (!llvm::isa<ModuleOp>(root))
        visit(block);
      for (Operation &op : block)
        forEachGraphBlock(&op, visit);
    }
  }
}

llvm::SmallVector<Operation *> analysis::sliceWithin(llvm::ArrayRef<Operation *> members, Operation *last) {
  llvm::SmallPtrSet<Operation *, 16> needed{last};
  for (Operation *op : llvm::reverse(members))
    if (needed.contains(op))
      for (Value operand : op->getOperands())
        if (Operation *definition = operand.getDefiningOp())
          needed.insert(definition);
  llvm::SmallVector<Operation *> slice;
  llvm::copy_if(members, std::back_inserter(slice), [&](Operation *op) { return needed.contains(op); });
  return slice;
}
