//===- RowStages.h - which values of a row are computed once ------------------------------------===//
#pragma once
#include "codegen/kernel/KernelBody.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tokamak::codegen {

/// A row runs as loops, one a result and one a *stage*: a value that is computed once and kept. Everything
/// else is computed anew in each loop that reads it. Reductions are stages always; others become stages here,
/// where storing and loading takes less than computing again. All walks are linear in the group.
class RowStages {
public:
  explicit RowStages(KernelBody &body);

  /// Expensive operators that several loops read.
  void addExpensive();
  /// Leaves reductions alone.
  void dropExpensive() { staged = heavy; }

  /// Whatever else costs more to compute again than to keep: chains of cheap operators that several loops
  /// read, and values of which a loop would compute each element many times. `bytes` gives the room that a
  /// value takes, nothing where it cannot be kept; together they take `budget` at most.
  void addWorthwhile(llvm::function_ref<std::optional<int64_t>(mlir::Value)> bytes, int64_t budget);

  /// In the order of the group.
  std::vector<mlir::Value> values();

private:
  /// The loops that compute an operator, as far as anybody asks: none, one, or several.
  struct Loops {
    const void *first = nullptr;
    bool several = false;
    void add(const Loops &other);
  };
  /// Calls `visit(op, loops)` consumers first; what it adds to or takes from `staged` counts at once.
  void walkConsumersFirst(llvm::function_ref<void(mlir::Operation &, const Loops &)> visit);

  KernelBody &body;
  llvm::DenseSet<mlir::Operation *> heavy, staged;
};

} // namespace tokamak::codegen
