//===- Properties.cpp - what must hold for every graph ------------------------------------------------===//
#include "Properties.h"
#include "ProgramHarness.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "reference/Evaluate.h"
#include "rewrite/Passes.h"
#include <cmath>

namespace tokamak::test {

using namespace mlir;

namespace {

using Results = llvm::Expected<std::vector<Tensor>>;

/// Errors of passes and of the evaluator, for the message.
class Errors {
public:
  explicit Errors(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (text.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
            text = diagnostic.str();
          return success();
        }) {}
  std::string text;

private:
  ScopedDiagnosticHandler handler;
};

Results evaluate(ModuleOp module, llvm::ArrayRef<Tensor> inputs) {
  Errors errors(module.getContext());
  auto results = reference::evaluateFunction(module.lookupSymbol<func::FuncOp>("main"), inputs);
  if (failed(results))
    return llvm::createStringError("the evaluator fails: " + errors.text);
  return std::vector<Tensor>(results->begin(), results->end());
}

/// The first zero with the wrong sign, as firstDifference says it.
std::string wrongZero(const Tensor &got, const Tensor &expected) {
  for (int64_t i = 0; isFloat(expected.type()) && i < expected.size(); ++i) {
    double a = got.doubleAt(i), b = expected.doubleAt(i);
    if (a == 0 && b == 0 && std::signbit(a) != std::signbit(b))
      return "element " + std::to_string(i) + ": a zero with the wrong sign";
  }
  return "";
}

std::string difference(const GraphCase &graph, llvm::ArrayRef<Tensor> got, llvm::ArrayRef<Tensor> expected) {
  for (size_t i = 0; i < expected.size(); ++i) {
    std::string text = firstDifference(got[i], expected[i], graph.tolerances[i]);
    if (text.empty() && graph.signs)
      text = wrongZero(got[i], expected[i]);
    if (!text.empty())
      return "result " + std::to_string(i) + ", " + text;
  }
  return "";
}

/// The graph means the same after `transform`, which fails with a reason or leaves a valid module.
std::string keepsMeaning(const GraphCase &graph,
                         llvm::function_ref<LogicalResult(ModuleOp module)> transform) {
  OwningOpRef<ModuleOp> changed = ModuleOp(graph.module.get()).clone();
  OperationFingerPrint before(*changed);
  {
    Errors errors(changed->getContext());
    if (failed(transform(*changed)))
      return "fails: " + errors.text;
  }
  if (before == OperationFingerPrint(*changed))
    return "";
  Results expected = evaluate(*graph.module, graph.inputs), got = evaluate(*changed, graph.inputs);
  if (!expected || !got)
    return llvm::toString(llvm::joinErrors(expected.takeError(), got.takeError()));
  return difference(graph, *got, *expected);
}

std::string passKeepsMeaning(const GraphCase &graph, const std::string &pass) {
  return keepsMeaning(graph, [&](ModuleOp module) -> LogicalResult {
    PassManager passes(module->getName());
    if (failed(parsePassPipeline(pass, passes)))
      return module.emitError("there is no pass ") << pass;
    return passes.run(module);
  });
}

std::string pipelineKeepsMeaning(const GraphCase &graph, FusionMode fusion) {
  return keepsMeaning(graph, [&](ModuleOp module) {
    PipelineOptions options;
    options.fusion = fusion;
    return runPipeline(module, options);
  });
}

std::string programIsRight(const GraphCase &graph, FusionMode fusion, const TargetDescription &target,
                           TkPool *pool) {
  Results expected = evaluate(*graph.module, graph.inputs);
  if (!expected)
    return llvm::toString(expected.takeError());
  llvm::Expected<std::unique_ptr<TestProgram>> program = [&] {
    Errors errors(graph.module.get()->getContext());
    auto compiled = TestProgram::compile(*graph.module, fusion, target);
    if (!compiled && !errors.text.empty())
      return decltype(compiled)(
          llvm::createStringError(llvm::toString(compiled.takeError()) + ": " + errors.text));
    return compiled;
  }();
  if (!program)
    return llvm::toString(program.takeError());
  Results results = (*program)->run(graph.inputs, nullptr, GuardedMemory::Guard::Behind);
  if (!results)
    return llvm::toString(results.takeError());
  if (std::string text = difference(graph, *results, *expected); !text.empty())
    return text;
  Results again = (*program)->run(graph.inputs, pool, GuardedMemory::Guard::Before);
  if (!again)
    return llvm::toString(again.takeError());
  return haveSameBytes(*results, *again) ? "" : "two threads give other bits than one";
}

/// As a bisection runs it: stopped half way.
std::string halfPipelineKeepsMeaning(const GraphCase &graph) {
  return keepsMeaning(graph, [&](ModuleOp module) {
    PipelineOptions options;
    int64_t used = 0;
    options.fuelUsed = &used;
    OwningOpRef<ModuleOp> trial = module.clone();
    if (failed(runPipeline(*trial, options)))
      return failure();
    options.fuel = used / 2;
    return runPipeline(module, options);
  });
}

struct Mode {
  const char *name;
  FusionMode fusion;
};
constexpr Mode modes[] = {
    {"none", FusionMode::None}, {"dominator", FusionMode::Dominator}, {"full", FusionMode::Full}};

} // namespace

std::vector<Property> graphProperties() {
  static const bool registered = (registerAllPasses(), true);
  (void)registered;
  std::vector<Property> properties;
  // A search takes these where they pay; alone they apply wherever they are legal.
  std::vector<std::string> passes = {"merge-siblings", "enlarge-kernels", "residual-to-convolution",
                                     "merge-sums"};
  for (const PassListing &pass : listPasses())
    if (pass.name != "apply-rules") // it needs rules, which test/rules has
      passes.push_back(pass.name);
  for (const std::string &pass : passes)
    properties.push_back(
        {"pass " + pass, [pass](const GraphCase &graph) { return passKeepsMeaning(graph, pass); }});
  for (const Mode &mode : modes)
    properties.push_back(
        {std::string("pipeline ") + mode.name,
         [fusion = mode.fusion](const GraphCase &graph) { return pipelineKeepsMeaning(graph, fusion); }});
  properties.push_back({"pipeline full with half of its fuel", halfPipelineKeepsMeaning});
  return properties;
}

std::vector<Property> compiledProperties(TkPool *pool) {
  std::vector<Property> properties;
  for (const char *cpu : {"native", "x86-64-v3"}) {
    TargetDescription target = llvm::cantFail(TargetDescription::forCpu(cpu));
    auto add = [&](const std::string &name, FusionMode fusion) {
      properties.push_back({"compiled " + name + " for " + cpu, [=](const GraphCase &graph) {
                              return programIsRight(graph, fusion, target, pool);
                            }});
    };
    for (const Mode &mode : modes)
      add(mode.name, mode.fusion);
    // Whatever saves a call pays: anchors inside anchors, which graphs this small would not have.
    makeCallsDear(target);
    add("full with dear calls", FusionMode::Full);
  }
  return properties;
}

} // namespace tokamak::test
