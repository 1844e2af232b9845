//===- ExpensiveTest.cpp - the trait IsExpensive against what is emitted -------------------------===//
// Forgetting the trait in an operator's entry costs speed and says nothing; here the instructions of its
// element expression say it.
#include "codegen/expression/ElementBuilder.h"
#include "codegen/expression/Register.h"
#include "codegen/kernel/ScratchFunction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "gtest/gtest.h"

namespace {

using namespace mlir;
using namespace tokamak;

/// Instructions that take several times what an addition takes.
bool isSlow(Operation *op) {
  if (isa<math::AbsFOp, math::AbsIOp, math::FloorOp, math::CeilOp, math::RoundEvenOp, math::FmaOp,
          math::CopySignOp>(op))
    return false;
  return isa<math::MathDialect>(op->getDialect()) ||
         isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(
             op);
}

/// Whether the element expression of `op` holds such an instruction.
bool emitsSlow(Operation *op) {
  codegen::ScratchFunction scratch(op->getContext(), op->getLoc());
  codegen::IndexSpace space;
  codegen::ElementBuilder e(scratch.builder, op->getLoc(), space, 1);
  for (Value operand : op->getOperands())
    e.bindBuffer(operand, {e.indexConstant(0), *fromMlir(tk::tensorType(operand).getElementType()), {4}});
  e.element(op->getResult(0), {codegen::Index(0)});
  bool found = false;
  scratch.module->walk([&](Operation *emitted) { found |= isSlow(emitted); });
  return found;
}

TEST(Expensive, TheTraitIsWhereSlowInstructionsAre) {
  DialectRegistry registry;
  registry.insert<tk::TkDialect, arith::ArithDialect, LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect,
                  vector::VectorDialect>();
  codegen::registerExpressionModels(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  ScopedDiagnosticHandler silence(&context, [](Diagnostic &) { return success(); });

  int64_t tried = 0;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    const bool isUnary = name.hasTrait<OpTrait::OneOperand>();
    if (!name.hasTrait<tk::HasElementwiseKind>() ||
        !(isUnary || name.hasTrait<OpTrait::NOperands<2>::Impl>()))
      continue;
    bool slow = false, built = false;
    for (Type element : {Type(Float32Type::get(&context)), Type(IntegerType::get(&context, 32)),
                         Type(IntegerType::get(&context, 1))}) {
      OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
      OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
      SmallVector<Type> types(isUnary ? 1 : 2, RankedTensorType::get({4}, element)), results;
      auto values = builder.create<UnrealizedConversionCastOp>(module->getLoc(), types, ValueRange());
      if (failed(name.getInterface<InferTypeOpInterface>()->inferReturnTypes(
              &context, module->getLoc(), values.getResults(), DictionaryAttr::get(&context),
              OpaqueProperties(nullptr), {}, results)))
        continue; // no operator on this type, or one that needs attributes
      OperationState state(module->getLoc(), name, values.getResults(), results);
      Operation *op = builder.create(state);
      built = true;
      slow |= emitsSlow(op);
    }
    if (!built)
      continue;
    ++tried;
    EXPECT_EQ(slow, name.hasTrait<tk::IsExpensive>()) << name.getStringRef().str();
  }
  EXPECT_GE(tried, 40);
}

} // namespace
