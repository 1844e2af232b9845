//===- Blocks.cpp - the blocks that passes work on ------------------------------------------===//
#include "analysis/Blocks.h"
#include "ir/Tk.h"
#include "mlir/IR/BuiltinOps.h"

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
