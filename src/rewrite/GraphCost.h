//===- GraphCost.h - what a graph will cost once it is fused -----------------------------------------===//
#pragma once
#include "analysis/TargetDescription.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"

namespace tokamak::rewrite {

/// On an argument of @main: a kernel elsewhere computes it.
inline constexpr llvm::StringLiteral computedAttribute = "tk.computed";

/// Modelled seconds of one run of @main of `module`, in the groups that the baseline would form. The module
/// is left as it is.
double graphCost(mlir::ModuleOp module, const TargetDescription &target);

} // namespace tokamak::rewrite
