//===- IndexCheck.h - constant indices that are out of range -----------------------------===//
#pragma once
#include "mlir/IR/Operation.h"
#include <string>

namespace tokamak::import {

/// Why the constant indices of `op`, a gather or scatter of any kind, do not fit its input; "" where they do
/// or are not constant. Code trusts constant indices: nothing looks at them again. Therefore a branch that
/// might never run is refused with them, too.
std::string indexFault(mlir::Operation *op);

} // namespace tokamak::import
