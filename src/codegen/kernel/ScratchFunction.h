//===- ScratchFunction.h - a place to emit code that is thrown away ------------------------------===//
#pragma once
#include "codegen/expression/ElementBuilder.h"
#include "codegen/expression/ElementType.h"
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

/// `value` lies in row-major memory. `pointer` is one that nobody follows.
inline void bindMemory(ElementBuilder &e, mlir::Value value, mlir::Value pointer) {
  e.bindBuffer(
      value, Buffer{pointer, elementOf(value), llvm::SmallVector<int64_t>(tk::tensorType(value).getShape())});
}

} // namespace tokamak::codegen
