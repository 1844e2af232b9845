//===- PartialSums.h - what is rounded while terms are added up ----------------------------------------===//
// Each addition rounds by up to half a unit of the sum so far, so a running sum is off by at most half a unit
// of the sum of the magnitudes of its partial sums (N. Higham, Accuracy and Stability of Numerical
// Algorithms, 4.2). Terms that are alike reach that; terms at random stay below it by about the root of their
// number.
#pragma once
#include "ir/Tensor.h"
#include "mlir/IR/Operation.h"
#include <vector>

namespace tokamak::driver {

/// For each element of the result of a scatter that adds updates, the sum of the magnitudes of its partial
/// sums, in row-major order. Empty for other operators.
std::vector<double> partialSums(mlir::Operation *op, llvm::ArrayRef<Tensor> operands);

} // namespace tokamak::driver
