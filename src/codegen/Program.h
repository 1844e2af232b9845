//===- Program.h - a partitioned module as machine code -------------------------------------===//
#pragma once
#include "analysis/TargetDescription.h"
#include "codegen/Layout.h"
#include "ir/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace tokamak::codegen {

struct ProgramValue {
  std::string name; ///< the ONNX value name
  DataType type;
  std::vector<int64_t> shape;
};

/// One kernel call or library call of the program, for reports: bytes and flops are those of one run.
struct ProgramStep {
  std::string kernel;             ///< symbol; equal groups share one
  std::string kind;               ///< "convolution", "matmul", "reduction", "pointwise", "library", ...
  std::vector<std::string> nodes; ///< ONNX node names
};

/// What the program shows after one of its steps, where CodegenOptions::observed.
struct ObservedStep {
  size_t step = 0;                       ///< in CompiledProgram::steps
  mlir::Operation *op = nullptr;         ///< in the module that was compiled
  llvm::SmallVector<mlir::Value> values; ///< operands that are not constants, then results
  llvm::SmallVector<Layout> layouts;     ///< of `values`
};
/// The function that an observed program calls as `observeSymbol` after each step, with the address of
/// `observerSymbol`, the index in CompiledProgram::observed and the addresses of the values.
using ObserveFn = void (*)(void *observer, int64_t observed, const void *const *values);
inline constexpr const char *observeSymbol = "tk_observe", *observerSymbol = "tk_observer";

/// What kernels expect of the address of CompiledProgram::weights.
inline constexpr llvm::Align weightAlignment = llvm::Align::Constant<64>();

/// Machine code and what it needs to run. Position independent; `TkProgramFn` of runtime/Abi.h is `entry`.
/// The objects refer to each other, to the runtime library (tk_parallel_*, tk_lib_*) and to libm, to
/// nothing else.
struct CompiledProgram {
  std::vector<std::string> objects; ///< relocatable ELF objects, to be linked together
  std::string entry;                ///< symbol of the TkProgramFn
  std::string weights;              ///< packed constants, see weightAlignment
  size_t arenaBytes = 0, scratchBytes = 0;
  std::vector<ProgramValue> inputs, outputs;
  std::vector<ProgramStep> steps;
  /// Where a run may go wrong, as "node 'NAME' (OPERATOR)": a code that the program returns counts them
  /// from 1.
  std::vector<std::string> faultPlaces;
  std::vector<ObservedStep> observed; ///< empty unless asked for
  size_t kernelCount = 0;             ///< kernel and library calls of the schedule (= steps.size())
};

struct CodegenOptions {
  std::string entry = "tk_program_run";
  /// Where not empty, the textual form of one stage replaces nothing but is stored here: "kernels", "llvm" or
  /// "asm".
  std::string emit;
  std::string *emitted = nullptr;
  /// The host program calls `observeSymbol` after each step; kernels, layouts and places stay as they are.
  bool observed = false;
};

/// `module`: one func.func @main whose body holds tk.fusion groups, constants, views (reshape), library
/// operators and control flow, as the partitioners leave it. Convolutions that do not go by minimal filtering
/// as their inputs lie lose the attribute `winograd`.
llvm::Expected<CompiledProgram> compileProgram(mlir::ModuleOp module, const TargetDescription &target,
                                               const CodegenOptions &options = {});

} // namespace tokamak::codegen
