//===- Program.h - a compiled program, loaded and ready to run ----------------------------===//
#pragma once
#include "driver/Jit.h"
#include "driver/Pipeline.h"
#include "driver/RunError.h"
#include "runtime/Model.h"
#include <memory>

namespace tokamak::driver {

/// A program for one set of input shapes: its code, its weights, and the memory of its runs. Several threads
/// may run it at once.
class Program {
public:
  /// Links and loads `model` to run on `pool` (borrowed). `profiled`: runs are measured, see kernelTimes.
  /// `more`: symbols that its code uses besides those of the runtime library.
  static llvm::Expected<std::shared_ptr<Program>>
  load(CompiledModel model, TkPool *pool, bool profiled = false, llvm::ArrayRef<Jit::Symbol> more = {});
  ~Program();
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  /// One pointer an input and output, in the order of info(). Returns a code of the runtime library.
  int run(void *const *inputs, void *const *outputs) { return tk_model_run(model, inputs, outputs); }

  /// What a code of `run` means, in one line: node, operator, reason, what to do.
  std::string error(int code) const { return runError(faultPlaces, code); }

  const ProgramInfo &info() const { return programInfo; }
  ProgramInfo &info() { return programInfo; }

  /// Time in each kernel since the last reset; empty without a profile.
  std::vector<KernelTime> kernelTimes() const;
  void resetKernelTimes();
  std::vector<KernelCall> kernelCalls() const;

private:
  Program() = default;
  std::vector<TkValueInfo> describe(llvm::ArrayRef<ValueInfo> values);

  std::unique_ptr<Profile> profile; ///< null: runs are not measured
  std::vector<codegen::ProgramStep> steps;
  std::vector<std::string> faultPlaces;
  std::vector<Prediction> predictions; ///< one a step, or none at all
  std::unique_ptr<Jit> jit;
  std::unique_ptr<llvm::MemoryBuffer> weights;
  ProgramInfo programInfo;
  std::vector<TkValueInfo> inputs, outputs; ///< point into programInfo
  TkModelInfo modelInfo{};
  TkModel *model = nullptr;
};

} // namespace tokamak::driver
