//===- Program.cpp - a compiled program, loaded and ready to run --------------------------===//
#include "driver/Program.h"
#include "driver/Fault.h"
#include "driver/WeightMemory.h"
#include <algorithm>
#include <limits>

namespace tokamak::driver {

static std::vector<ValueInfo> concreteValues(llvm::ArrayRef<codegen::ProgramValue> values) {
  std::vector<ValueInfo> infos;
  for (const codegen::ProgramValue &value : values) {
    ValueInfo info;
    info.name = value.name;
    info.type = static_cast<ElementType>(value.type);
    info.shape = value.shape;
    info.symbols.resize(value.shape.size());
    infos.push_back(std::move(info));
  }
  return infos;
}

std::vector<TkValueInfo> Program::describe(llvm::ArrayRef<ValueInfo> values) {
  std::vector<TkValueInfo> result;
  for (const ValueInfo &value : values) {
    size_t bytes = elementBytes(value.type);
    for (int64_t extent : value.shape)
      bytes *= static_cast<size_t>(extent);
    result.push_back({value.name.c_str(), static_cast<int32_t>(value.type),
                      static_cast<int32_t>(value.shape.size()), value.shape.data(), bytes});
  }
  return result;
}

llvm::Expected<std::shared_ptr<Program>> Program::load(CompiledModel compiled, TkPool *pool, bool profiled,
                                                       llvm::ArrayRef<Jit::Symbol> more) {
  codegen::CompiledProgram &code = compiled.program;
  std::shared_ptr<Program> program(new Program);
  program->steps = std::move(code.steps);
  program->faultPlaces = std::move(code.faultPlaces);
  program->predictions = std::move(compiled.predictions);
  if (profiled)
    program->profile = std::make_unique<Profile>(program->steps);
  auto jit = Jit::load(code.objects, code.entry, program->profile.get(), more);
  if (!jit)
    return internalFault("loading the compiled program: " + toString(jit.takeError()));
  program->jit = std::move(*jit);

  program->weights = std::move(compiled.storedWeights);
  if (!program->weights) {
    const size_t bytes = code.weights.size();
    auto weights = allocateWeights(bytes);
    if (!weights)
      return inputFault("out of memory: the model's weights take " + llvm::Twine(bytes) + " bytes");
    llvm::copy(code.weights, weights->getBufferStart());
    program->weights = std::move(weights);
  }

  ProgramInfo &info = program->programInfo;
  info.inputs = concreteValues(code.inputs);
  for (ValueInfo &input : info.inputs)
    if (auto known = compiled.indexInputs.find(input.name); known != compiled.indexInputs.end())
      input.indices = known->second;
  info.outputs = concreteValues(code.outputs);
  info.nodes = static_cast<size_t>(compiled.onnxNodes);
  info.kernels = code.kernelCount;
  info.arenaBytes = code.arenaBytes;
  info.weightBytes = program->weights->getBufferSize();
  info.bytesMoved = compiled.traffic.bytesRead + compiled.traffic.bytesWritten + compiled.traffic.weightBytes;
  info.flops = compiled.traffic.flops;

  program->inputs = program->describe(info.inputs);
  program->outputs = program->describe(info.outputs);
  program->modelInfo = {program->jit->entry(),
                        program->weights->getBufferStart(),
                        code.arenaBytes,
                        code.scratchBytes,
                        static_cast<int32_t>(program->inputs.size()),
                        static_cast<int32_t>(program->outputs.size()),
                        program->inputs.data(),
                        program->outputs.data()};
  program->model = tk_model_create(&program->modelInfo, pool);
  if (!program->model)
    return inputFault("out of memory");
  return program;
}

/// Adds the calls of one step.
static void addPrediction(KernelTime &time, const Prediction &prediction) {
  const auto calls = static_cast<double>(prediction.calls);
  time.predictedMs += 1e3 * calls * prediction.cost.serial();
  time.boundMs += 1e3 * calls * prediction.boundSeconds;
  time.flops += prediction.calls * prediction.cost.flops;
  time.bytes += prediction.calls * prediction.cost.traffic.total();
}

std::vector<KernelTime> Program::kernelTimes() const {
  std::vector<KernelTime> times;
  if (!profile)
    return times;
  for (auto [i, symbol] : llvm::enumerate(profile->symbols())) {
    KernelTime time;
    time.kernel = symbol;
    time.ms = static_cast<double>(profile->nanoseconds(i)) / 1e6;
    for (const auto &[number, step] : llvm::enumerate(steps)) {
      if (step.kernel != symbol)
        continue;
      if (!predictions.empty())
        addPrediction(time, predictions[number]);
      ++time.calls;
      time.kind = step.kind;
      time.nodes.insert(time.nodes.end(), step.nodes.begin(), step.nodes.end());
    }
    times.push_back(std::move(time));
  }
  return times;
}

std::vector<KernelCall> Program::kernelCalls() const {
  std::vector<KernelCall> calls;
  if (!profile)
    return calls;
  int64_t first = std::numeric_limits<int64_t>::max();
  for (const Profile::Event &event : profile->events())
    first = std::min(first, event.start);
  for (const Profile::Event &event : profile->events())
    calls.push_back({event.symbol, event.thread, static_cast<double>(event.start - first) / 1e3,
                     static_cast<double>(event.end - event.start) / 1e3});
  return calls;
}

void Program::resetKernelTimes() {
  if (profile)
    profile->reset();
}

Program::~Program() { tk_model_destroy(model); }

} // namespace tokamak::driver
