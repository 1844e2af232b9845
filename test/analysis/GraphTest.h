//===- GraphTest.h - a function parsed from text ---------------------------------------------------===//
#pragma once
#include "ir/Tk.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace tokamak {

class GraphTest : public testing::Test {
protected:
  GraphTest() { context.loadDialect<tk::TkDialect, mlir::func::FuncDialect>(); }

  /// The body of the only function of `text`.
  mlir::Block &parse(const std::string &text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module)
      throw std::runtime_error("does not parse");
    return (*module->getOps<mlir::func::FuncOp>().begin()).getBody().front();
  }
  /// Operation number `i` of the block.
  static mlir::Operation *at(mlir::Block &block, size_t i) { return &*std::next(block.begin(), i); }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace tokamak
