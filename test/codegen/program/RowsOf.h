//===- RowsOf.h - what groups of a program would be as row kernels, and their code -------------===//
#pragma once
#include "ProgramHarness.h"
#include "codegen/Program.h"
#include "codegen/kernel/RowEstimate.h"
#include "fusion/KernelDialects.h"
#include "mlir/Parser/Parser.h"

namespace tokamak::test {

/// The estimate of the only group.
inline codegen::RowEstimate rowsOf(const std::string &text, const TargetDescription &target) {
  auto context = makeContext();
  mlir::DialectRegistry registry;
  fusion::registerKernelDialects(registry);
  context->appendDialectRegistry(registry);
  context->loadAllAvailableDialects();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
  codegen::RowEstimate rows;
  module->walk([&](tk::FusionOp group) { rows = codegen::estimateRows(group, target); });
  return rows;
}

/// The code of a program whose groups are given, after `stage` (CodegenOptions::emit).
inline std::string codeOf(const std::string &text, const TargetDescription &target, const char *stage) {
  auto context = makeContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
  std::string code;
  llvm::cantFail(codegen::compileProgram(*module, target, {.emit = stage, .emitted = &code}));
  return code;
}
inline std::string assemblyOf(const std::string &text, const TargetDescription &target) {
  return codeOf(text, target, "asm");
}

} // namespace tokamak::test
