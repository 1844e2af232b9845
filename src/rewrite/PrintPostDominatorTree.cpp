//===- PrintPostDominatorTree.cpp - the analysis as text -----------------------------------------===//
#include "analysis/Blocks.h"
#include "analysis/PostDominatorTree.h"
#include "rewrite/Passes.h"
#include "llvm/Support/raw_ostream.h"

namespace tokamak {
#define GEN_PASS_DEF_PRINTPOSTDOMINATORTREE
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;

namespace {
struct PrintPostDominatorTree : tokamak::impl::PrintPostDominatorTreeBase<PrintPostDominatorTree> {
  void runOnOperation() override {
    analysis::forEachGraphBlock(getOperation(), [](Block &block) {
      llvm::outs() << "post-dominator tree of a block of " << block.getParentOp()->getName() << "\n";
      analysis::PostDominatorTree(block).print(llvm::outs());
    });
    markAllAnalysesPreserved();
  }
};
} // namespace

std::unique_ptr<Pass> tokamak::createPrintPostDominatorTreePass() {
  return std::make_unique<PrintPostDominatorTree>();
}
