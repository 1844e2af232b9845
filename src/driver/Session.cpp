//===- Session.cpp - the C++ interface: load a model, run it ------------------------------===//
#include "tokamak/Session.h"
#include "analysis/TargetFile.h"
#include "driver/Pipeline.h"
#include "driver/ProgramCache.h"
#include "driver/Shapes.h"
#include "driver/cache/ProgramFolder.h"
#include "runtime/ThreadPool.h"
#include <chrono>
#include <cstring>
#include <new>

namespace tokamak {

using namespace driver;

static_assert(static_cast<int>(ElementType::BFloat16) == static_cast<int>(DataType::BFloat16) &&
                  static_cast<int>(ElementType::Bool) == static_cast<int>(DataType::Bool),
              "the public element types are those of the compiler");

size_t elementBytes(ElementType type) { return byteSize(static_cast<DataType>(type)); }
const char *elementTypeName(ElementType type) { return name(static_cast<DataType>(type)).data(); }

HostTensor::HostTensor(ElementType type, Shape dims) : type(type), shape(std::move(dims)) {
  bytes.resize(elements() * elementBytes(type));
}

size_t HostTensor::elements() const {
  size_t count = 1;
  for (int64_t extent : shape)
    count *= static_cast<size_t>(extent);
  return count;
}

static Status named(llvm::StringRef model, Status status) { return inModel(model, std::move(status)); }
template <typename T>
static Result<T> named(llvm::StringRef model, Result<T> result) {
  return result ? std::move(result) : Result<T>(inModel(model, result.status()));
}

/// Runs `body`, and turns what it throws into a status: the standard library reports only exhausted memory
/// that way. Faults of the user name the model.
template <typename Body>
static auto guarded(llvm::StringRef model, Body body) -> decltype(body()) {
  try {
    return named(model, body());
  } catch (const std::exception &) { // bad_alloc, or length_error of a container
    return inModel(model, {StatusCode::InvalidInput, "needs more memory than there is; use smaller shapes"});
  }
}

struct Session::Impl {
  Impl(std::unique_ptr<import::Model> model, SessionOptions options)
      : model(std::move(model)), options(std::move(options)), cache(this->options.cachedPrograms),
        pool(tk_pool_create(this->options.threads > 0 ? this->options.threads : tk_core_count())) {
    updateSignature();
  }
  ~Impl() {
    cache.clear();
    tk_pool_destroy(pool);
  }

  void updateSignature();
  Status bind(const ValueInfo &input, const HostTensor &value);
  /// Of the unbound inputs, in order; see resolveShapes.
  struct ConcreteShapes {
    std::vector<Shape> shapes;
    std::set<std::string> assumed;
  };
  llvm::Expected<ConcreteShapes> concreteShapes(std::map<std::string, Shape> given);
  llvm::Expected<std::shared_ptr<Program>> program(const ConcreteShapes &inputs,
                                                   llvm::ArrayRef<KnownValue> values);
  llvm::Expected<std::shared_ptr<Program>> compile(const ConcreteShapes &inputs,
                                                   llvm::ArrayRef<KnownValue> values);
  CompileOptions compileOptions(const ConcreteShapes &inputs, llvm::ArrayRef<KnownValue> values) const;
  struct Code {
    CompiledModel model;
    bool isCached = false; ///< it was in the folder of compiled programs
  };
  llvm::Expected<Code> code(const CompileOptions &compile);
  llvm::Error checkViews(llvm::StringRef role, llvm::ArrayRef<ValueInfo> declared,
                         std::span<const TensorView> views);

