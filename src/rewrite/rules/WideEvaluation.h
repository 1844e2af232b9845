//===- WideEvaluation.h - what operators compute without rounding and overflow ------------------===//
#pragma once
#include "ir/Tensor.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <vector>

namespace tokamak::rules {

/// Evaluates operators in float64 and int64 in place of their own types: where a rule and what it replaces
/// agree so, what they differ by in their own types is rounding.
class WideEvaluation {
public:
  struct Wide {
    Tensor values;
    /// An element's largest magnitude on the way to it; infinite where one was beyond the range of its own
    /// type.
    std::vector<double> magnitudes;
  };

  /// `input` has the values of constants and of what is not to be computed, in their own types, and nothing
  /// for all else.
  using Input = llvm::function_ref<std::optional<Tensor>(mlir::Value)>;
  /// Nothing where the evaluator cannot say.
  std::optional<Wide> evaluate(mlir::Value value, Input input);

private:
  llvm::DenseMap<mlir::Value, Wide> known;
};

/// Whether each element of the results is computed from one element of each operand: then elements are
/// compared one by one, none of them hides behind one that is larger.
bool isElementByElement(llvm::ArrayRef<mlir::Operation *> operators);

} // namespace tokamak::rules
