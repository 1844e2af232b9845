//===- CostedRewrite.cpp - rewrites that pay on some graphs only -------------------------------===//
#include "rewrite/CostedRewrite.h"
#include "ir/Tk.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rewrite;

llvm::ArrayRef<const CostedRewrite *> rewrite::costedRewrites() {
  static const CostedRewrite *const all[] = {&mergeSiblings(), &enlargeKernels(), &residualToConvolution(),
                                             &mergeSums()};
  return all;
}

const CostedRewrite *rewrite::findCostedRewrite(llvm::StringRef name) {
  for (const CostedRewrite *rewrite : costedRewrites())
    if (rewrite->name() == name)
      return rewrite;
  return nullptr;
}

void rewrite::noteMerged(Operation *created, PassState &state) {
  // Before what is merged with them is folded: constants that are put together carry the names as well.
  if (tk::onnxNodes(created->getLoc()).size() > 1)
    state.removed.merged(created->getLoc(), created->getLoc());
}

namespace {
struct MergeNoter : RewriterBase::Listener {
  explicit MergeNoter(PassState &state) : state(state) {}
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override { noteMerged(op, state); }
  PassState &state;
};
} // namespace

bool rewrite::applyEverywhere(const CostedRewrite &rewrite, Block &block, PassState &state,
                              llvm::function_ref<bool(const Site &)> isWanted) {
  MergeNoter noter(state);
  IRRewriter rewriter(block.getParentOp()->getContext(), &noter);
  bool changed = false;
  for (;;) {
    std::vector<Site> sites = rewrite.findSites(block);
    auto site = llvm::find_if(sites, isWanted);
    if (site == sites.end() || !state.fuel.take(rewrite.name(), site->front()->getLoc()))
      return changed;
    rewrite.apply(*site, rewriter);
    changed = true;
  }
}
