//===- tokamak-opt.cpp - the developer's tool: passes on textual tk -----------------------===//
// As mlir-opt: reads IR, runs --pass-pipeline, prints IR.
#include "ir/Tk.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "reference/Evaluate.h"
#include "rewrite/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<tokamak::tk::TkDialect, mlir::func::FuncDialect>();
  tokamak::reference::registerReferenceModels(registry); // fold-constants evaluates
  tokamak::registerAllPasses();
  // The folders declared in TkOps.td are tried out with these two.
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Tokamak passes on the tk dialect\n", registry));
}
