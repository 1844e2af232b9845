//===- RewriteDriver.h - folders and patterns, one counted step at a time --------------------===//
// MLIR's greedy driver cannot be stopped between two folds, which bisecting by fuel needs.
#pragma once
#include "mlir/IR/Operation.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "rewrite/PassState.h"
#include "llvm/ADT/StringRef.h"

namespace tokamak::rewrite {

/// Applies the operators' folders and `patterns` to all operators below `root`, bodies of composites and
/// groups left alone, until nothing applies or the fuel is used up. Replaced nodes are noted in the log;
/// operators that a step leaves without a user go with it. `pass` names the steps.
void applyRewrites(mlir::Operation *root, const mlir::FrozenRewritePatternSet &patterns, PassState &state,
                   llvm::StringRef pass);

} // namespace tokamak::rewrite
