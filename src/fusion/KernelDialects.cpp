//===- KernelDialects.cpp - what trial emission needs ------------------------------------------------===//
#include "fusion/KernelDialects.h"
#include "codegen/expression/Register.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

void tokamak::fusion::registerKernelDialects(DialectRegistry &registry) {
  codegen::registerExpressionModels(registry);
  registry.insert<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                  scf::SCFDialect, vector::VectorDialect>();
}
