//===- Pipeline.h - from an ONNX model to machine code ------------------------------------===//
#pragma once
#include "analysis/Traffic.h"
#include "codegen/Program.h"
#include "driver/Prediction.h"
#include "fusion/Decision.h"
#include "import/Import.h"
#include "rewrite/PassRunner.h"
#include "tokamak/Session.h"
#include "llvm/Support/MemoryBuffer.h"
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tokamak::driver {

struct CompileOptions {
  import::ImportOptions import;
  Fusion fusion = Fusion::Full;
  std::string targetCpu = "native";
  std::string targetDescription; ///< see SessionOptions
  std::vector<std::string> disabledPasses;
  std::vector<std::string> rules; ///< see SessionOptions
  bool trustRules = false;
  bool exact = false;                      ///< see SessionOptions
  std::vector<std::string> forcedRewrites; ///< see SessionOptions
  int64_t fuel = -1;                       ///< rewrites and fusions applied at most; -1: all
  bool printAfterChange = false;
  bool timing = false;
  std::string reproducerDirectory; ///< a fault of ours leaves tokamak-crash-*.mlir there; empty: nowhere
  std::function<void(const char *stage)> onStage;
  bool observed = false; ///< see codegen::CodegenOptions
  int threads = 0;       ///< that waves and predictions are for; 0: one a core
  bool predict = false;  ///< fill in `CompiledModel::predictions`
  std::string emit;      ///< "kernels", "llvm" or "asm": what `CompiledModel::emitted` shall hold
};

/// A model as fusion groups, before any code. The module lives in the context.
struct PartitionedModel {
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> imported; ///< as it was before the passes
  mlir::OwningOpRef<mlir::ModuleOp> module;   ///< partitioned
  TargetDescription target;                   ///< what the groups were formed for
  std::vector<std::string> specialized;       ///< see import::ImportedModel
  int64_t onnxNodes = 0;
  DecisionLog decisions;
  int64_t applications = 0;                                 ///< rewrites and merges applied, in units of fuel
  std::string lastApplied;                                  ///< see PipelineOptions
  std::vector<SearchReport> searches;                       ///< where rewrite-search changed the graph
  std::vector<std::pair<std::string, std::string>> removed; ///< ONNX node, why it is not in any group
};

struct CompiledModel {
  codegen::CompiledProgram program;
  std::vector<std::string> specialized;
  int64_t onnxNodes = 0;
  std::map<std::string, std::pair<int64_t, int64_t>> indexInputs; ///< see `indexInputs`
  analysis::Traffic traffic;                                      ///< of one run
  std::vector<Prediction> predictions; ///< where asked for: one a step of the program
  /// Stands for `program.weights` where the program comes out of a file (cache/ProgramEntry.h).
  std::unique_ptr<llvm::MemoryBuffer> storedWeights;
  std::string emitted; ///< see CompileOptions::emit
};

/// A context in which tk modules can be read, evaluated and compiled. One thread at a time.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// What gathers and scatters accept of the inputs of an imported graph that are their indices, by name.
std::map<std::string, std::pair<int64_t, int64_t>> indexInputs(mlir::ModuleOp imported);

/// Import only: the graph as tk operators.
llvm::Expected<PartitionedModel> importModel(const import::Model &model, const CompileOptions &options);
/// Import, rewrites, partition.
llvm::Expected<PartitionedModel> partitionModel(const import::Model &model, const CompileOptions &options);
/// Machine code for it. Observed steps refer to `model.module`.
llvm::Expected<CompiledModel> generateModel(PartitionedModel &model, const CompileOptions &options);
/// The whole way to machine code.
llvm::Expected<CompiledModel> compileModel(const import::Model &model, const CompileOptions &options);

} // namespace tokamak::driver
