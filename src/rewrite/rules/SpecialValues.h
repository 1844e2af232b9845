//===- SpecialValues.h - inputs on which wrong rules differ -------------------------------------===//
#pragma once
#include "ir/Tensor.h"

namespace tokamak::rules {

enum class SpecialValues {
  Small,  ///< both zeros and numbers near them, integers too; exact in every type that has them
  Limits, ///< infinities, NaN, both zeros, the ends of the range; integers close to overflow
};

/// Floats or integers. `input` counts the tensors of one filling, `filling` the fillings: what two inputs
/// hold at one index runs through all pairs of values, over 169 fillings where they have one element, over
/// the elements of one filling where they have 2197.
Tensor specialTensor(SpecialValues values, DataType type, llvm::ArrayRef<int64_t> shape, unsigned input,
                     uint64_t filling);

} // namespace tokamak::rules
