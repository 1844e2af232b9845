//===- Register.cpp - attaches the element expressions -------------------------------------===//
#include "codegen/expression/Register.h"
#include "ir/Tk.h"

void tokamak::codegen::registerExpressionModels(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](mlir::MLIRContext *context, tk::TkDialect *) {
    attachElementwise(context);
    attachMovement(context);
    attachReduction(context);
    attachLinear(context);
  });
}
