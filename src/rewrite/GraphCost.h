//===- GraphCost.h - what a graph will cost once it is fused -----------------------------------------===//
#pragma once
#include "fusion/CostModel.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"

namespace tokamak::rewrite {

/// On an argument of @main: a kernel elsewhere computes it.
inline constexpr llvm::StringLiteral computedAttribute = "tk.computed";
/// On a result of @main: it leaves the whole graph, so it lies row by row in memory of its own.
inline constexpr llvm::StringLiteral returnedAttribute = "tk.returned";

/// Modelled seconds of one run of @main of `module`, in the groups that the baseline would form, each as
/// `model` prices it by itself. The module is left as it is.
double graphCost(mlir::ModuleOp module, const fusion::CostModel &model);

} // namespace tokamak::rewrite
