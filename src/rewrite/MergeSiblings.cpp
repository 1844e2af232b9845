//===- MergeSiblings.cpp - anchors of one input become one -------------------------------------===//
// Convolutions, or matrix products, that read one value with equal geometry become one with their weights
// side by side over the result's channels; each result is a slice of the whole. The input is read once and
// there is one kernel to start. Contract: exact: every element is the same sum of the same products. (A
// missing bias becomes -0, the one number that addition leaves everything as it is.)
//
// Members are ordered by how many times two divides their channels: then each slice starts at a multiple of
// its own power of two, so that slices of whole channel blocks are views (`isSliceView`).
#include "analysis/Blocks.h"
#include "rewrite/CostedRewrite.h"
#include "rewrite/Passes.h"
#include "rewrite/ShareEpilogues.h"
#include "rewrite/WeightedAnchor.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/bit.h"

namespace tokamak {
#define GEN_PASS_DEF_MERGESIBLINGS
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rewrite;

namespace {

using Family = llvm::SmallVector<WeightedAnchor, 4>;

/// Whether operations outside of the family need its weights too: merging would keep them twice.
bool sharesWeights(const Family &family) {
  llvm::SmallPtrSet<Operation *, 8> inside;
  for (const WeightedAnchor &member : family)
    inside.insert(member.op);
  return llvm::any_of(family, [&](const WeightedAnchor &member) {
    return llvm::any_of(member.weight.getUsers(), [&](Operation *user) { return !inside.contains(user); });
  });
}

bool areSiblings(const WeightedAnchor &a, const WeightedAnchor &b) {
  return a.input == b.input && haveSameGeometry(a, b, a.weightOutAxis);
}

class MergeSiblingsRewrite : public CostedRewrite {
public:
  llvm::StringRef name() const override { return "merge-siblings"; }

  std::vector<Site> findSites(Block &block) const override {
    // Of one input: a family a geometry.
    llvm::MapVector<Value, llvm::SmallVector<Family, 1>> byInput;
    for (Operation &op : block) {
      std::optional<WeightedAnchor> anchor = weightedAnchor(&op);
      if (!anchor)
        continue;
      auto &families = byInput[anchor->input];
      auto *family =
          llvm::find_if(families, [&](const Family &f) { return areSiblings(f.front(), *anchor); });
      if (family == families.end())
        families.push_back({*anchor});
      else
        family->push_back(*anchor);
    }
    std::vector<Site> sites;
    for (auto &[input, families] : byInput)
      for (const Family &family : families)
        addSites(family, sites);
    return sites;
  }

  void apply(const Site &site, IRRewriter &rewriter) const override {
    Family family;
    llvm::SmallVector<Location> locations;
    for (Operation *op : site) {
      family.push_back(*weightedAnchor(op));
      locations.push_back(op->getLoc());
    }
    llvm::stable_sort(family, [](const WeightedAnchor &a, const WeightedAnchor &b) {
      return llvm::countr_zero(static_cast<uint64_t>(a.outChannels())) >
             llvm::countr_zero(static_cast<uint64_t>(b.outChannels()));
    });
    Operation *first = site.front();
    Location loc = FusedLoc::get(first->getContext(), locations);
    rewriter.setInsertionPoint(first);
    Value merged = rebuildAnchor(rewriter, loc, family.front(), family.front().input,
                                 joinedWeights(family, first, rewriter), joinedBias(family, first, rewriter));
    llvm::SmallVector<Value> parts;
    int64_t start = 0;
    for (const WeightedAnchor &member : family) {
      parts.push_back(
          sliceAlong(rewriter, member.op->getLoc(), merged, member.resultAxis, start, member.outChannels()));
      start += member.outChannels();
    }
    for (auto [member, part] : llvm::zip_equal(family, parts))
      rewriter.replaceOp(member.op, part);
    shareEpilogues(merged, parts, family.front().resultAxis, rewriter);
  }

private:
  /// The whole family, and each pair of a larger one.
  static void addSites(const Family &family, std::vector<Site> &sites) {
    auto add = [&](const Family &members) {
      if (!sharesWeights(members))
        sites.push_back(llvm::map_to_vector<4>(members, [](const WeightedAnchor &m) { return m.op; }));
    };
    constexpr size_t mostPaired = 4;
    if (family.size() < 2)
      return;
    add(family);
    if (family.size() > 2 && family.size() <= mostPaired)
      for (size_t i = 0; i < family.size(); ++i)
        for (size_t j = i + 1; j < family.size(); ++j)
          add({family[i], family[j]});
  }

  static Value joinedWeights(const Family &family, Operation *first, IRRewriter &rewriter) {
    llvm::SmallVector<Value> weights;
    for (const WeightedAnchor &member : family) {
      moveConstantsBefore(member.weight, first);
      weights.push_back(member.weight);
    }
    return concatenate(rewriter, first->getLoc(), weights, family.front().weightOutAxis);
  }

  static Value joinedBias(const Family &family, Operation *first, IRRewriter &rewriter) {
    if (llvm::none_of(family, [](const WeightedAnchor &member) { return member.bias; }))
      return Value();
    llvm::SmallVector<Value> biases;
    for (const WeightedAnchor &member : family) {
      if (member.bias)
        moveConstantsBefore(member.bias, first);
      auto type =
          RankedTensorType::get({member.outChannels()}, tk::tensorType(member.weight).getElementType());
      biases.push_back(member.bias ? member.bias : splat(rewriter, first->getLoc(), type, -0.0));
    }
    return concatenate(rewriter, first->getLoc(), biases, 0);
  }
};

struct MergeSiblings : tokamak::impl::MergeSiblingsBase<MergeSiblings> {
  explicit MergeSiblings(PassStatePtr state) : state(std::move(state)) {}
  void runOnOperation() override {
    analysis::forEachGraphBlock(getOperation(), [&](Block &block) {
      applyEverywhere(mergeSiblings(), block, *state, [](const Site &) { return true; });
    });
  }
  PassStatePtr state;
};

} // namespace

const CostedRewrite &rewrite::mergeSiblings() {
  static const MergeSiblingsRewrite instance;
  return instance;
}

std::unique_ptr<Pass> tokamak::createMergeSiblingsPass(PassStatePtr state) {
  return std::make_unique<MergeSiblings>(orFresh(std::move(state)));
}