  std::unique_ptr<import::Model> model;
  SessionOptions options;
  std::map<std::string, Tensor> bound;
  std::vector<ValueInfo> inputs, optionalInputs, outputs;
  ProgramCache cache;
  std::mutex compiling; ///< one compilation at a time
  TkPool *pool;
};

void Session::Impl::updateSignature() {
  inputs = publicValues(model->signature().inputs, bound);
  optionalInputs = publicValues(model->signature().optionalInputs, bound);
  outputs = publicValues(model->signature().outputs);
}

llvm::Expected<Session::Impl::ConcreteShapes>
Session::Impl::concreteShapes(std::map<std::string, Shape> given) {
  for (const auto &[name, tensor] : bound)
    given.try_emplace(name, Shape(tensor.shape().begin(), tensor.shape().end()));
  auto resolved = resolveShapes(inputsWith(model->signature(), bound), given);
  if (!resolved)
    return resolved.takeError();
  ConcreteShapes concrete;
  for (const ValueInfo &input : inputs)
    concrete.shapes.push_back(resolved->shapes.at(input.name));
  concrete.assumed = std::move(resolved->assumed);
  return concrete;
}

CompileOptions Session::Impl::compileOptions(const ConcreteShapes &concrete,
                                             llvm::ArrayRef<KnownValue> values) const {
  const std::vector<Shape> &shapes = concrete.shapes;
  // A value on which a shape depends is short; longer ones need not be copied.
  constexpr size_t longestHint = 1 << 16;
  CompileOptions compile;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    compile.import.shapes[input.name] = shapes[i];
    if (values[i].known && values[i].bytes <= longestHint)
      compile.import.hints[input.name] = toTensor(input.type, shapes[i], values[i].data);
  }
  compile.import.bound = bound;
  compile.import.assumed = concrete.assumed;
  compile.fusion = options.fusion;
  compile.targetCpu = options.targetCpu;
  compile.targetDescription = options.targetDescription;
  compile.rules = options.rules;
  compile.trustRules = options.trustRules;
  compile.exact = options.exact;
  compile.forcedRewrites = options.forcedRewrites;
  compile.disabledPasses = options.disabledPasses;
  compile.fuel = options.fuel;
  compile.printAfterChange = options.printAfterChange;
  compile.timing = options.timing;
  compile.reproducerDirectory = options.reproducerDirectory;
  compile.onStage = options.onStage;
  compile.threads = options.threads;
  compile.predict = options.profile;
  return compile;
}

llvm::Expected<Session::Impl::Code> Session::Impl::code(const CompileOptions &compile) {
  std::optional<ProgramKey> key;
  if (!options.cacheDirectory.empty())
    key = programKey(*model, compile);
  ProgramFolder folder(options.cacheDirectory, options.cacheBytes);
  if (key) {
    if (std::optional<CompiledModel> kept = folder.find(*key, compile.import.hints))
      return Code{std::move(*kept), true};
  }
  llvm::Expected<CompiledModel> compiled = compileModel(*model, compile);
  if (!compiled)
    return compiled.takeError();
  if (key)
    *compiled = folder.insert(*key, compile.import.hints, std::move(*compiled));
  return Code{std::move(*compiled), false};
}

llvm::Expected<std::shared_ptr<Program>> Session::Impl::compile(const ConcreteShapes &concrete,
                                                                llvm::ArrayRef<KnownValue> values) {
  auto start = std::chrono::steady_clock::now();
  llvm::Expected<Code> code = this->code(compileOptions(concrete, values));
  if (!code)
    return code.takeError();

  llvm::SmallVector<size_t> specialized;
  for (const std::string &name : code->model.specialized) {
    for (auto [i, input] : llvm::enumerate(inputs)) {
      if (input.name == name)
        specialized.push_back(i);
    }
  }
  llvm::Expected<std::shared_ptr<Program>> program =
      Program::load(std::move(code->model), pool, options.profile);
  if (!program)
    return program.takeError();
  std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  (*program)->info().compileMs = elapsed.count();
  (*program)->info().cached = code->isCached;
  cache.insert(concrete.shapes, specialized, values, *program);
  return program;
}

llvm::Expected<std::shared_ptr<Program>> Session::Impl::program(const ConcreteShapes &concrete,
                                                                llvm::ArrayRef<KnownValue> values) {
  if (auto found = cache.find(concrete.shapes, values))
    return found;
  std::lock_guard<std::mutex> lock(compiling);
  if (auto found = cache.find(concrete.shapes, values)) // by the thread that held the lock
    return found;
  return compile(concrete, values);
}

/// Number, type and memory of the views; shapes are the callers' matter.
llvm::Error Session::Impl::checkViews(llvm::StringRef role, llvm::ArrayRef<ValueInfo> declared,
                                      std::span<const TensorView> views) {
  if (views.size() != declared.size())
    return inputFault("the model has " + llvm::Twine(declared.size()) + " " + role + "s, " +
                      llvm::Twine(views.size()) + " were given" + listNames(role.str() + "s", declared));
  for (auto [info, view] : llvm::zip(declared, views)) {
    if (view.type != info.type)
      return inputFault(role + " '" + info.name + "' is " + elementTypeName(info.type) + ", a tensor of " +
                        elementTypeName(view.type) + " was given");
    std::optional<int64_t> count =
        elementCount(llvm::ArrayRef<int64_t>(view.shape.data(), view.shape.size()), elementBytes(view.type));
    if (!count)
      return inputFault(role + " '" + info.name + "': shape " +
                        shapeText(llvm::ArrayRef<int64_t>(view.shape.data(), view.shape.size())) +
                        " has a negative extent or is too large");
    if (*count && !view.data)
      return llvm::make_error<Fault>(StatusCode::Misuse,
                                     (role + " '" + info.name + "': the data pointer is null").str());
  }
  return llvm::Error::success();
}

