//===- ProgramHarness.h - compiled programs against the evaluator ----------------------------------===//
#pragma once
#include "GuardedMemory.h"
#include "codegen/Program.h"
#include "rewrite/PassRunner.h"
#include "runtime/ThreadPool.h"
#include <memory>
#include <optional>
#include <string>

namespace tokamak::driver {
class Jit;
}

namespace tokamak::test {

/// A context that knows tk, func, and the reference definitions.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// The instructions of `cpu`, "native" among them, in a machine of default caches and speeds: what is fused
/// must not depend on the machine that runs the tests.
llvm::Expected<TargetDescription> machineOf(llvm::StringRef cpu);

/// A module (one func.func @main of tk operators, before partitioning) as code in memory.
class TestProgram {
public:
  /// Partitions and compiles a copy of `module`; compiles it as it is where it holds groups already. `exact`:
  /// see PipelineOptions.
  static llvm::Expected<std::unique_ptr<TestProgram>> compile(mlir::ModuleOp module, FusionMode fusion,
                                                              llvm::StringRef cpu);
  static llvm::Expected<std::unique_ptr<TestProgram>>
  compile(mlir::ModuleOp module, FusionMode fusion, const TargetDescription &target, bool exact = true);
  ~TestProgram();

  /// One run, on the threads of `pool` (null: the caller's). Every buffer has a guard page on the side
  /// `guard`; inputs and weights cannot be written; arena, scratch and results hold bytes (of NaN, where
  /// floats) that nobody wrote. Several threads may run at once.
  llvm::Expected<std::vector<Tensor>> run(llvm::ArrayRef<Tensor> inputs, TkPool *pool,
                                          GuardedMemory::Guard guard) const;

  const codegen::CompiledProgram &code() const { return program; }

private:
  TestProgram();
  codegen::CompiledProgram program;
  std::unique_ptr<driver::Jit> jit;
};

/// Empty, or the first element that differs by more than `tolerance` (0: that is not equal). Two NaN are
/// equal; what is not finite, and what is no float, has no tolerance.
std::string firstDifference(const Tensor &got, const Tensor &expected, double tolerance);
/// Whether two lists of tensors have the same bytes.
bool haveSameBytes(llvm::ArrayRef<Tensor> a, llvm::ArrayRef<Tensor> b);

/// A call of a kernel then costs so much that whatever saves one pays.
void makeCallsDear(TargetDescription &target);

struct ProgramCase {
  std::string text;        ///< a module with func.func @main of tk operators, before partitioning
  bool exact = false;      ///< small integers as inputs, results compared for equality
  double tolerance = 1e-5; ///< max |a - b| <= tolerance * max(1, max |b|)
  std::string cpu = "native";
  FusionMode fusion = FusionMode::Dominator;
  bool dearCalls = false;             ///< see makeCallsDear
  bool filters = false;               ///< convolutions may go by minimal filtering
  std::optional<size_t> kernels = {}; ///< that the program must have
  uint64_t seed = 1;
  std::vector<Tensor> inputs = {}; ///< empty: random
};

/// Compiles and runs the case, and compares every result with the evaluator's. Empty, or what differs.
std::string differenceFromReference(const ProgramCase &test);

} // namespace tokamak::test
