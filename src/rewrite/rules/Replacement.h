//===- Replacement.h - what a rule puts in the place of a match ---------------------------------===//
#pragma once
#include "mlir/IR/Builders.h"
#include "rewrite/rules/Match.h"

namespace tokamak::rules {

struct Replacement {
  llvm::SmallVector<mlir::Operation *> created; ///< in order, in front of the root
  llvm::SmallVector<mlir::Value, 2> values;     ///< one a result of the root, of the same types

  /// Erases what was created, where it shall not be used.
  void discard();
};

/// Builds the replacement of a match in front of its root, which stays. Fails, leaving nothing behind, where
/// an operator that the rule makes is not valid or the types are not those of the root.
llvm::Expected<Replacement> buildReplacement(const Rule &rule, Match match);

} // namespace tokamak::rules
