//===- VerifyKernels.h - each kernel of a running program against the evaluator ----------------===//
#pragma once
#include "driver/Verify.h"
#include "reference/Evaluate.h"

namespace tokamak::driver {

/// Compares the kernels of an observed program while it runs.
class KernelCheck {
public:
  using ToleranceOf = std::function<Tolerance(DataType)>;
  /// `observed` and `steps` as compileProgram returns them; the module that they refer to must live as long.
  KernelCheck(std::vector<codegen::ObservedStep> observed, llvm::ArrayRef<codegen::ProgramStep> steps,
              ToleranceOf toleranceOf, std::function<void(size_t, size_t)> onProgress);

  /// What an observed program must be linked with. The check must live as long as the program runs.
  std::vector<std::pair<std::string, void *>> symbols();

  /// What was found so far.
  const std::vector<VerifiedKernel> &kernels() const { return results; }
  /// Where the evaluator failed: its reason.
  const std::string &failure() const { return fault; }
  double evaluatorSeconds() const { return seconds; }

private:
  static void observe(void *self, int64_t number, const void *const *values);
  void check(size_t number, const void *const *values);
  std::optional<llvm::SmallVector<Tensor>> evaluate(mlir::Operation *op, llvm::ArrayRef<Tensor> operands,
                                                    reference::Revise revise = nullptr);

  std::vector<codegen::ObservedStep> observed;
  ToleranceOf toleranceOf;
  std::function<void(size_t, size_t)> onProgress;
  std::vector<VerifiedKernel> results;
  std::string fault;
  double seconds = 0;
  int64_t movedKernels = 0; ///< for which the evaluator has run on moved inputs
};

} // namespace tokamak::driver
