//===- Match.h - where a rule applies ---------------------------------------------------------===//
#pragma once
#include "rewrite/rules/Natives.h"
#include "rewrite/rules/Rule.h"
#include "llvm/ADT/DenseMap.h"

namespace tokamak::rules {

/// What the names of a pattern stand for in one place of a graph.
struct Match {
  llvm::DenseMap<mlir::Value, Binding> bindings;
  llvm::SmallVector<mlir::Operation *> operations; ///< all that matched, the root first
  unsigned swapped = 0; ///< a bit for each of Rule::swappable: its operands match the other way round

  /// What `name` stands for; computes results and literals, which may not be bound yet.
  Binding lookUp(mlir::Value name) const;
  /// The values that `name` stands for.
  llvm::SmallVector<mlir::Value, 2> valuesOf(mlir::Value name) const;
  /// The arguments of a call; nothing where one that shall be a single value is not.
  std::optional<llvm::SmallVector<NativeArgument>> argumentsOf(mlir::Operation *call) const;
};

/// Matches `rule` with `root` as the root of its pattern, operands of commutative operators in either order.
std::optional<Match> match(const Rule &rule, mlir::Operation *root);

} // namespace tokamak::rules
