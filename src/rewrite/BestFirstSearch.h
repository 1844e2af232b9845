//===- BestFirstSearch.h - sequences of rewrites that lower the cost ----------------------------------===//
#pragma once
#include "rewrite/GraphCost.h"
#include "rewrite/Neighbourhood.h"
#include <optional>
#include <string>
#include <vector>

namespace tokamak::rewrite {

/// One application: the rewrite, and the places in the block of the operations that it takes apart.
struct SearchStep {
  const CostedRewrite *rewrite = nullptr;
  llvm::SmallVector<unsigned, 4> site;
};

using IsAllowedFn = llvm::function_ref<bool(const CostedRewrite &, const Site &)>;

struct SearchResult {
  int64_t explored = 0;                       ///< states whose cost was modelled, the first one included
  double secondsBefore = 0, secondsAfter = 0; ///< of the best found; in the groups of `full` where it may pay
  double secondsChanged = 0;                  ///< of `secondsBefore`, kernels that the best changes
  std::vector<SearchStep> steps;              ///< in order; none where nothing gains enough
};

/// What tells graphs apart: their text without large constants and locations.
std::string textOf(const GraphCopy &graph);

/// Best-first search from `start`: the cheapest state known is expanded first, until none is left or `bound`
/// states have been modelled in the groups of the baseline. The best few of them that may pay are priced once
/// more in those of `full`, by which one is chosen: it must gain `leastGain` of the kernels that it changes.
/// `isAllowed` says which sites count.
SearchResult searchRewrites(const GraphCopy &start, GraphPricer &pricer, int64_t bound, double leastGain,
                            IsAllowedFn isAllowed);

/// Repeats the steps on the operations that `start` was copied from, and on the copy. Returns those that were
/// applied, "REWRITE at NODE": fuel may run out, a step may not be allowed there, and one that finds other
/// readers than in the copy is the last one. `erased` is told of the operations that are gone.
std::vector<std::string> replaySteps(GraphCopy start, llvm::ArrayRef<SearchStep> steps, PassState &state,
                                     llvm::StringRef pass, IsAllowedFn isAllowed,
                                     llvm::function_ref<void(mlir::Operation *)> erased);

} // namespace tokamak::rewrite
