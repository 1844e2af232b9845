//===- Pipeline.cpp - from an ONNX model to machine code ----------------------------------===//
#include "driver/Pipeline.h"
#include "analysis/TargetFile.h"
#include "codegen/expression/Register.h"
#include "codegen/host/Views.h"
#include "driver/Diagnostics.h"
#include "driver/Fault.h"
#include "driver/Reproducer.h"
#include "import/IndexCheck.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "reference/Evaluate.h"
#include "llvm/Support/Format.h"
#include <chrono>

namespace tokamak::driver {

static_assert(static_cast<int>(Fusion::Full) == static_cast<int>(FusionMode::Full) &&
                  static_cast<int>(Fusion::None) == static_cast<int>(FusionMode::None),
              "the public fusion modes are those of the passes");

namespace {
/// Announces a stage, and prints how long it took where asked to.
class Stage {
public:
  Stage(const CompileOptions &options, const char *name)
      : timing(options.timing), name(name), start(std::chrono::steady_clock::now()) {
    if (options.onStage)
      options.onStage(name);
  }
  ~Stage() {
    if (!timing)
      return;
    std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    llvm::errs() << llvm::format("%10.1f ms  %s\n", elapsed.count(), name);
  }

private:
  bool timing;
  const char *name;
  std::chrono::steady_clock::time_point start;
};
} // namespace

std::unique_ptr<mlir::MLIRContext> makeContext() {
  mlir::DialectRegistry registry;
  registry.insert<tk::TkDialect, mlir::func::FuncDialect>();
  reference::registerReferenceModels(registry);
  codegen::registerExpressionModels(registry);
  // One compilation is one thread: a session may be one of many in its process.
  auto context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

std::map<std::string, std::pair<int64_t, int64_t>> indexInputs(mlir::ModuleOp imported) {
  std::map<std::string, std::pair<int64_t, int64_t>> inputs;
  auto main = imported.lookupSymbol<mlir::func::FuncOp>("main");
  for (mlir::BlockArgument argument : main.getArguments())
    if (auto accepted = import::acceptedIndices(argument))
      if (auto name = main.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), "tk.name"))
        inputs.emplace(name.str(), *accepted);
  return inputs;
}

llvm::Expected<PartitionedModel> importModel(const import::Model &model, const CompileOptions &options) {
  Stage stage(options, "reading the graph");
  PartitionedModel result;
  result.context = makeContext();
  DiagnosticCollector diagnostics(result.context.get());
  llvm::Expected<import::ImportedModel> imported = model.import(*result.context, options.import);
  if (!imported)
    return inputFault(toString(imported.takeError()));
  result.imported = std::move(imported->module);
  result.specialized = std::move(imported->specialized);
  result.onnxNodes = imported->onnxNodes;
  if (mlir::failed(mlir::verify(*result.imported)))
    return internalFault(diagnostics.firstError("the imported graph is not valid"));
  return result;
}

/// Rewrites and partitions `result.module`.
static llvm::Error runPasses(PartitionedModel &result, const CompileOptions &options) {
  Stage stage(options, "rewriting and fusing");
  DiagnosticCollector diagnostics(result.context.get());
  result.module = result.imported->clone();
  PipelineOptions passes;
  passes.fusion = static_cast<FusionMode>(options.fusion);
  passes.disabledPasses = options.disabledPasses;
  passes.rules = options.rules;
  passes.trustRules = options.trustRules;
  passes.exact = options.exact;
  passes.forcedRewrites = options.forcedRewrites;
  passes.target = result.target;
  passes.threads = options.threads;
  passes.fuel = options.fuel;
  passes.printAfterChange = options.printAfterChange;
  passes.timing = options.timing;
  passes.decisions = &result.decisions;
  passes.removed = &result.removed;
  passes.fuelUsed = &result.applications;
  passes.lastApplied = &result.lastApplied;
  passes.searches = &result.searches;
  bool isInputFault = false;
  passes.inputFault = &isInputFault;
  if (mlir::failed(runPipeline(*result.module, passes))) {
    std::string error = diagnostics.firstError("a pass failed without saying why");
    return isInputFault ? inputFault(error) : internalFault(error);
  }
  return llvm::Error::success();
}

static llvm::Error generateCode(PartitionedModel &partitioned, const CompileOptions &options,
                                CompiledModel &result) {
  Stage stage(options, "generating code");
  DiagnosticCollector diagnostics(partitioned.context.get());
  auto main = partitioned.module->lookupSymbol<mlir::func::FuncOp>("main");
  result.traffic = analysis::trafficOf(main.getBody().front());
  result.specialized = partitioned.specialized;
  result.onnxNodes = partitioned.onnxNodes;
  if (partitioned.imported) // calibration has groups of its own
    result.indexInputs = indexInputs(*partitioned.imported);
  if (options.predict)
    result.predictions = predictSteps(*partitioned.module, partitioned.target, options.threads);
  codegen::CodegenOptions codegen;
  codegen.emit = options.emit;
  codegen.observed = options.observed;
  codegen.emitted = &result.emitted;
  llvm::Expected<codegen::CompiledProgram> program =
      codegen::compileProgram(*partitioned.module, partitioned.target, codegen);
  if (!program)
    return internalFault(diagnostics.firstError(toString(program.takeError())));
  result.program = std::move(*program);
  return llvm::Error::success();
}

/// Runs one stage behind the import; a fault in it, or a crash where crashes are contained, leaves a
/// reproducer.
static llvm::Error contained(PartitionedModel &model, const CompileOptions &options, llvm::StringRef what,
                             llvm::function_ref<llvm::Error()> stage) {
  if (options.reproducerDirectory.empty())
    return stage();
  Status status;
  if (!runContained([&] { status = toStatus(stage(), StatusCode::Internal); }))
    status = {StatusCode::Internal, ("Tokamak crashed while " + what).str()};
  if (status.ok())
    return llvm::Error::success();
  if (status.code == StatusCode::Internal) {
    std::string path = writeReproducer(*model.imported, options, status.message);
    if (!path.empty())
      status.message += "; this is a fault in Tokamak, " + path + " reproduces it";
  }
  return llvm::make_error<Fault>(status.code, status.message);
}

llvm::Expected<PartitionedModel> partitionModel(const import::Model &model, const CompileOptions &options) {
  llvm::Expected<TargetDescription> target = resolveTarget(options.targetCpu, options.targetDescription);
  if (!target)
    return llvm::make_error<Fault>(StatusCode::Misuse, oneLine(toString(target.takeError())));
  llvm::Expected<PartitionedModel> result = importModel(model, options);
  if (!result)
    return result.takeError();
  result->target = std::move(*target);
  if (llvm::Error error =
          contained(*result, options, "rewriting and fusing", [&] { return runPasses(*result, options); }))
    return std::move(error);
  codegen::markViews(result->module->lookupSymbol<mlir::func::FuncOp>("main"), result->target);
  return result;
}

llvm::Expected<CompiledModel> generateModel(PartitionedModel &model, const CompileOptions &options) {
  CompiledModel result;
  if (llvm::Error error =
          contained(model, options, "generating code", [&] { return generateCode(model, options, result); }))
    return std::move(error);
  return result;
}

llvm::Expected<CompiledModel> compileModel(const import::Model &model, const CompileOptions &options) {
  llvm::Expected<PartitionedModel> partitioned = partitionModel(model, options);
  if (!partitioned)
    return partitioned.takeError();
  return generateModel(*partitioned, options);
}

} // namespace tokamak::driver
