//===- RandomTensor.h - deterministic values for inputs that nobody gave ----------------------===//
#pragma once
#include "ir/Tensor.h"

namespace tokamak::reference {

enum class RandomValues {
  /// Floats from N(0, 1).
  Normal,
  /// Floats hold small integers (-4 to 4), so that sums and products of moderate length are exact in any
  /// order.
  SmallIntegers,
};

/// A tensor whose elements depend on `seed`, their position and nothing else. Integers lie in -4..4
/// (unsigned: 0..8), or in [low, high] by the second form; bools are 0 or 1.
Tensor randomTensor(DataType type, llvm::ArrayRef<int64_t> shape, uint64_t seed,
                    RandomValues values = RandomValues::Normal);
/// Integers of [low, high], both included, in any element type (for indices, token numbers, ...).
Tensor randomIntegers(DataType type, llvm::ArrayRef<int64_t> shape, uint64_t seed, int64_t low, int64_t high);

} // namespace tokamak::reference
