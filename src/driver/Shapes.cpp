//===- Shapes.cpp - what a model declares against what it is given ------------------------===//
#include "driver/Shapes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>

namespace tokamak::driver {

std::string shapeText(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<std::string> symbols) {
  std::string text = "[";
  for (auto [i, extent] : llvm::enumerate(shape)) {
    text += i ? "," : "";
    if (extent >= 0)
      text += std::to_string(extent);
    else
      text += i < symbols.size() && !symbols[i].empty() ? symbols[i] : "?";
  }
  return text + "]";
}

std::optional<int64_t> elementCount(llvm::ArrayRef<int64_t> shape, size_t elementBytes) {
  int64_t count = 1, bytes;
  bool empty = llvm::is_contained(shape, 0);
  for (int64_t extent : shape) {
    if (extent < 0)
      return std::nullopt;
    if (!empty && __builtin_mul_overflow(count, extent, &count))
      return std::nullopt;
  }
  if (__builtin_mul_overflow(count, static_cast<int64_t>(elementBytes), &bytes))
    return std::nullopt;
  return empty ? 0 : count;
}

std::string listNames(llvm::StringRef what, llvm::ArrayRef<ValueInfo> values) {
  if (values.empty())
    return " (the model has no " + what.str() + ")";
  std::string text = " (" + what.str() + ": ";
  constexpr size_t limit = 20;
  for (auto [i, value] : llvm::enumerate(values.take_front(limit)))
    text += (i ? ", '" : "'") + value.name + "'";
  return text + (values.size() > limit ? ", ...)" : ")");
}

Status inModel(llvm::StringRef model, Status status) {
  if (status.code == StatusCode::InvalidInput && !llvm::StringRef(status.message).starts_with(model))
    status.message = model.str() + ": " + status.message;
  return status;
}

llvm::Expected<ResolvedShapes> resolveShapes(llvm::ArrayRef<ValueInfo> inputs,
                                             const std::map<std::string, Shape> &given) {
  for (const auto &[name, shape] : given) {
    if (llvm::none_of(inputs, [&, &name = name](const ValueInfo &input) { return input.name == name; }))
      return inputFault("there is no input '" + name + "'" + listNames("inputs", inputs));
  }
  // Given shapes bind symbols; the first input to bind one is kept for the message about a conflict.
  std::map<std::string, std::pair<int64_t, std::string>> bound;
  for (const ValueInfo &input : inputs) {
    auto it = given.find(input.name);
    if (it == given.end())
      continue;
    const Shape &shape = it->second;
    std::string both = "input '" + input.name + "': shape " + shapeText(shape) +
                       " does not fit the model's " + shapeText(input.shape, input.symbols);
    if (shape.size() != input.shape.size() && input.hasRank)
      return inputFault(both + ": it has rank " + llvm::Twine(shape.size()) + ", not " +
                        llvm::Twine(input.shape.size()));
    for (auto [axis, extent] : llvm::enumerate(shape)) {
      if (extent < 0)
        return inputFault("input '" + input.name + "': extent " + llvm::Twine(extent) + " in shape " +
                          shapeText(shape) + " is negative");
      if (!input.hasRank)
        continue;
      if (input.shape[axis] >= 0 && input.shape[axis] != extent)
        return inputFault(both + ": axis " + llvm::Twine(axis) + " must be " +
                          llvm::Twine(input.shape[axis]));
      const std::string &symbol = input.symbols[axis];
      if (symbol.empty())
        continue;
      auto [entry, inserted] = bound.insert({symbol, {extent, input.name}});
      if (!inserted && entry->second.first != extent)
        return inputFault("input '" + input.name + "': axis " + llvm::Twine(axis) + " ('" + symbol +
                          "') is " + llvm::Twine(extent) + ", but '" + entry->second.second + "' makes '" +
                          symbol + "' " + llvm::Twine(entry->second.first) + "; give both the same");
    }
  }

  ResolvedShapes resolved;
  for (const ValueInfo &input : inputs) {
    auto it = given.find(input.name);
    if (it == given.end() && !input.hasRank)
      return inputFault("the model does not say what rank input '" + input.name +
                        "' has; give its shape by --shape " + input.name + "=...");
    Shape shape = it != given.end() ? it->second : input.shape;
    for (auto [axis, extent] : llvm::enumerate(shape)) {
      if (extent >= 0)
        continue;
      auto entry = bound.find(input.symbols[axis]);
      extent = entry != bound.end() ? entry->second.first : 1;
      if (entry == bound.end())
        resolved.assumed.insert(input.name);
    }
    if (!elementCount(shape, elementBytes(input.type)))
      return inputFault("input '" + input.name + "': shape " + shapeText(shape) + " is too large");
    resolved.shapes[input.name] = std::move(shape);
  }
  return resolved;
}

std::vector<ValueInfo> inputsWith(const import::ModelSignature &signature,
                                  const std::map<std::string, Tensor> &bound) {
  std::vector<ValueInfo> inputs = publicValues(signature.inputs);
  for (ValueInfo &optional : publicValues(signature.optionalInputs)) {
    if (bound.count(optional.name))
      inputs.push_back(std::move(optional));
  }
  return inputs;
}

std::vector<ValueInfo> publicValues(llvm::ArrayRef<import::ModelSignature::Value> declared,
                                    const std::map<std::string, Tensor> &bound) {
  std::vector<ValueInfo> infos;
  for (const auto &value : declared) {
    if (!bound.count(value.name))
      infos.push_back(
          {value.name, static_cast<ElementType>(value.type), value.ranked, value.shape, value.symbols});
  }
  return infos;
}

llvm::Error checkValue(const ValueInfo &input, const HostTensor &value) {
  if (value.type != input.type)
    return inputFault("input '" + input.name + "' is " + elementTypeName(input.type) + ", not " +
                      elementTypeName(value.type));
  std::optional<int64_t> count = elementCount(value.shape, elementBytes(value.type));
  if (!count || value.bytes.size() != static_cast<size_t>(*count) * elementBytes(value.type))
    return llvm::make_error<Fault>(StatusCode::Misuse, "input '" + input.name + "': shape " +
                                                           shapeText(value.shape) + " does not fit its " +
                                                           std::to_string(value.bytes.size()) + " bytes");
  return llvm::Error::success();
}

Tensor toTensor(ElementType type, llvm::ArrayRef<int64_t> shape, const void *bytes) {
  Tensor tensor(static_cast<DataType>(type), shape);
  if (tensor.byteCount())
    std::memcpy(tensor.mutableBytes(), bytes, tensor.byteCount());
  return tensor;
}

} // namespace tokamak::driver
