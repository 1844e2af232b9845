//===- Model.cpp - a model on its way to code, without a session -------------------------------===//
#include "Model.h"
#include "Arguments.h"
#include "driver/Shapes.h"
#include <algorithm>

namespace tokamak::tool {

Result<LoadedModel> loadModel(const ModelOptions &options, const std::vector<std::string> &files) {
  auto model = import::Model::fromFile(options.model);
  if (!model)
    return driver::toStatus(model.takeError());
  LoadedModel loaded{std::move(*model), {}, {}};
  std::vector<ValueInfo> inputs = driver::publicValues(loaded.model->signature().inputs);
  auto bindings = parseBindings(options.bindings, inputs);
  if (!bindings)
    return bindings.status();
  auto shapes = parseShapes(options.shapes, inputs);
  if (!shapes)
    return shapes.status();

  auto values = readInputs(files, inputs);
  if (!values)
    return values.status();
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
    auto input = std::find_if(inputs.begin(), inputs.end(),
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
  auto resolved = driver::resolveShapes(inputs, given);
  if (!resolved)
    return driver::toStatus(resolved.takeError());
  for (auto &[name, shape] : *resolved) {
    if (!compile.import.bound.count(name))
      compile.import.shapes[name] = std::move(shape);
  }
  compile.fusion = options.fusionMode();
  compile.targetCpu = options.targetCpu;
  compile.targetDescription = options.targetDescription;
  compile.rules = options.rules;
  compile.trustRules = options.trustRules;
  compile.disabledPasses = options.disabledPasses;
  compile.fuel = options.fuel;
  compile.printAfterChange = options.printAfterChange;
  compile.timing = options.timing;
  compile.reproducerDirectory = ".";
  return loaded;
}

} // namespace tokamak::tool