Status Session::Impl::bind(const ValueInfo &input, const HostTensor &value) {
  if (llvm::Error error = checkValue(input, value))
    return toStatus(std::move(error));
  // Against the other bound inputs, too: they share symbols.
  const std::string name = input.name; // which leaves the list below
  Tensor tensor = toTensor(value.type, value.shape, value.bytes.data());
  bound.emplace(name, std::move(tensor));
  if (auto shapes = concreteShapes({}); !shapes) {
    bound.erase(name);
    return toStatus(shapes.takeError());
  }
  updateSignature();
  cache.clear();
  return {};
}

std::string defaultCacheDirectory() { return cacheFile("programs"); }

Session::Session() = default;
Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::fromFile(const std::string &path, SessionOptions options) {
  return guarded(path, [&]() -> Result<std::unique_ptr<Session>> {
    auto model = import::Model::fromFile(path);
    if (!model)
      return toStatus(model.takeError());
    std::unique_ptr<Session> session(new Session);
    session->impl = std::make_unique<Impl>(std::move(*model), std::move(options));
    return session;
  });
}

Result<std::unique_ptr<Session>> Session::fromMemory(const void *data, size_t size, SessionOptions options,
                                                     const std::string &name) {
  return guarded(name, [&]() -> Result<std::unique_ptr<Session>> {
    if (!data && size)
      return Status{StatusCode::Misuse, "the model's data pointer is null"};
    auto model = import::Model::fromMemory(data, size, name);
    if (!model)
      return toStatus(model.takeError());
    std::unique_ptr<Session> session(new Session);
    session->impl = std::make_unique<Impl>(std::move(*model), std::move(options));
    return session;
  });
}

const std::vector<ValueInfo> &Session::inputs() const { return impl->inputs; }
const std::vector<ValueInfo> &Session::optionalInputs() const { return impl->optionalInputs; }
const std::vector<ValueInfo> &Session::outputs() const { return impl->outputs; }

Status Session::bind(const std::string &input, HostTensor value) {
  return guarded(impl->model->name(), [&]() -> Status {
    for (const std::vector<ValueInfo> *inputs : {&impl->inputs, &impl->optionalInputs})
      for (const ValueInfo &info : *inputs)
        if (info.name == input)
          return impl->bind(info, value);
    return {StatusCode::InvalidInput,
            "there is no input '" + input + "' to bind" + listNames("inputs", impl->inputs)};
  });
}

Result<ProgramInfo> Session::prepare(const std::map<std::string, Shape> &shapes,
                                     const std::vector<NamedTensor> &values) {
  return guarded(impl->model->name(), [&]() -> Result<ProgramInfo> {
    std::map<std::string, Shape> given = shapes;
    std::vector<KnownValue> known(impl->inputs.size());
    for (const NamedTensor &value : values) {
      auto input =
          llvm::find_if(impl->inputs, [&](const ValueInfo &info) { return info.name == value.name; });
      if (input == impl->inputs.end())
        return Status{StatusCode::InvalidInput,
                      "there is no input '" + value.name + "'" + listNames("inputs", impl->inputs)};
      if (llvm::Error error = checkValue(*input, value.tensor))
        return toStatus(std::move(error));
      auto [it, inserted] = given.insert({value.name, value.tensor.shape});
      if (!inserted && it->second != value.tensor.shape)
        return Status{StatusCode::InvalidInput, "input '" + value.name + "': its value has shape " +
                                                    shapeText(value.tensor.shape) + ", but " +
                                                    shapeText(it->second) + " was asked for"};
      known[static_cast<size_t>(input - impl->inputs.begin())] = {true, value.tensor.bytes.data(),
                                                                  value.tensor.bytes.size()};
    }
    auto concrete = impl->concreteShapes(given);
    if (!concrete)
      return toStatus(concrete.takeError());
    auto program = impl->program(*concrete, known);
    if (!program)
      return toStatus(program.takeError());
    return (*program)->info();
  });
}

