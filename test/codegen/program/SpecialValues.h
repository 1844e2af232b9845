//===- SpecialValues.h - the numbers at which operators go wrong
//------------------------------------------===//
#pragma once
#include "ir/Tensor.h"

namespace tokamak::test {

/// Zeros, infinities, NaN, the smallest and largest numbers, ties of narrower types, limits of integers, then
/// random bit patterns up to `count` elements. Of integer types: limits, small numbers, random ones.
Tensor specialValues(DataType type, int64_t count);
/// Every pair of the first `count` special values, as two tensors of count * count.
std::pair<Tensor, Tensor> specialPairs(DataType type, int64_t count);

} // namespace tokamak::test
