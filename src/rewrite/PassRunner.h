//===- PassRunner.h - the pass pipeline from graph to groups -------------------------------===//
// One runner for all passes: each is named, switchable, fuelled, timed, verified after, and dumped where it
// changed the graph.
#pragma once
#include "fusion/Decision.h"
#include "mlir/IR/BuiltinOps.h"
#include "rewrite/PassState.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class OpPassManager;
}

namespace tokamak {

enum class FusionMode { None, Dominator, Full };

struct PipelineOptions {
  FusionMode fusion = FusionMode::Full;
  /// Arguments of passes to leave out (`--disable-pass`). An unknown or indispensable one is an error.
  std::vector<std::string> disabledPasses;
  /// Files of rewrite rules, or names of shipped ones, to be applied in order (`--rules`); `full` only.
  std::vector<std::string> rules;
  bool trustRules = false; ///< do not compare them with the evaluator
  bool exact = false;      ///< no arithmetic that rounds otherwise than sums of products: no choose-winograd
  /// Rewrites to apply wherever they are legal, whatever they cost (`--force-rewrite`), before the search for
  /// those that pay. An error where no search runs: see `whyNotForced`.
  std::vector<std::string> forcedRewrites;
  std::optional<TargetDescription> target; ///< what costs are modelled for; unset: this machine
  int64_t threads = 0;                     ///< that run the program; 0: one a core of the target
  int64_t fuel = -1;                       ///< applied rewrites and merges at most; negative: no limit
  bool printAfterChange = false;           ///< the graph, on standard error, after each pass that changed it
  bool timing = false;                     ///< a table of times on standard error

  // What the caller wants to know, where not null.
  DecisionLog *decisions = nullptr;
  std::vector<std::pair<std::string, std::string>> *removed = nullptr; ///< see RemovedLog::removedFrom
  std::vector<SearchReport> *searches = nullptr;                       ///< what rewrite-search changed
  int64_t *fuelUsed = nullptr;
  std::string *lastApplied = nullptr; ///< see Fuel::last
  bool *inputFault = nullptr;         ///< see PassState::inputFault
};

/// Rewrites and partitions `module` (one func.func @main of tk operators). Failures are reported as
/// diagnostics; a graph that fails to verify after a pass is one.
mlir::LogicalResult runPipeline(mlir::ModuleOp module, const PipelineOptions &options);

/// The pipeline itself, a line a pass.
void buildPipeline(mlir::OpPassManager &passes, const PipelineOptions &options, const PassStatePtr &state);

struct PassListing {
  std::string name, summary;
  bool switchable;
};
/// Every pass that the pipelines run, in order, each once.
std::vector<PassListing> listPasses();

/// Names that `PipelineOptions::forcedRewrites` may hold.
std::vector<std::string> forcibleRewrites();

/// Why nothing would force `PipelineOptions::forcedRewrites`, in a line; empty where there are none, or the
/// pipeline does.
std::string whyNotForced(const PipelineOptions &options);

} // namespace tokamak
