//===- Register.h - attaches the element expressions ---------------------------------------===//
#pragma once
#include "mlir/IR/DialectRegistry.h"

namespace tokamak::codegen {

/// Attaches a TensorExpressionInterface model to every tk operator that has one (all but library calls and
/// control flow).
void registerExpressionModels(mlir::DialectRegistry &registry);

// One function a file of this folder.
void attachElementwise(mlir::MLIRContext *context);
void attachMovement(mlir::MLIRContext *context);
void attachReduction(mlir::MLIRContext *context);
void attachLinear(mlir::MLIRContext *context);

} // namespace tokamak::codegen
