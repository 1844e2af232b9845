//===- Verify.h - a compiled model against the evaluator ---------------------------------------===//
// The model is compiled as for a run, with the same groups, kernels and layouts, and run once. After each
// kernel the host program calls back, and the evaluator computes that kernel's operators on the very values
// that the kernel has read: what differs there is the kernel's own fault, and no more values are held than
// one kernel has. The outputs are compared with the evaluator's for the graph as it was imported, before any
// rewrite.
#pragma once
#include "driver/Pipeline.h"
#include "driver/VerifyTolerance.h"
#include "runtime/Abi.h"
#include <optional>
#include <string>

namespace tokamak::driver {

struct VerifyOptions {
  /// In place of the defaults, for kernels and outputs alike.
  std::optional<double> relative, absolute;
  int threads = 0;     ///< of the run; 0: one a core
  bool kernels = true; ///< false: outputs only
  /// Before the evaluator computes a kernel, and before it computes the imported graph (0 of 0).
  std::function<void(size_t kernel, size_t kernels)> onProgress;
};

struct VerifiedKernel {
  codegen::ProgramStep step;
  std::string onnx; ///< "node 'NAME' (OpType)" of its first operator
  int64_t runs = 0; ///< 0: in a branch that was not taken; several: in a loop
  Deviation deviation;
};
struct VerifiedOutput {
  std::string name;
  Deviation deviation;
};

struct Verification {
  std::vector<VerifiedKernel> kernels; ///< in the order of execution
  std::vector<VerifiedOutput> outputs;
  int64_t applications = 0; ///< rewrites and merges that the passes made
  double evaluatorSeconds = 0;
  bool isSame() const;
  /// What is wrong first, in one line; empty where nothing is.
  std::string firstFault() const;
};

/// The inputs of a verification, in the order of the unbound inputs of the model.
using InputTensors = std::vector<std::pair<std::string, Tensor>>;

/// Compares again and again, under other options: the evaluator computes the imported graph only once.
class Verifier {
public:
  /// `model` must live as long.
  Verifier(const import::Model &model, CompileOptions options, InputTensors inputs, VerifyOptions verify);
  ~Verifier();

  llvm::Expected<Verification> run() { return run(options.fuel, verify.kernels); }
  /// With so many rewrites and merges at most.
  llvm::Expected<Verification> run(int64_t fuel, bool kernels);
  /// "PASS at NODE (TYPE)" of the last application of the last run; empty where there was none, or the passes
  /// failed.
  const std::string &lastApplied() const { return last; }
  /// How many the last run has applied; nothing where the passes failed.
  std::optional<int64_t> applications() const { return applied; }

private:
  llvm::Expected<llvm::ArrayRef<Tensor>> reference(mlir::ModuleOp imported);
  std::optional<Tensor> movedOutput(mlir::ModuleOp imported, size_t output, int round);
  llvm::ArrayRef<Latitude> outputLatitudes(mlir::ModuleOp partitioned);
  Tolerance toleranceOf(DataType type, bool isOutput) const;
  std::vector<Tensor> inputTensors() const;

  const import::Model &model;
  CompileOptions options;
  InputTensors inputs;
  VerifyOptions verify;
  TkPool *pool;
  std::optional<llvm::SmallVector<Tensor>> expected;
  std::vector<std::optional<llvm::SmallVector<Tensor>>> movedOutputs; ///< of moved inputs, once needed
  std::vector<Latitude> latitudes;                                    ///< of outputs, once needed
  std::optional<int64_t> latitudesOf; ///< the applications of the graph that they are of
  double evaluatorSeconds = 0;        ///< for `expected`
  std::string last;
  std::optional<int64_t> applied;
};

} // namespace tokamak::driver
