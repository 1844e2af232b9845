//===- Verify.cpp - a compiled model against the evaluator -------------------------------------===//
#include "driver/Verify.h"
#include "driver/Diagnostics.h"
#include "driver/Fault.h"
#include "driver/Program.h"
#include "driver/VerifyFiltering.h"
#include "driver/VerifyKernels.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "reference/Evaluate.h"
#include "runtime/ThreadPool.h"
#include <chrono>
#include <cstring>

namespace tokamak::driver {

bool Verification::isSame() const { return firstFault().empty(); }

std::string Verification::firstFault() const {
  for (const VerifiedKernel &kernel : kernels)
    if (!kernel.deviation.isSame())
      return "kernel " + kernel.step.kernel + (kernel.onnx.empty() ? "" : " of " + kernel.onnx) +
             " is wrong: " + kernel.deviation.firstWrong;
  for (const VerifiedOutput &output : outputs)
    if (!output.deviation.isSame())
      return "output '" + output.name + "' is wrong" +
             (kernels.empty() ? ""
                              : ", though each kernel computes its operators: a rewrite changed the graph") +
             ": " + output.deviation.firstWrong;
  return "";
}

Verifier::Verifier(const import::Model &model, CompileOptions options, InputTensors inputs,
                   VerifyOptions verify)
    : model(model), options(std::move(options)), inputs(std::move(inputs)), verify(std::move(verify)),
      pool(tk_pool_create(this->verify.threads > 0 ? this->verify.threads : tk_core_count())) {
  // As a session does: a value on which a shape depends is short.
  constexpr size_t longestHint = 1 << 16;
  for (const auto &[name, tensor] : this->inputs)
    if (tensor.byteCount() <= longestHint)
      this->options.import.hints[name] = tensor;
}

Verifier::~Verifier() { tk_pool_destroy(pool); }

std::vector<Tensor> Verifier::inputTensors() const {
  std::vector<Tensor> tensors;
  for (const auto &[name, tensor] : inputs)
    tensors.push_back(tensor);
  return tensors;
}

Tolerance Verifier::toleranceOf(DataType type, bool isOutput) const {
  Tolerance tolerance = kernelTolerance(type);
  // Errors add up on the way through a network.
  constexpr double depth = 10;
  if (isOutput)
    tolerance = {depth * tolerance.relative, depth * tolerance.absolute};
  if (isFloat(type)) {
    tolerance.relative = verify.relative.value_or(tolerance.relative);
    tolerance.absolute = verify.absolute.value_or(tolerance.absolute);
  }
  return tolerance;
}

llvm::Expected<llvm::ArrayRef<Tensor>> Verifier::reference(mlir::ModuleOp imported) {
  if (expected)
    return *expected;
  auto start = std::chrono::steady_clock::now();
  DiagnosticCollector diagnostics(imported.getContext());
  auto values =
      reference::evaluateFunction(imported.lookupSymbol<mlir::func::FuncOp>("main"), inputTensors());
  // Its errors are about data: an index out of range.
  if (mlir::failed(values))
    return inputFault(model.name() + ": " + diagnostics.firstError("the evaluator failed"));
  expected = std::move(*values);
  evaluatorSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return *expected;
}

/// The evaluator's output for the `round`-th set of moved inputs. All that is computed on the way is moved as
/// well, as what a kernel reads is where its own results are checked: a program rounds each of these values,
/// and where two of them cancel, moved inputs alone would move both alike. A constant of one element stays: a
/// threshold or an exponent is exact.
std::optional<Tensor> Verifier::movedOutput(mlir::ModuleOp imported, size_t output, int round) {
  if (round >= mostMoves)
    return std::nullopt;
  if (static_cast<size_t>(round) == movedOutputs.size()) {
    uint64_t seed = static_cast<uint64_t>(round) << 32;
    std::vector<Tensor> others;
    for (const Tensor &tensor : inputTensors())
      others.push_back(moved(tensor, seed++));
    auto main = imported.lookupSymbol<mlir::func::FuncOp>("main");
    auto move = [&](mlir::Operation *op, llvm::ArrayRef<Tensor>, llvm::MutableArrayRef<Tensor> results) {
      if (op->getParentOp() == main)
        for (Tensor &result : results)
          if (result.size() != 1 || !op->hasTrait<mlir::OpTrait::ConstantLike>())
            result = moved(result, seed++);
    };
    DiagnosticCollector quiet(imported.getContext());
    movedOutputs.emplace_back(reference::evaluateFunction(main, others, nullptr, move));
  }
  const auto &values = movedOutputs[static_cast<size_t>(round)];
  return values ? std::optional((*values)[output]) : std::nullopt;
}

/// What the kernels of the graph that has run leave open of the outputs: of that graph, as it depends on what
/// is added up there, and on which values. One graph follows from so many applications, whatever the fuel.
llvm::ArrayRef<Latitude> Verifier::outputLatitudes(mlir::ModuleOp partitioned) {
  constexpr int mixtures = 2;
  if (latitudesOf == applied)
    return latitudes;
  DiagnosticCollector quiet(partitioned.getContext());
  auto evaluate = [&](reference::Revise revise) -> std::optional<llvm::SmallVector<Tensor>> {
    auto values = reference::evaluateFunction(partitioned.lookupSymbol<mlir::func::FuncOp>("main"),
                                              inputTensors(), nullptr, revise);
    return std::optional<llvm::SmallVector<Tensor>>(std::move(values));
  };
  latitudes = arithmeticLatitude(*expected, mixtures, evaluate);
  latitudesOf = applied;
  return latitudes;
}

llvm::Expected<Verification> Verifier::run(int64_t fuel, bool kernels) {
  CompileOptions compile = options;
  compile.fuel = fuel;
  compile.observed = kernels;
  last.clear();
  applied.reset();
  llvm::Expected<PartitionedModel> partitioned = partitionModel(model, compile);
  if (!partitioned)
    return partitioned.takeError();
  last = partitioned->lastApplied;
  applied = partitioned->applications;
  // Before the code is there: each of the two takes memory in proportion to the weights.
  if (verify.onProgress && !expected)
    verify.onProgress(0, 0);
  if (auto known = reference(*partitioned->imported); !known)
    return known.takeError();
  llvm::Expected<CompiledModel> compiled = generateModel(*partitioned, compile);
  if (!compiled)
    return compiled.takeError();

  Verification result;
  result.applications = partitioned->applications;
  KernelCheck check(
      std::move(compiled->program.observed), compiled->program.steps,
      [&](DataType type) { return toleranceOf(type, false); }, verify.onProgress);
  auto program = Program::load(std::move(*compiled), pool, /*profiled=*/false,
                               kernels ? check.symbols() : std::vector<Jit::Symbol>());
  if (!program)
    return program.takeError();
  std::vector<void *> inputPointers, outputPointers;
  for (auto &[name, tensor] : inputs)
    inputPointers.push_back(tensor.mutableBytes());
  std::vector<Tensor> outputs;
  for (const ValueInfo &info : (*program)->info().outputs) {
    outputs.emplace_back(static_cast<DataType>(info.type), info.shape);
    outputPointers.push_back(outputs.back().mutableBytes());
    result.outputs.push_back({info.name, {}});
  }
  if (int code = (*program)->run(inputPointers.data(), outputPointers.data()))
    return inputFault(model.name() + ": " + (*program)->error(code));
  if (!check.failure().empty())
    return internalFault("the evaluator refuses what the kernels computed: " + check.failure());
  result.kernels = check.kernels();
  result.evaluatorSeconds = evaluatorSeconds + check.evaluatorSeconds();
  for (size_t i = 0; i < outputs.size(); ++i) {
    auto latitude = [&]() -> std::optional<Latitude> {
      llvm::ArrayRef<Latitude> ofOutputs = outputLatitudes(*partitioned->module);
      return ofOutputs.empty() ? std::nullopt : std::optional(ofOutputs[i]);
    };
    result.outputs[i].deviation = compare(
        outputs[i], (*expected)[i], toleranceOf(outputs[i].type(), true),
        [&](int round) { return movedOutput(*partitioned->imported, i, round); }, latitude);
  }
  return result;
}

} // namespace tokamak::driver
