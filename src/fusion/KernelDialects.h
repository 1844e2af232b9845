//===- KernelDialects.h - what trial emission needs --------------------------------------------------===//
#pragma once
#include "mlir/IR/DialectRegistry.h"

namespace tokamak::fusion {

/// Dialects and element expressions of passes that emit candidates on trial.
void registerKernelDialects(mlir::DialectRegistry &registry);

} // namespace tokamak::fusion
