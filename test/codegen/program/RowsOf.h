//===- RowsOf.h - what the only group of a program would be as a row kernel -----------------------===//
#pragma once
#include "ProgramHarness.h"
#include "codegen/kernel/RowEstimate.h"
#include "fusion/KernelDialects.h"
#include "mlir/Parser/Parser.h"

namespace tokamak::test {

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

} // namespace tokamak::test
