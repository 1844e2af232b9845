//===- KernelBody.h - a group's operators, flattened for emission ----------------------------===//
#pragma once
#include "codegen/Layout.h"
#include "ir/Tk.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tokamak::codegen {

/// A copy of a tk.fusion body in which composites are inlined, large constants are arguments and axes are
/// refined (RefineAxes.h). Arguments: the operands of the group, then the constants; results: what the group
/// yields, in another shape of the same row-major elements where axes are refined or a reshape comes last.
class KernelBody {
public:
  /// `keepsShape` says of which results the last reshape stays: of those whose memory is not row-major.
  explicit KernelBody(tk::FusionOp group, llvm::function_ref<bool(size_t)> keepsShape = nullptr);
  /// The part of `whole` that computes `result` from `start` (or null) and arguments.
  KernelBody(KernelBody &whole, mlir::Value result, mlir::Value start);

  mlir::ValueRange arguments() { return function.getArguments(); }
  mlir::ValueRange results() { return function.getBody().front().getTerminator()->getOperands(); }
  llvm::ArrayRef<Tensor> constants() const { return hoisted; }
  size_t operandCount() const { return groupOperands; }
  /// Of a part: what each argument is in the whole.
  llvm::ArrayRef<mlir::Value> argumentSources() const { return sources; }
  mlir::Block &block() { return function.getBody().front(); }

  /// Operators with loops of their own: reductions and anchors, in order.
  llvm::SmallVector<mlir::Operation *> heavyOperators();
  /// Whether it is so much work that threads share it; else waking one costs more than it brings.
  bool isWorthSharing();

private:
  mlir::Block *makeFunction(mlir::Location loc, mlir::TypeRange arguments);
  void append(mlir::OpBuilder &builder, mlir::Block &source, mlir::IRMapping &mapping);
  mlir::OwningOpRef<mlir::Operation *> module;
  mlir::func::FuncOp function;
  std::vector<Tensor> hoisted;
  size_t groupOperands = 0;
  llvm::SmallVector<mlir::Value> sources;
};

} // namespace tokamak::codegen
