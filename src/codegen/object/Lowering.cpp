//===- Lowering.cpp - kernels in scf, vector and arith to the llvm dialect
//---------------------------------===//
#include "codegen/object/Lowering.h"
#include "codegen/object/ApproximateMath.h"
#include "codegen/object/HoistInvariants.h"
#include "codegen/object/MaskRegisters.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace tokamak::codegen {

using namespace mlir;

llvm::Error lowerToLLVMDialect(ModuleOp modules, const TargetDescription &target) {
  MLIRContext *context = modules.getContext();
  context->loadDialect<cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect, scf::SCFDialect,
                       math::MathDialect>();
  PassManager manager(context);
  manager.enableVerifier(false);
  OpPassManager &pm = manager.nest<ModuleOp>();
  // Functions are one operation each so long, which may be shared and moved as a whole.
  pm.addPass(createCSEPass());
  pm.addPass(createHoistInvariantsPass());
  pm.addPass(createApproximateMathPass(target));
  pm.addPass(createHoistInvariantsPass()); // constants
  pm.addPass(createCSEPass());
  pm.addPass(createConvertSCFToCFPass());
  pm.addPass(arith::createArithExpandOpsPass());
  // What has an instruction or an LLVM intrinsic first, then libm; its vectors are taken apart by vector
  // operations.
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  if (!target.hasMaskRegisters)
    pm.addPass(createMaskRegistersPass());
  if (failed(manager.run(modules)))
    return llvm::createStringError("a kernel could not be lowered to LLVM");
  return llvm::Error::success();
}

} // namespace tokamak::codegen
