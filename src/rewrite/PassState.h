//===- PassState.h - what passes share besides the graph -----------------------------------===//
// The target, fuel and logs. Logs decide nothing; fuel stops passes.
#pragma once
#include "analysis/TargetDescription.h"
#include "mlir/IR/Location.h"
#include "rewrite/SearchReport.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mlir {
class ModuleOp;
}

namespace tokamak {

struct DecisionLog;

/// Counts applied rewrites and merges over a whole pipeline, and stops them at a limit: bisecting over the
/// limit finds the first one that breaks a model. A pass takes one unit right before each application.
class Fuel {
public:
  /// A negative limit is none.
  explicit Fuel(int64_t limit = -1) : limit(limit) {}
  /// Takes a unit for `what`, done at `loc`; false when none is left.
  bool take(llvm::StringRef what, mlir::Location loc);
  bool isEmpty() const { return limit >= 0 && count >= limit; }
  int64_t used() const { return count; }
  /// "PASS at NODE (TYPE)" of the unit taken last; empty where none was.
  const std::string &last() const { return lastTaken; }

private:
  int64_t limit;
  int64_t count = 0;
  std::string lastTaken;
};

/// Why ONNX nodes are no longer in the graph. Passes note each operation that they remove or merge; a node
/// stays out of the report while some operation is still first of all its own.
class RemovedLog {
public:
  void folded(mlir::Location loc) { note(loc, "folded", {}); }
  void dead(mlir::Location loc) { note(loc, "dead", {}); }
  void identity(mlir::Location loc) { note(loc, "identity", {}); }
  /// What `loc` did is now done by the operation at `into`.
  void merged(mlir::Location loc, mlir::Location into);

  /// (ONNX node, reason), in the order of removal, of nodes that `module` no longer has an operation of. A
  /// reason is "folded", "dead", "identity" or "merged into NAME".
  std::vector<std::pair<std::string, std::string>> removedFrom(mlir::ModuleOp module) const;

private:
  struct Entry {
    std::string node, reason, into;
  };
  void note(mlir::Location loc, llvm::StringRef reason, llvm::StringRef into);
  std::vector<Entry> entries;
  llvm::StringSet<> mergedNodes; ///< noted as merged at some time
};

/// Shared by the passes of one pipeline; each pass of tokamak-opt gets one of its own, which decides alike on
/// every machine.
struct PassState {
  TargetDescription target = TargetDescription::reference(); ///< what costs are modelled for
  Fuel fuel;
  RemovedLog removed;
  std::vector<SearchReport> searches;
  DecisionLog *decisions = nullptr; ///< null: nobody asks
  bool inputFault = false;          ///< a pass failed because of what the user gave to it (a rule file)
};
using PassStatePtr = std::shared_ptr<PassState>;
inline PassStatePtr orFresh(PassStatePtr state) {
  return state ? std::move(state) : std::make_shared<PassState>();
}

/// `first` with the nodes of `second` behind it: an operation that does the work of both.
mlir::Location mergeLocations(mlir::Location first, mlir::Location second);

} // namespace tokamak
