//===- RewriteSearch.cpp - rewrites that the cost model takes -------------------------------------===//
// Each rewrite that pays on some graphs only is tried where it applies, and what it makes possible after it:
// best-first over sequences of them, in a bounded neighbourhood, with the modelled time of the fused result
// as the cost. Sites that the graph has in the beginning are searched in one sweep; sweeps repeat while they
// change something. Contract: that of the rewrites taken; those that hold on finite values only are left out
// where a value may be infinite, unless they are forced.
#include "analysis/Blocks.h"
#include "analysis/Traffic.h"
#include "fusion/KernelDialects.h"
#include "fusion/NodeNames.h"
#include "rewrite/BestFirstSearch.h"
#include "rewrite/Passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace tokamak {
#define GEN_PASS_DECL_REWRITESEARCH
#define GEN_PASS_DEF_REWRITESEARCH
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rewrite;

namespace {

/// Rewriting in a neighbourhood lays open what lies at its border, a few times at most.
constexpr int mostSweeps = 4;
/// What must be gained of the time of the kernels that change: the model does not know them any better.
constexpr double leastGain = 0.15;

struct RewriteSearch : tokamak::impl::RewriteSearchBase<RewriteSearch> {
  explicit RewriteSearch(PassStatePtr state) : state(std::move(state)) {}
  RewriteSearch(const std::vector<std::string> &names, bool isExact, PassStatePtr state)
      : state(std::move(state)) {
    force = names;
    exact = isExact;
  }

  void getDependentDialects(DialectRegistry &registry) const override {
    RewriteSearchBase::getDependentDialects(registry);
    fusion::registerKernelDialects(registry);
  }

  void runOnOperation() override {
    for (const std::string &name : force) {
      const CostedRewrite *rewrite = findCostedRewrite(name);
      if (!rewrite) {
        std::string known;
        for (const CostedRewrite *other : costedRewrites())
          known += (known.empty() ? "" : ", ") + other->name().str();
        getOperation()->emitError("there is no rewrite '") << name << "' to force; there are " << known;
        state->inputFault = true;
        return signalPassFailure();
      }
      forced.push_back(rewrite);
    }
    // On one thread: with more of them, siblings run beside each other as it is (`schedule-waves`). Who
    // forces rewrites wants to see what they make possible, so then the dispatches saved count as well.
    model.emplace(state->target, forced.empty() ? 1 : 0);
    model->setProgram(getOperation());
    pricer.emplace(*model, exact ? std::nullopt
                                 : std::optional(fusion::convolutionWeights(getOperation(), state->target)));
    analysis::forEachGraphBlock(getOperation(), [&](Block &block) {
      bool changed = true;
      for (int sweeps = 0; changed && sweeps < mostSweeps; ++sweeps) {
        changed = applyForced(block);
        changed |= searchOnce(block);
      }
    });
  }

private:
  /// In turns, since one may make sites for another.
  bool applyForced(Block &block) {
    SearchReport report;
    for (bool again = true; again;) {
      again = false;
      for (const CostedRewrite *rewrite : forced)
        again |= applyForced(*rewrite, block, report);
    }
    const bool changed = !report.steps.empty();
    if (changed)
      state->searches.push_back(std::move(report));
    return changed;
  }

  bool applyForced(const CostedRewrite &rewrite, Block &block, SearchReport &report) {
    // A site that is asked for is taken if there is fuel.
    std::string at, step;
    int64_t used = state->fuel.used();
    auto noteTaken = [&] {
      if (state->fuel.used() == used)
        return;
      used = state->fuel.used();
      if (report.steps.empty())
        report.at = at;
      report.steps.push_back(step);
    };
    bool changed = applyEverywhere(rewrite, block, *state, [&](const Site &site) {
      noteTaken();
      at = fusion::nodeName(site.front());
      step = (rewrite.name() + " at " + at).str();
      return true;
    });
    noteTaken();
    return changed;
  }

  bool isAllowed(const CostedRewrite &rewrite, const Site &site) const {
    return llvm::is_contained(forced, &rewrite) || rewrite.keepsNonFinite(site);
  }

  /// Searches around each site that the block has now; true if it changed.
  bool searchOnce(Block &block) {
    std::vector<Site> sites;
    for (const CostedRewrite *rewrite : costedRewrites())
      for (Site &site : rewrite->findSites(block))
        if (isAllowed(*rewrite, site))
          sites.push_back(std::move(site));
    // What was searched need not be searched from another of its sites; what was rewritten is gone.
    llvm::DenseSet<Operation *> done;
    bool changed = false;
    for (const Site &site : sites) {
      if (llvm::any_of(site, [&](Operation *op) { return done.contains(op); }))
        continue;
      std::vector<Operation *> ops = neighbourhoodOf(site);
      llvm::erase_if(ops, [&](Operation *op) { return done.contains(op); });
      done.insert(ops.begin(), ops.end());
      changed |= searchAround(site, ops, done);
    }
    return changed;
  }

  bool searchAround(const Site &site, llvm::ArrayRef<Operation *> ops, llvm::DenseSet<Operation *> &done) {
    SearchReport report;
    report.at = fusion::nodeName(site.front());
    report.bound = bound;
    GraphCopy copy = copyOperations(ops);
    auto isAllowedHere = [&](const CostedRewrite &rewrite, const Site &at) { return isAllowed(rewrite, at); };
    // Networks repeat themselves, and what is found in one place holds in all that look like it.
    auto [entry, isNew] = searched.try_emplace(textOf(copy));
    if (isNew)
      entry->second = searchRewrites(copy, *pricer, bound, forced.empty() ? leastGain : 0, isAllowedHere);
    const SearchResult &found = entry->second;
    if (!found.steps.empty())
      report.steps = replaySteps(std::move(copy), found.steps, *state, getArgument(), isAllowedHere,
                                 [&](Operation *op) { done.insert(op); });
    report.explored = found.explored;
    report.secondsBefore = found.secondsBefore;
    report.secondsAfter = found.secondsAfter;
    report.secondsChanged = found.secondsChanged;
    const bool changed = !report.steps.empty();
    // Later sweeps look again around most sites, and need not say so.
    if (changed || reported.insert(report.at).second)
      state->searches.push_back(std::move(report));
    return changed;
  }

  PassStatePtr state;
  std::optional<fusion::CostModel> model;
  std::optional<GraphPricer> pricer;
  llvm::SmallVector<const CostedRewrite *> forced;
  llvm::StringMap<SearchResult> searched; ///< by the text of the neighbourhood
  llvm::StringSet<> reported;             ///< nodes around which nothing was taken
};

} // namespace

std::unique_ptr<Pass> tokamak::createRewriteSearchPass(const std::vector<std::string> &force, bool exact,
                                                       PassStatePtr state) {
  return std::make_unique<RewriteSearch>(force, exact, orFresh(std::move(state)));
}

std::unique_ptr<Pass> tokamak::createRewriteSearchPass() {
  return std::make_unique<RewriteSearch>(std::make_shared<PassState>());
}
