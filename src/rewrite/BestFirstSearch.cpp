//===- BestFirstSearch.cpp - sequences of rewrites that lower the cost ----------------------------------===//
// Graphs are small (a neighbourhood) and rewrites keep weights as expressions of the old ones, so a state is
// a copied function. States are told apart by their text, in which large constants are left out.
#include "rewrite/BestFirstSearch.h"
#include "fusion/NodeNames.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"
#include <queue>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rewrite;

namespace {

Block &blockOf(ModuleOp module) { return module.getBody()->front().getRegion(0).front(); }

std::string printed(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  // In local scope, since a module's print encodes the resources that it leaves out.
  module->print(stream,
                OpPrintingFlags().useLocalScope().elideLargeElementsAttrs().elideLargeResourceString());
  return text;
}

Site siteAt(Block &block, llvm::ArrayRef<unsigned> places) {
  Site site;
  for (unsigned place : places)
    site.push_back(&*std::next(block.begin(), place));
  return site;
}

/// Operations in the order in which a rewrite creates them, and erases them.
struct Recorder : RewriterBase::Listener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint previous) override {
    if (!previous.isSet())
      created.push_back(op);
  }
  void notifyOperationErased(Operation *op) override { erased.push_back(op); }
  std::vector<Operation *> created, erased;
};

Recorder applyStep(const CostedRewrite &rewrite, const Site &site) {
  Recorder recorder;
  IRRewriter rewriter(site.front()->getContext(), &recorder);
  rewrite.apply(site, rewriter);
  return recorder;
}

struct SearchState {
  OwningOpRef<ModuleOp> module;
  std::vector<double> kernels; ///< what each costs in the groups of the baseline
  double cost;                 ///< their sum
  std::vector<SearchStep> steps;
};

class Search {
public:
  Search(GraphPricer &pricer, int64_t bound, double leastGain, IsAllowedFn isAllowed)
      : pricer(pricer), bound(bound), leastGain(leastGain), isAllowed(isAllowed) {}

  SearchResult run(ModuleOp start) {
    enter(start.clone(), {});
    while (!frontier.empty() && static_cast<int64_t>(states.size()) < bound) {
      const size_t cheapest = frontier.top().second;
      frontier.pop();
      expand(cheapest);
    }
    return choose();
  }

private:
  void enter(OwningOpRef<ModuleOp> module, std::vector<SearchStep> steps) {
    if (!seen.insert(printed(*module)).second)
      return;
    std::vector<double> kernels = pricer.kernelCosts(*module, GroupsOf::Baseline);
    const double cost = sumOf(kernels);
    frontier.push({-cost, states.size()});
    states.push_back(std::make_unique<SearchState>(
        SearchState{std::move(module), std::move(kernels), cost, std::move(steps)}));
  }

  /// The state with the largest gain once `full` has fused it.
  SearchResult choose() const {
    const SearchState &start = *states.front();
    std::vector<const SearchState *> better;
    for (const auto &state : states) // half a call of a kernel is nothing that the model could tell
      if (start.cost - state->cost >= pricer.target().callSeconds / 2)
        better.push_back(state.get());
    llvm::stable_sort(better, [](const SearchState *a, const SearchState *b) { return a->cost < b->cost; });
    constexpr size_t mostPricedAgain = 3;
    better.resize(std::min(better.size(), mostPricedAgain));

    SearchResult result;
    result.explored = static_cast<int64_t>(states.size());
    result.secondsBefore = result.secondsAfter = start.cost;
    if (better.empty())
      return result;
    result.secondsAfter = better.front()->cost;
    result.secondsChanged = changedCost(start.kernels, better.front()->kernels);
    // `full` may make more of a gain than the baseline's groups, but hardly three times as much.
    llvm::erase_if(better, [&](const SearchState *state) {
      return start.cost - state->cost < leastGain / 3 * changedCost(start.kernels, state->kernels);
    });
    if (better.empty())
      return result;
    const std::vector<double> before = pricer.kernelCosts(*start.module, GroupsOf::Full);
    result.secondsBefore = result.secondsAfter = sumOf(before);
    result.secondsChanged = 0;
    for (const SearchState *state : better) {
      std::vector<double> after = pricer.kernelCosts(*state->module, GroupsOf::Full);
      if (const double seconds = sumOf(after); seconds < result.secondsAfter) {
        result.secondsAfter = seconds;
        result.secondsChanged = changedCost(before, std::move(after));
        result.steps = state->steps;
      }
    }
    if (result.secondsBefore - result.secondsAfter < leastGain * result.secondsChanged)
      result.steps.clear();
    return result;
  }

