//===- Register.h - attaching the definitions of the operators --------------------------===//
// One function a subject; each attaches a ReferenceInterface model to its operators.
#pragma once
#include "ir/Tk.h"

namespace tokamak::reference {

using Tensors = llvm::SmallVector<Tensor>;
using Result = mlir::FailureOr<Tensors>;
using Operands = llvm::ArrayRef<Tensor>;

/// A definition is a plain function of the operator and its operand values. Operators whose regions use
/// values from outside receive those values after their operands, in the order of
/// `mlir::getUsedValuesDefinedAbove`.
template <typename Op, auto define>
struct Model : tk::ReferenceInterface::ExternalModel<Model<Op, define>, Op> {
  Result evaluate(mlir::Operation *op, Operands operands) const {
    return define(llvm::cast<Op>(op), operands);
  }
};

template <typename Op, auto define>
void attach(mlir::MLIRContext *context) {
  Op::template attachInterface<Model<Op, define>>(*context);
}

void attachUnary(mlir::MLIRContext *context);       // Unary.cpp
void attachElementwise(mlir::MLIRContext *context); // Elementwise.cpp
void attachMovement(mlir::MLIRContext *context);    // Movement.cpp
void attachGather(mlir::MLIRContext *context);      // Gather.cpp
void attachReduction(mlir::MLIRContext *context);   // Reduction.cpp
void attachLinear(mlir::MLIRContext *context);      // Linear.cpp
void attachLibrary(mlir::MLIRContext *context);     // Library.cpp
void attachSampling(mlir::MLIRContext *context);    // Sampling.cpp
void attachRegions(mlir::MLIRContext *context);     // Regions.cpp

} // namespace tokamak::reference
