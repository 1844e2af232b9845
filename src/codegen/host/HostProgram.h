//===- HostProgram.h - the schedule as code
//-------------------------------------------------------------------===//
#pragma once
#include "codegen/Program.h"
#include "codegen/host/MemoryPlan.h"
#include "codegen/host/WeightStore.h"
#include "codegen/kernel/KernelEmitter.h"
#include "mlir/IR/BuiltinOps.h"

namespace tokamak::codegen {

/// Emits the TkProgramFn of a partitioned function: each group is a kernel call, each library operator a call
/// of the runtime, control flow is control flow, reshapes are views.
class HostProgram {
public:
  /// `kernels` has the kernel of every group.
  HostProgram(mlir::func::FuncOp program, const MemoryPlan &plan, const ViewAssignment &views,
              const llvm::DenseMap<mlir::Operation *, const EmittedKernel *> &kernels, WeightStore &weights)
      : program(program), plan(plan), views(views), kernels(kernels), weights(weights),
        b(program.getContext()) {}

  /// Into `module`, as an external function `symbol`. `faultPlaces` gets what the codes that it returns refer
  /// to; `observed`, if not null, the steps that the program shows, without layouts and numbers.
  void emit(mlir::ModuleOp module, const std::string &symbol, std::vector<std::string> &faultPlaces,
            std::vector<ObservedStep> *observed = nullptr);

private:
  void emitBlock(mlir::Block &block);
  void emitGroup(tk::FusionOp group);
  /// Kernels that run at the same time, in one dispatch.
  void emitWave(mlir::ArrayRef<mlir::Operation *> groups);
  /// The addresses of the group's buffers, as its kernel takes them.
  mlir::Value buffersOf(tk::FusionOp group);
  void declareKernel(const EmittedKernel &kernel);
  void emitLibraryCall(mlir::Operation *op);
  /// The run's status becomes `code`, of one of `nodes`, where it is not 0. The first fault is the one
  /// reported.
  void collectFault(mlir::Value code, mlir::ArrayRef<tk::OnnxNode> nodes);
  /// The i32 that the group's kernel sets, on the stack.
  mlir::Value faultOf(tk::FusionOp group);
  /// collectFault for each group whose kernel was called since the last time.
  void collectKernelFaults();
  /// Shows the values of the step `op`, which has just run, to the observer.
  void observe(mlir::Operation *op);
  void emitIf(tk::IfOp op);
  void emitLoop(tk::LoopOp op);

  mlir::Value addressOf(mlir::Value tensor);
  mlir::Value addressIn(const Place &place, int64_t extra = 0);
  void copy(mlir::Value to, mlir::Value from, mlir::Value tensor);
  mlir::Value offset(mlir::Value base, int64_t bytes);
  mlir::Value constant(int64_t value, unsigned bits = 64);
  mlir::Value wordTable(llvm::ArrayRef<mlir::Value> words); ///< pointers and i64, on the stack
  mlir::Value slots(int64_t count, int64_t bytes);          ///< stack memory, allocated once at entry
  void declare(llvm::StringRef name, mlir::Type result, mlir::ArrayRef<mlir::Type> arguments);
  mlir::Value globalInts(llvm::ArrayRef<int64_t> values);
  mlir::Value globalDoubles(llvm::ArrayRef<double> values);
  mlir::Value globalAddress(mlir::ElementsAttr values, mlir::Type elementType, int64_t count);
  mlir::Value descriptors(mlir::ValueRange tensors);
  mlir::Type pointer();

  mlir::func::FuncOp program;
  const MemoryPlan &plan;
  const ViewAssignment &views;
  const llvm::DenseMap<mlir::Operation *, const EmittedKernel *> &kernels;
  WeightStore &weights;
  std::vector<std::string> *faultPlaces = nullptr;
  std::vector<ObservedStep> *observed = nullptr;
  /// Groups whose kernels report indices, with the i32 that they set; not yet looked at.
  mlir::SmallVector<std::pair<tk::FusionOp, mlir::Value>> kernelFaults;
  mlir::OpBuilder b;
  mlir::ModuleOp target;
  mlir::Block *entry = nullptr;
  mlir::Location loc = mlir::UnknownLoc::get(program.getContext());
  mlir::Value context, arena, weightBase, inputs, outputs, scratch, status;
  int64_t globals = 0;
};

} // namespace tokamak::codegen