  void expand(size_t number) {
    Block &block = blockOf(*states[number]->module);
    llvm::DenseMap<Operation *, unsigned> places;
    for (Operation &op : block)
      places.insert({&op, places.size()});
    for (const CostedRewrite *rewrite : costedRewrites()) {
      for (const Site &site : rewrite->findSites(block)) {
        if (static_cast<int64_t>(states.size()) >= bound)
          return;
        if (!isAllowed(*rewrite, site))
          continue;
        SearchStep step{rewrite, llvm::map_to_vector<4>(site, [&](Operation *op) { return places[op]; })};
        OwningOpRef<ModuleOp> next = states[number]->module->clone();
        applyStep(*rewrite, siteAt(blockOf(*next), step.site));
        std::vector<SearchStep> steps = states[number]->steps;
        steps.push_back(std::move(step));
        enter(std::move(next), std::move(steps));
      }
    }
  }

  GraphPricer &pricer;
  int64_t bound;
  double leastGain;
  IsAllowedFn isAllowed;
  llvm::SmallVector<std::unique_ptr<SearchState>> states;
  std::priority_queue<std::pair<double, size_t>> frontier; ///< negative cost, state
  llvm::StringSet<> seen;
};

} // namespace

std::string rewrite::textOf(const GraphCopy &graph) { return printed(graph.module.get()); }

SearchResult rewrite::searchRewrites(const GraphCopy &start, GraphPricer &pricer, int64_t bound,
                                     double leastGain, IsAllowedFn isAllowed) {
  return Search(pricer, bound, leastGain, isAllowed).run(*start.module);
}

std::vector<std::string> rewrite::replaySteps(GraphCopy start, llvm::ArrayRef<SearchStep> steps,
                                              PassState &state, llvm::StringRef pass, IsAllowedFn isAllowed,
                                              llvm::function_ref<void(Operation *)> erased) {
  // Each step is taken on the copy as well, which tells the originals of what the next one takes apart.
  llvm::DenseMap<Operation *, Operation *> originals = std::move(start.originals);
  Block &block = start.block();
  std::vector<std::string> applied;
  for (const SearchStep &step : steps) {
    Site copied = siteAt(block, step.site);
    if (!llvm::all_of(copied, [&](Operation *op) { return originals.contains(op); }))
      break;
    Site own = llvm::map_to_vector<4>(copied, [&](Operation *op) { return originals[op]; });
    if (!isAllowed(*step.rewrite, own) || !state.fuel.take(pass, own.front()->getLoc()))
      break;
    applied.push_back((step.rewrite->name() + " at " + fusion::nodeName(own.front())).str());
    Recorder done = applyStep(*step.rewrite, own), mirrored = applyStep(*step.rewrite, copied);
    for (Operation *op : done.created) // some of which the step itself has erased again
      if (!llvm::is_contained(done.erased, op))
        noteMerged(op, state);
    llvm::for_each(done.erased, erased);
    if (done.created.size() != mirrored.created.size())
      break;
    for (auto [mirror, original] : llvm::zip_equal(mirrored.created, done.created))
      originals[mirror] = original;
  }
  return applied;
}
