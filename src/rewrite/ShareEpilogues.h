//===- ShareEpilogues.h - equal work on all slices of a value is done on the whole --------------===//
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace tokamak::rewrite {

/// `parts` are slices of `whole` that cover it, in order, along `axis`. An elementwise operator that reads
/// each part, the rest of its operands constants or parts of another such value, is moved in front of the
/// slices, and so on through what reads its results. So a merged convolution keeps bias and activation in its
/// registers. Contract: exact.
void shareEpilogues(mlir::Value whole, llvm::ArrayRef<mlir::Value> parts, int64_t axis,
                    mlir::IRRewriter &rewriter);

} // namespace tokamak::rewrite
