//===- Lowering.h - kernels in scf, vector and arith to machine code
//-------------------------------------===//
#pragma once
#include "analysis/TargetDescription.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace tokamak::codegen {

/// Lowers the functions of each module nested in `modules` to the llvm dialect, in place. No LLVM
/// optimisation pipeline runs later: common subexpressions and loop-invariant code are removed here.
llvm::Error lowerToLLVMDialect(mlir::ModuleOp modules, const TargetDescription &target);

enum class ObjectForm { Object, Assembly, LLVMIR };

/// One relocatable, position-independent object (or its text) for each module nested in `modules`, on all
/// cores.
llvm::Expected<std::vector<std::string>> emitObjects(mlir::ModuleOp modules, const TargetDescription &target,
                                                     ObjectForm form = ObjectForm::Object);

} // namespace tokamak::codegen
