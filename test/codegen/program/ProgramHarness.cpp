//===- ProgramHarness.cpp - compiled programs against the evaluator ----------------------------------===//
#include "ProgramHarness.h"
#include "driver/Jit.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "reference/Evaluate.h"
#include "reference/RandomTensor.h"
#include <cmath>
#include <cstring>

namespace tokamak::test {

using namespace mlir;

std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registry.insert<tk::TkDialect, func::FuncDialect>();
  reference::registerReferenceModels(registry);
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

llvm::Expected<TargetDescription> machineOf(StringRef cpu) {
  auto target = TargetDescription::forCpu(cpu.str());
  if (!target)
    return target;
  const TargetDescription machine;
  target->l1Bytes = machine.l1Bytes;
  target->l2Bytes = machine.l2Bytes;
  target->l3Bytes = machine.l3Bytes;
  target->cores = machine.cores;
  target->bandwidth = machine.bandwidth;
  target->sharedMemoryBandwidth = machine.sharedMemoryBandwidth;
  return target;
}

TestProgram::TestProgram() = default;
TestProgram::~TestProgram() = default;

llvm::Expected<std::unique_ptr<TestProgram>> TestProgram::compile(ModuleOp module, FusionMode fusion,
                                                                  StringRef cpu) {
  auto target = machineOf(cpu);
  if (!target)
    return target.takeError();
  return compile(module, fusion, *target);
}

llvm::Expected<std::unique_ptr<TestProgram>>
TestProgram::compile(ModuleOp module, FusionMode fusion, const TargetDescription &target, bool exact) {
  OwningOpRef<ModuleOp> partitioned = module.clone();
  PipelineOptions options;
  options.fusion = fusion;
  options.target = target;
  options.exact = exact;
  // Dispatches that cost nothing: kernels run beside each other wherever they may.
  options.target->dispatchSeconds = 0;
  options.threads = 2;
  const bool hasGroups =
      partitioned->walk([](tk::FusionOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (!hasGroups && failed(runPipeline(*partitioned, options)))
    return llvm::createStringError("the pipeline failed");
  auto compiled = codegen::compileProgram(*partitioned, target);
  if (!compiled)
    return compiled.takeError();
  std::unique_ptr<TestProgram> result(new TestProgram);
  result->program = std::move(*compiled);
  auto jit = driver::Jit::load(result->program.objects, result->program.entry);
  if (!jit)
    return jit.takeError();
  result->jit = std::move(*jit);
  return result;
}

llvm::Expected<std::vector<Tensor>> TestProgram::run(llvm::ArrayRef<Tensor> inputs, TkPool *pool,
                                                     GuardedMemory::Guard guard) const {
  auto roundUp = [](size_t bytes) { return (bytes + 63) / 64 * 64; };
  auto unwritten = [](const GuardedMemory &memory) { std::memset(memory.data(), 0xff, memory.size()); };
  size_t stride = roundUp(program.scratchBytes);
  GuardedMemory arena(roundUp(program.arenaBytes), guard),
      scratch(stride * static_cast<size_t>(tk_pool_threads(pool)), guard),
      weights(roundUp(program.weights.size()), guard);
  unwritten(arena), unwritten(scratch);
  std::memcpy(weights.data(), program.weights.data(), program.weights.size());
  weights.makeReadOnly();

  std::vector<GuardedMemory> inputMemory, outputMemory;
  std::vector<void *> in, out;
  for (const Tensor &tensor : inputs) {
    GuardedMemory &memory = inputMemory.emplace_back(tensor.byteCount(), guard);
    if (tensor.byteCount() > 0)
      std::memcpy(memory.data(), tensor.bytes(), tensor.byteCount());
    memory.makeReadOnly();
    in.push_back(memory.data());
  }
  std::vector<Tensor> results;
  for (const codegen::ProgramValue &value : program.outputs) {
    results.emplace_back(value.type, value.shape);
    unwritten(outputMemory.emplace_back(results.back().byteCount(), guard));
    out.push_back(outputMemory.back().data());
  }
  TkContext context{pool, scratch.data(), stride};
  if (int code = jit->entry()(&context, arena.data(), weights.data(), in.data(), out.data()))
    return llvm::createStringError(tk_library_error(code));
  for (auto [result, memory] : llvm::zip(results, outputMemory)) {
    if (result.byteCount() > 0)
      std::memcpy(result.mutableBytes(), memory.data(), memory.size());
    if (result.type() == DataType::Bool &&
        std::any_of(memory.data(), memory.data() + memory.size(), [](char c) { return c != 0 && c != 1; }))
      return llvm::createStringError("a bool that is neither 0 nor 1");
  }
  return results;
}

std::string firstDifference(const Tensor &got, const Tensor &expected, double tolerance) {
  for (int64_t i = 0; i < expected.size(); ++i) {
    bool same = false;
    if (isFloat(expected.type())) {
      double a = got.doubleAt(i), b = expected.doubleAt(i);
      same = a == b || (std::isnan(a) && std::isnan(b)) ||
             (std::isfinite(a) && std::isfinite(b) && std::abs(a - b) <= tolerance);
    } else {
      same = got.intAt(i) == expected.intAt(i);
    }
    if (same)
      continue;
    std::string text;
    llvm::raw_string_ostream out(text);
    out << "element " << i << " of " << expected.size() << " (" << name(expected.type()) << "): ";
    if (isFloat(expected.type()))
      out << llvm::format("%.17g instead of %.17g, tolerance %.3g", got.doubleAt(i), expected.doubleAt(i),
                          tolerance);
    else
      out << got.intAt(i) << " instead of " << expected.intAt(i);
    return text;
  }
  return "";
}

bool haveSameBytes(llvm::ArrayRef<Tensor> a, llvm::ArrayRef<Tensor> b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](const Tensor &x, const Tensor &y) {
           return x.byteCount() == y.byteCount() &&
                  (x.byteCount() == 0 || std::memcmp(x.bytes(), y.bytes(), x.byteCount()) == 0);
         });
}

void makeCallsDear(TargetDescription &target) { target.callSeconds = 1e3; }

std::string differenceFromReference(const ProgramCase &test) {
  auto context = makeContext();
  auto module = parseSourceString<ModuleOp>(test.text, context.get());
  if (!module)
    return "the case does not parse";
  auto program = module->lookupSymbol<func::FuncOp>("main");
  std::vector<Tensor> inputs = test.inputs;
  if (inputs.empty())
    for (Type type : program.getArgumentTypes()) {
      Tensor shape(cast<RankedTensorType>(type));
      auto values = test.exact ? reference::RandomValues::SmallIntegers : reference::RandomValues::Normal;
      inputs.push_back(
          reference::randomTensor(shape.type(), shape.shape(), test.seed + inputs.size(), values));
    }
  auto expected = reference::evaluateFunction(program, inputs);
  if (failed(expected))
    return "the evaluator failed";

  auto target = machineOf(test.cpu);
  if (!target)
    return llvm::toString(target.takeError());
  if (test.dearCalls)
    makeCallsDear(*target);
  auto compiled = TestProgram::compile(*module, test.fusion, *target, !test.filters);
  if (!compiled)
    return llvm::toString(compiled.takeError());
  if (test.kernels && (*compiled)->code().kernelCount != *test.kernels)
    return std::to_string((*compiled)->code().kernelCount) + " kernels instead of " +
           std::to_string(*test.kernels);
  std::unique_ptr<TkPool, void (*)(TkPool *)> pool(tk_pool_create(2), tk_pool_destroy);
  auto results = (*compiled)->run(inputs, nullptr, GuardedMemory::Guard::Behind);
  if (!results)
    return llvm::toString(results.takeError());
  auto again = (*compiled)->run(inputs, pool.get(), GuardedMemory::Guard::Before);
  if (!again)
    return llvm::toString(again.takeError());
  for (size_t i = 0; i < results->size(); ++i) {
    const Tensor &wanted = (*expected)[i];
    double scale = 1;
    for (int64_t e = 0; isFloat(wanted.type()) && e < wanted.size(); ++e)
      if (std::isfinite(wanted.doubleAt(e)))
        scale = std::max(scale, std::abs(wanted.doubleAt(e)));
    std::string difference = firstDifference((*results)[i], wanted, test.exact ? 0 : test.tolerance * scale);
    if (!difference.empty())
      return "result " + std::to_string(i) + ", " + difference;
  }
  return haveSameBytes(*results, *again) ? "" : "two threads give other bits than one";
}

} // namespace tokamak::test
