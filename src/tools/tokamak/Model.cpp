//===- Model.cpp - a model on its way to code, without a session -------------------------------===//
#include "Model.h"
#include "Arguments.h"
#include "driver/Shapes.h"
#include <algorithm>

namespace tokamak::tool {

static Result<LoadedModel> load(const ModelOptions &options, const std::vector<std::string> &files) {
  auto model = import::Model::fromFile(options.model);
  if (!model)
    return driver::toStatus(model.takeError());
  LoadedModel loaded{std::move(*model), {}, {}};
  const import::ModelSignature &signature = loaded.model->signature();
  const std::vector<ValueInfo> inputs = driver::publicValues(signature.inputs),
                               optional = driver::publicValues(signature.optionalInputs);
  std::vector<ValueInfo> all = inputs;
  all.insert(all.end(), optional.begin(), optional.end());
  auto bindings = parseBindings(options.bindings, all);
  if (!bindings)
    return bindings.status();
  auto shapes = parseShapes(options.shapes, inputs);
  if (!shapes)
    return shapes.status();

  auto values = readInputs(files, all);
  if (!values)
    return values.status();
  bindOptional(optional, *values, *bindings);
  driver::CompileOptions &compile = loaded.options;
  std::map<std::string, Shape> given = *shapes;
  for (const NamedTensor &value : *values) {
    auto [entry, inserted] = given.insert({value.name, value.tensor.shape});
    if (!inserted && entry->second != value.tensor.shape)
      return Status{StatusCode::InvalidInput, "input '" + value.name + "': its value has shape " +
                                                  driver::shapeText(value.tensor.shape) +
                                                  ", but --shape says " + driver::shapeText(entry->second)};
  }
  loaded.values = std::move(*values);
  for (const NamedTensor &binding : *bindings) {
    auto input = std::find_if(all.begin(), all.end(),
                              [&](const ValueInfo &info) { return info.name == binding.name; });
    if (llvm::Error error = driver::checkValue(*input, binding.tensor))
      return driver::toStatus(std::move(error));
    auto [entry, inserted] = given.insert({binding.name, binding.tensor.shape});
    if (!inserted && entry->second != binding.tensor.shape)
      return Status{StatusCode::InvalidInput, "input '" + binding.name + "' is bound to a value of shape " +
                                                  driver::shapeText(binding.tensor.shape) +
                                                  ", but --shape says " + driver::shapeText(entry->second)};
    compile.import.bound[binding.name] =
        driver::toTensor(binding.tensor.type, binding.tensor.shape, binding.tensor.bytes.data());
  }
  auto resolved = driver::resolveShapes(driver::inputsWith(signature, compile.import.bound), given);
  if (!resolved)
    return driver::toStatus(resolved.takeError());
  for (auto &[name, shape] : resolved->shapes) {
    if (!compile.import.bound.count(name))
      compile.import.shapes[name] = std::move(shape);
  }
  compile.import.assumed = std::move(resolved->assumed);
  compile.fusion = options.fusionMode();
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
  compile.reproducerDirectory = ".";
  return loaded;
}

Result<LoadedModel> loadModel(const ModelOptions &options, const std::vector<std::string> &files) {
  if (Status status = options.check(); !status.ok())
    return status;
  Result<LoadedModel> loaded = load(options, files);
  return loaded ? std::move(loaded) : driver::inModel(options.model, loaded.status());
}

} // namespace tokamak::tool
