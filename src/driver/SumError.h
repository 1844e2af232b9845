//===- SumError.h - how far a long sum may be off ------------------------------------------------------===//
// Adding up n terms rounds n partial sums. Terms of either sign round to either side, and errors grow with
// the root of n: what any tolerance allows for. Terms of one sign and one size can round to the same side
// every time, by half a unit of partial sums that are half of the whole on average: n/2 times half a unit of
// the sum (N. Higham, Accuracy and Stability of Numerical Algorithms, 4.2), whoever adds them up one by one.
#pragma once
#include "ir/Tensor.h"
#include "mlir/IR/Operation.h"
#include <vector>

namespace tokamak::driver {

/// For each element of the result of a sum, a mean, a convolution or a product: the most that adding up may
/// be off by, if the terms are mostly (three quarters of their magnitude) of one sign, otherwise 0. For a
/// scatter that adds, what its own partial sums may (PartialSums.h). Empty for other operators, and for types
/// whose sums are exact. Row-major order.
std::vector<double> sumError(mlir::Operation *op, llvm::ArrayRef<Tensor> operands, const Tensor &result);

} // namespace tokamak::driver
