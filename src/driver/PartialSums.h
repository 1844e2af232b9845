//===- PartialSums.h - what is rounded while terms are added up ----------------------------------------===//
// Each addition rounds by up to half a unit of the sum so far, so a running sum is off by at most half a unit
// of the sum of the magnitudes of its partial sums (N. Higham, Accuracy and Stability of Numerical
// Algorithms, 4.2). Terms that are alike come near to that; terms at random stay below it by about the root
// of their number.
//
// Partial sums depend on the order. Kernels are assumed to add up in the order of the elements, all in one
// sum or every 16th in one of 16 sums (the lanes of a vector, or sets of accumulators) that are added up at
// the end; what is larger counts. Of terms that any other grouping of the kind parts (fewer lanes, blocks of
// neighbours), partial sums are as large at most unless signs alternate with just that period.
#pragma once
#include "ir/Tensor.h"
#include "mlir/IR/Operation.h"
#include <vector>

namespace tokamak::driver {

/// For each element of the result of a sum over axes, a matrix product, a running sum or a scatter that adds
/// updates, the sum of the magnitudes of its partial sums, in row-major order. Empty for other operators.
std::vector<double> partialSums(mlir::Operation *op, llvm::ArrayRef<Tensor> operands);

} // namespace tokamak::driver
