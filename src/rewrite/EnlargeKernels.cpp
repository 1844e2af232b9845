//===- EnlargeKernels.cpp - a small kernel with zeros around ------------------------------------===//
// A centred 1x1 convolution beside a centred 3x3 of the same input becomes a 3x3 itself, with zero taps
// around the one it has; then merge-siblings can make one of the two. Contract: exact on finite inputs only:
// a zero tap makes NaN of an infinity beside the element. So, unless asked for by force, only where the input
// is known to be bounded (`magnitudeBound`), and seldom worth it: the branch takes nine times the arithmetic.
#include "analysis/Blocks.h"
#include "analysis/Magnitude.h"
#include "rewrite/CostedRewrite.h"
#include "rewrite/KernelGeometry.h"
#include "rewrite/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace tokamak {
#define GEN_PASS_DEF_ENLARGEKERNELS
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rewrite;

namespace {

/// Whether `small` can be given the kernel of `large`. Dilations count where there is more than one tap.
bool fitsInto(tk::ConvOp small, tk::ConvOp large) {
  auto inner = kernelOf(small.getWeight()), outer = kernelOf(large.getWeight());
  if (inner == outer || tk::tensorType(small.getWeight()).getElementType() !=
                            tk::tensorType(large.getWeight()).getElementType())
    return false;
  for (auto [a, b, ours, theirs] : llvm::zip_equal(inner, outer, small.getDilations(), large.getDilations()))
    if (a > b || (a > 1 && ours != theirs))
      return false;
  return true;
}

/// Whether what becomes of a sibling is the same with either.
bool haveSameKernel(tk::ConvOp a, tk::ConvOp b) {
  return kernelOf(a.getWeight()) == kernelOf(b.getWeight()) && a.getDilations() == b.getDilations() &&
         tk::tensorType(a.getWeight()).getElementType() == tk::tensorType(b.getWeight()).getElementType();
}

class EnlargeKernelsRewrite : public CostedRewrite {
public:
  llvm::StringRef name() const override { return "enlarge-kernels"; }

  /// The convolution to be enlarged, and the first sibling that has the kernel.
  std::vector<Site> findSites(Block &block) const override {
    struct Siblings {
      llvm::SmallVector<tk::ConvOp, 2> all, firstOfKernel;
    };
    llvm::MapVector<Value, Siblings> byInput;
    for (Operation &op : block) {
      auto conv = dyn_cast<tk::ConvOp>(op);
      if (!conv || !weightedAnchor(conv) || !isCentred(conv))
        continue;
      auto &[all, firstOfKernel] = byInput[conv.getInput()];
      all.push_back(conv);
      if (llvm::none_of(firstOfKernel, [&](tk::ConvOp other) { return haveSameKernel(conv, other); }))
        firstOfKernel.push_back(conv);
    }
    std::vector<Site> sites;
    for (auto &[input, siblings] : byInput)
      for (tk::ConvOp small : siblings.all)
        for (tk::ConvOp large : siblings.firstOfKernel)
          if (fitsInto(small, large))
            sites.push_back({small, large});
    return sites;
  }

  bool keepsNonFinite(const Site &site) const override {
    return analysis::magnitudeBound(cast<tk::ConvOp>(site[0]).getInput()).has_value();
  }

  void apply(const Site &site, IRRewriter &rewriter) const override {
    auto small = cast<tk::ConvOp>(site[0]), large = cast<tk::ConvOp>(site[1]);
    rewriter.setInsertionPoint(small);
    Value weight = embedKernel(rewriter, small.getLoc(), small.getWeight(), kernelOf(large.getWeight()));
    WeightedAnchor like = *weightedAnchor(large);
    Value bias = small.getBias();
    rewriter.replaceOp(small, rebuildAnchor(rewriter, small.getLoc(), like, small.getInput(), weight, bias));
  }
};

struct EnlargeKernels : tokamak::impl::EnlargeKernelsBase<EnlargeKernels> {
  explicit EnlargeKernels(PassStatePtr state) : state(std::move(state)) {}
  void runOnOperation() override {
    analysis::forEachGraphBlock(getOperation(), [&](Block &block) {
      applyEverywhere(enlargeKernels(), block, *state, [](const Site &) { return true; });
    });
  }
  PassStatePtr state;
};

} // namespace

const CostedRewrite &rewrite::enlargeKernels() {
  static const EnlargeKernelsRewrite instance;
  return instance;
}

std::unique_ptr<Pass> tokamak::createEnlargeKernelsPass(PassStatePtr state) {
  return std::make_unique<EnlargeKernels>(orFresh(std::move(state)));
}
