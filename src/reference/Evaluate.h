//===- Evaluate.h - the reference evaluator --------------------------------------------===//
// The definition of every operator, plain and slow: double precision, integers exactly. Everything else is
// checked against it.
#pragma once
#include "ir/Tk.h"

namespace tokamak::reference {

/// Attaches a ReferenceInterface model to every tk operator.
void registerReferenceModels(mlir::DialectRegistry &registry);

/// Evaluates one operation (any tk operator, with regions or without) on operand values. Region operators
/// read values from outside through `lookup` when not null. Fails with a diagnostic at the operation.
mlir::FailureOr<llvm::SmallVector<Tensor>>
evaluate(mlir::Operation *op, llvm::ArrayRef<Tensor> operands,
         llvm::function_ref<std::optional<Tensor>(mlir::Value)> lookup = nullptr);

/// Sees operations with their operands and results, those in the bodies of groups and composites as well, and
/// may put other tensors in place of the results. Not those in branches and loops.
using Revise = llvm::function_ref<void(mlir::Operation *, llvm::ArrayRef<Tensor> operands,
                                       llvm::MutableArrayRef<Tensor> results)>;

/// As `evaluate`, of an operation that uses nothing from outside.
mlir::FailureOr<llvm::SmallVector<Tensor>> evaluateRevised(mlir::Operation *op,
                                                           llvm::ArrayRef<Tensor> operands, Revise revise);

/// Evaluates a whole function on its arguments. `observe`, if given, sees each operation with its results.
mlir::FailureOr<llvm::SmallVector<Tensor>>
evaluateFunction(mlir::Operation *func, llvm::ArrayRef<Tensor> arguments,
                 llvm::function_ref<void(mlir::Operation *, llvm::ArrayRef<Tensor>)> observe = nullptr,
                 Revise revise = nullptr);

} // namespace tokamak::reference
