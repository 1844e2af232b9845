//===- ValueFacts.h - what is known of values whatever the inputs are --------------------------===//
// Of values of floats; a few operators are looked through. NaN is always possible.
#pragma once
#include "mlir/IR/Value.h"

namespace tokamak::rewrite {

/// Whether every element of `value` is NaN, +0 or greater: never -0.
bool isNeverNegative(mlir::Value value);

/// Whether no element of `value` is an infinity.
bool isNeverInfinite(mlir::Value value);

} // namespace tokamak::rewrite
