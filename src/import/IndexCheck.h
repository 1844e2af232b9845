//===- IndexCheck.h - which indices gathers and scatters accept --------------------------===//
#pragma once
#include "mlir/IR/Operation.h"
#include <optional>
#include <string>
#include <utility>

namespace tokamak::import {

/// Why the constant indices of `op`, a gather or scatter of any kind, do not fit its input; "" where they do
/// or are not constant. Code trusts constant indices: nothing looks at them again. Therefore a branch that
/// might never run is refused with them, too.
std::string indexFault(mlir::Operation *op);

/// The least and the largest index that all gathers and scatters accept which read their indices from
/// `value`: itself, or reshaped, cast, or as the operand of a composite. Nothing where none does, or nothing
/// is accepted.
std::optional<std::pair<int64_t, int64_t>> acceptedIndices(mlir::Value value);

} // namespace tokamak::import