Status Session::run(std::span<const TensorView> inputs, std::span<const TensorView> outputs) {
  return guarded(impl->model->name(), [&]() -> Status {
    if (llvm::Error error = impl->checkViews("input", impl->inputs, inputs))
      return toStatus(std::move(error));
    std::vector<Shape> shapes;
    llvm::SmallVector<KnownValue> known;
    llvm::SmallVector<void *> inputPointers, outputPointers;
    for (const TensorView &view : inputs) {
      shapes.emplace_back(view.shape.begin(), view.shape.end());
      size_t bytes = static_cast<size_t>(*elementCount(shapes.back(), elementBytes(view.type))) *
                     elementBytes(view.type);
      known.push_back({true, view.data, bytes});
      inputPointers.push_back(view.data);
    }
    std::shared_ptr<Program> program = impl->cache.find(shapes, known);
    if (!program) {
      std::map<std::string, Shape> given;
      for (auto [info, shape] : llvm::zip(impl->inputs, shapes))
        given[info.name] = shape;
      auto concrete = impl->concreteShapes(given);
      if (!concrete)
        return toStatus(concrete.takeError());
      auto compiled = impl->program(*concrete, known);
      if (!compiled)
        return toStatus(compiled.takeError());
      program = std::move(*compiled);
    }

    if (llvm::Error error = impl->checkViews("output", program->info().outputs, outputs))
      return toStatus(std::move(error));
    for (auto [info, view] : llvm::zip(program->info().outputs, outputs)) {
      llvm::ArrayRef<int64_t> shape(view.shape.data(), view.shape.size());
      if (shape != llvm::ArrayRef<int64_t>(info.shape))
        return {StatusCode::InvalidInput, "output '" + info.name + "' has shape " + shapeText(info.shape) +
                                              " for these inputs, the buffer given has " + shapeText(shape)};
      outputPointers.push_back(view.data);
    }
    if (int code = program->run(inputPointers.data(), outputPointers.data()))
      return {StatusCode::InvalidInput, program->error(code)};
    return {};
  });
}

std::vector<KernelTime> Session::kernelTimes() const {
  std::shared_ptr<Program> program = impl->cache.latest();
  return program ? program->kernelTimes() : std::vector<KernelTime>();
}

std::vector<KernelCall> Session::kernelCalls() const {
  std::shared_ptr<Program> program = impl->cache.latest();
  return program ? program->kernelCalls() : std::vector<KernelCall>();
}

void Session::resetKernelTimes() {
  if (std::shared_ptr<Program> program = impl->cache.latest())
    program->resetKernelTimes();
}

Result<std::vector<NamedTensor>> Session::run(const std::vector<NamedTensor> &inputs) {
  return guarded(impl->model->name(), [&]() -> Result<std::vector<NamedTensor>> {
    std::vector<TensorView> inputViews, outputViews;
    for (const NamedTensor &given : inputs) {
      if (llvm::none_of(impl->inputs, [&](const ValueInfo &info) { return info.name == given.name; }))
        return Status{StatusCode::InvalidInput,
                      "there is no input '" + given.name + "'" + listNames("inputs", impl->inputs)};
    }
    for (const ValueInfo &info : impl->inputs) {
      auto given = llvm::find_if(inputs, [&](const NamedTensor &tensor) { return tensor.name == info.name; });
      if (given == inputs.end())
        return Status{StatusCode::InvalidInput, "input '" + info.name + "' is missing"};
      if (llvm::Error error = checkValue(info, given->tensor))
        return toStatus(std::move(error));
      inputViews.push_back(
          {given->tensor.type, given->tensor.shape, const_cast<std::byte *>(given->tensor.bytes.data())});
    }
    Result<ProgramInfo> program = prepare({}, inputs);
    if (!program)
      return program.status();
    std::vector<NamedTensor> outputs;
    outputs.reserve(program->outputs.size());
    for (const ValueInfo &info : program->outputs) {
      outputs.push_back({info.name, HostTensor(info.type, info.shape)});
      HostTensor &tensor = outputs.back().tensor;
      outputViews.push_back({tensor.type, tensor.shape, tensor.bytes.data()});
    }
    if (Status status = run(inputViews, outputViews); !status.ok())
      return status;
    return outputs;
  });
}

} // namespace tokamak
