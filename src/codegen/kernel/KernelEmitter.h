//===- KernelEmitter.h - one group becomes one kernel ---------------------------------------------===//
#pragma once
#include "analysis/TargetDescription.h"
#include "codegen/Layout.h"
#include "ir/Tk.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <string>
#include <vector>

namespace tokamak::codegen {

/// How a group's operands and results lie in memory, and which operands are constants (they can be packed).
struct KernelSignature {
  std::vector<Layout> inputs, outputs;
  std::vector<bool> constantInput;
};

/// What the host program must know to call a kernel. Its buffers: operands, `constants`, results, then, where
/// it reports any, an i32 that becomes 1 where an index is out of range.
struct EmittedKernel {
  std::string symbol;
  std::string kind; ///< "convolution", "matmul", "rows" or "pointwise"
  int64_t tasks = 0;
  int64_t scratchBytes = 0;
  bool parallel = false;       ///< enough work for waking other threads
  bool reportsIndices = false; ///< it has the i32
  /// Operators of the group that set it, by their place in a walk through it.
  std::vector<size_t> reporting;
  std::vector<Tensor> constants;
  /// For each operand: how its constant value is rearranged (empty: as it is).
  std::vector<std::function<Tensor(const Tensor &)>> packing;
};

/// Emits `group` as function `symbol` (type TkKernelFn) into `module`.
llvm::Expected<EmittedKernel> emitKernel(tk::FusionOp group, const KernelSignature &signature,
                                         const TargetDescription &target, mlir::ModuleOp module,
                                         const std::string &symbol);

} // namespace tokamak::codegen
