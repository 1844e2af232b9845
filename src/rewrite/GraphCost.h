//===- GraphCost.h - what a graph will cost once it is fused -----------------------------------------===//
#pragma once
#include "fusion/CostModel.h"
#include "fusion/WinogradUse.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <vector>

namespace tokamak::rewrite {

/// On an argument of @main: a kernel elsewhere computes it.
inline constexpr llvm::StringLiteral computedAttribute = "tk.computed";
/// On a result of @main: it leaves the whole graph, so it lies row by row in memory of its own.
inline constexpr llvm::StringLiteral returnedAttribute = "tk.returned";

/// Which groups are priced: those that the baseline forms, or those that `full` makes of them, which takes
/// some times as long to find out.
enum class GroupsOf { Baseline, Full };

/// Prices graphs that are alike: what one kernel costs is asked of the model once.
class GraphPricer {
public:
  /// `filtered`: the weights of convolutions, where some will be computed by minimal filtering.
  GraphPricer(const fusion::CostModel &model, std::optional<codegen::WeightSource> filtered)
      : model(model), filtered(filtered) {}

  /// Modelled seconds of each kernel of one run of @main of `module`, by itself; views are left out. The
  /// module is left as it is.
  std::vector<double> kernelCosts(mlir::ModuleOp module, GroupsOf groups);
  const TargetDescription &target() const { return model.targetDescription(); }

private:
  double secondsOf(mlir::Operation *op);

  const fusion::CostModel &model;
  std::optional<codegen::WeightSource> filtered;
  llvm::DenseMap<size_t, double> known; ///< by what the group is made of
};

double sumOf(llvm::ArrayRef<double> costs);

/// What a rewrite changes: the sum of those costs of `before` that `after` has no equal of.
double changedCost(std::vector<double> before, std::vector<double> after);

} // namespace tokamak::rewrite
