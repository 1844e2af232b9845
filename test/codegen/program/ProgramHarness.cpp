//===- ProgramHarness.cpp - compiled programs against the evaluator ----------------------------------===//
#include "ProgramHarness.h"
#include "codegen/Program.h"
#include "driver/Jit.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "reference/Evaluate.h"
#include "reference/RandomTensor.h"
#include "rewrite/PassRunner.h"
#include <cmath>
#include <cstring>

namespace tokamak::test {

using namespace mlir;

namespace {

std::string compare(const Tensor &got, const Tensor &expected, const ProgramCase &test, size_t number) {
  double worst = 0, scale = 1;
  for (int64_t i = 0; i < expected.size(); ++i) {
    double a = got.doubleAt(i), b = expected.doubleAt(i);
    bool both = std::isnan(a) && std::isnan(b);
    if (both || a == b)
      continue;
    bool integral = !isFloat(expected.type());
    if (integral || test.exact || !std::isfinite(a) || !std::isfinite(b))
      return "result " + std::to_string(number) + " element " + std::to_string(i) + ": " + std::to_string(a) +
             " instead of " + std::to_string(b);
    worst = std::max(worst, std::abs(a - b));
    scale = std::max(scale, std::abs(b));
  }
  if (worst <= test.tolerance * scale)
    return "";
  return "result " + std::to_string(number) + ": maximum error " + std::to_string(worst);
}

} // namespace

std::string differenceFromReference(const ProgramCase &test) {
  DialectRegistry registry;
  registry.insert<tk::TkDialect, func::FuncDialect>();
  reference::registerReferenceModels(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  auto module = parseSourceString<ModuleOp>(test.text, &context);
  if (!module)
    return "the case does not parse";
  auto program = module->lookupSymbol<func::FuncOp>("main");
  std::vector<Tensor> inputs;
  for (Type type : program.getArgumentTypes()) {
    Tensor shape(cast<RankedTensorType>(type));
    auto values = test.exact ? reference::RandomValues::SmallIntegers : reference::RandomValues::Normal;
    inputs.push_back(reference::randomTensor(shape.type(), shape.shape(), test.seed + inputs.size(), values));
  }
  auto expected = reference::evaluateFunction(program, inputs);
  if (failed(expected))
    return "the evaluator failed";

  PipelineOptions options;
  options.fusion = test.fuse ? FusionMode::Dominator : FusionMode::None;
  if (failed(runPipeline(*module, options)))
    return "the pipeline failed";
  auto target = TargetDescription::forCpu(test.cpu);
  if (!target)
    return llvm::toString(target.takeError());
  auto compiled = codegen::compileProgram(*module, *target);
  if (!compiled)
    return llvm::toString(compiled.takeError());
  auto jit = driver::Jit::load(compiled->objects, compiled->entry);
  if (!jit)
    return llvm::toString(jit.takeError());

  auto aligned = [](size_t bytes) {
    return static_cast<char *>(std::aligned_alloc(64, (bytes + 127) / 64 * 64));
  };
  char *arena = aligned(compiled->arenaBytes), *scratch = aligned(compiled->scratchBytes);
  char *weights = aligned(compiled->weights.size());
  std::memset(arena, 0xff, compiled->arenaBytes); // NaN: what nobody wrote must not be read
  std::memcpy(weights, compiled->weights.data(), compiled->weights.size());
  TkContext run{nullptr, scratch, compiled->scratchBytes};
  std::vector<void *> in, out;
  std::vector<Tensor> results;
  for (Tensor &tensor : inputs)
    in.push_back(tensor.mutableBytes());
  for (const Tensor &tensor : *expected)
    results.emplace_back(tensor.type(), tensor.shape());
  for (Tensor &tensor : results)
    out.push_back(tensor.mutableBytes());
  int code = (*jit)->entry()(&run, arena, weights, in.data(), out.data());
  std::free(arena), std::free(scratch), std::free(weights);
  if (code != 0)
    return tk_library_error(code);
  for (size_t i = 0; i < results.size(); ++i)
    if (std::string difference = compare(results[i], (*expected)[i], test, i); !difference.empty())
      return difference;
  return "";
}

} // namespace tokamak::test
