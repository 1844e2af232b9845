//===- RowEstimate.cpp - what a group would be as a row kernel -----------------------------------===//
#include "codegen/kernel/RowEstimate.h"
#include "codegen/kernel/KernelContext.h"

namespace tokamak::codegen {

RowEstimate estimateRows(tk::FusionOp group, const TargetDescription &target) {
  KernelBody body(group);
  KernelMemory memory;
  auto add = [](std::vector<Buffer> &to, mlir::Value tensor) {
    auto type = tk::tensorType(tensor);
    to.push_back(Buffer{{}, *fromMlir(type.getElementType()), llvm::SmallVector<int64_t>(type.getShape())});
  };
  for (mlir::Value argument : body.arguments())
    add(memory.arguments, argument);
  for (mlir::Value result : body.results())
    add(memory.outputs, result);
  memory.constantArgument.resize(memory.arguments.size());
  KernelStrategy strategy = planRowKernel(body, memory, target);
  return {strategy.tasks, strategy.scratchBytes};
}

} // namespace tokamak::codegen
