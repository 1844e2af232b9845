//===- ScratchFunction.h - a place to emit code that is thrown away ------------------------------===//
#pragma once
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tokamak::codegen {

/// Holds speculative code: what an access looks like, or what a loop order would cost, is read off the code
/// itself.
struct ScratchFunction {
  ScratchFunction(mlir::MLIRContext *context, mlir::Location loc)
      : module(mlir::ModuleOp::create(loc)), builder(context) {
    builder.setInsertionPointToStart(module->getBody());
  }
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::OpBuilder builder;
};

} // namespace tokamak::codegen
