//===- KernelHarness.h - compiles one anchor kernel with a plain epilogue and runs it -------===//
#pragma once
#include "analysis/TargetDescription.h"
#include "codegen/anchors/Anchor.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <memory>
#include <string>
#include <vector>

namespace tokamak::test {

/// Shape and layout of the result that the epilogue stores: axes before the vector axis, the vector axis,
/// axes behind.
struct ResultShape {
  std::vector<int64_t> before;
  int64_t vectorExtent = 1;
  std::vector<int64_t> after;
  bool isBlocked = false; ///< [before, blocks, after, lanes], whole vectors; else row-major
  /// max(x, 0) before the store, for figures that include an epilogue.
  bool hasRelu = false;

  int64_t blocks(int64_t lanes) const { return (vectorExtent + lanes - 1) / lanes; }
  int64_t bufferSize(int64_t lanes) const;
  /// Where the element lies; `before` and `after` are flattened indices.
  int64_t offset(int64_t before, int64_t vector, int64_t after, int64_t lanes) const;
};

class CompiledKernel {
public:
  using Function = void (*)(const float *lhs, const float *rhs, void *scratch, float *result, int64_t begin,
                            int64_t end);
  CompiledKernel();
  CompiledKernel(CompiledKernel &&) noexcept;
  ~CompiledKernel();

  /// Tasks [begin, end).
  void run(const float *lhs, const float *rhs, void *scratch, float *result, int64_t begin,
           int64_t end) const;

  std::string assembly;

private:
  friend struct KernelCompiler;
  struct Engine;
  std::unique_ptr<Engine> engine;
  Function function = nullptr;
};

/// Emits the body of a kernel; the values are those of CompiledKernel::Function.
using EmitFn = llvm::function_ref<void(mlir::OpBuilder &, mlir::Location, mlir::Value lhs, mlir::Value rhs,
                                       mlir::Value scratch, mlir::Value begin, mlir::Value end,
                                       const codegen::EpilogueFn &)>;
/// Aborts with the diagnostics where the kernel does not compile.
CompiledKernel compileKernel(EmitFn emit, const ResultShape &result, const TargetDescription &target,
                             bool wantAssembly = false);

/// How many vector instructions of innermost loops with multiply-adds have an operand on the stack: spilled
/// accumulators. `storesOnly`: not constants that a loop reads from there again and again.
int64_t countInnerLoopSpills(llvm::StringRef assembly, bool storesOnly = false);

/// Whether this machine runs code for the target.
bool canRun(const TargetDescription &target);

/// Floats with an inaccessible page on either side; `atEnd` says which one they touch.
class GuardedBuffer {
public:
  GuardedBuffer(int64_t count, bool atEnd);
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer &) = delete;
  GuardedBuffer &operator=(const GuardedBuffer &) = delete;
  float *data() const { return floats; }
  int64_t size() const { return count; }

private:
  char *mapping;
  size_t mappedBytes;
  float *floats;
  int64_t count;
};

} // namespace tokamak::test
