//===- SumError.h - how far a long sum may be off ------------------------------------------------------===//
// Adding up n terms rounds n partial sums, and by half a unit of them all a sum may be off (PartialSums.h).
// Where they are not known: those of terms of one sign and one size are half of the whole on average, which
// makes n/2 times half a unit of the sum. Terms of either sign round to either side then, and errors grow
// with the root of n: what any tolerance allows for.
#pragma once
#include "ir/Tensor.h"
#include "mlir/IR/Operation.h"
#include <vector>

namespace tokamak::driver {

/// For each element of the result of an operator that adds up, the most that adding up may be off by. Of
/// convolutions and windows, the partial sums are not known: 0 unless terms are mostly (three quarters of
/// their magnitude) of one sign. Empty for other operators, and for types whose sums are exact. Row-major
/// order.
std::vector<double> sumError(mlir::Operation *op, llvm::ArrayRef<Tensor> operands, const Tensor &result);

} // namespace tokamak::driver
