//===- Arguments.cpp - NAME=VALUE arguments of the command ----------------------------------===//
#include "Arguments.h"
#include "Npy.h"
#include "driver/Shapes.h"
#include "ir/Tensor.h"
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace tokamak::tool {

static Status wrongUse(std::string message) { return {StatusCode::Misuse, std::move(message)}; }

Result<std::pair<std::string, std::string>> splitAssignment(const std::string &option,
                                                            const std::string &argument,
                                                            const std::vector<ValueInfo> &inputs) {
  for (size_t at = argument.rfind('='); at != std::string::npos; at = at ? argument.rfind('=', at - 1) : at) {
    std::string name = argument.substr(0, at);
    if (std::any_of(inputs.begin(), inputs.end(), [&](const ValueInfo &input) { return input.name == name; }))
      return std::pair(name, argument.substr(at + 1));
    if (at == 0)
      break;
  }
  size_t first = argument.find('=');
  if (first == std::string::npos)
    return wrongUse(option + " " + argument + ": write NAME=VALUE");
  return Status{StatusCode::InvalidInput, option + " " + argument + ": there is no input '" +
                                              argument.substr(0, first) + "'" +
                                              driver::listNames("inputs", inputs)};
}

Result<Shape> parseShape(const std::string &argument, const std::string &text) {
  Shape shape;
  for (size_t begin = 0; !text.empty() && begin <= text.size();) {
    size_t end = std::min(text.find('x', begin), text.size());
    std::string extent = text.substr(begin, end - begin);
    errno = 0;
    bool digits = !extent.empty() && extent.find_first_not_of("0123456789") == std::string::npos;
    int64_t value = digits ? std::strtoll(extent.c_str(), nullptr, 10) : -1;
    if (!digits || errno)
      return wrongUse("--shape " + argument + ": '" + extent +
                      "' is no extent; write NAME=1x3x224x224 (NAME= for rank 0)");
    shape.push_back(value);
    begin = end + 1;
  }
  return shape;
}

/// Stores the number that `text` spells as element `i`; false if it is none, or not one of the element type.
static bool storeNumber(Tensor &tensor, int64_t i, std::string text) {
  while (!text.empty() && text.front() == ' ')
    text.erase(0, 1);
  while (!text.empty() && text.back() == ' ')
    text.pop_back();
  if (text.empty())
    return false;
  char *end = nullptr;
  errno = 0;
  if (isFloat(tensor.type())) {
    double value = std::strtod(text.c_str(), &end);
    tensor.setDouble(i, value);
    return *end == '\0';
  }
  if (tensor.type() == DataType::Bool) {
    bool isTrue = text == "true" || text == "1";
    tensor.setInt(i, isTrue);
    return isTrue || text == "false" || text == "0";
  }
  if (tensor.type() == DataType::UInt64) {
    tensor.setInt(i, static_cast<int64_t>(std::strtoull(text.c_str(), &end, 10)));
    return *end == '\0' && !errno && text[0] != '-';
  }
  int64_t value = std::strtoll(text.c_str(), &end, 10);
  tensor.setInt(i, value);
  return *end == '\0' && !errno && tensor.intAt(i) == value;
}

/// The shape of `count` listed numbers for `input`; nothing where they do not fit.
static std::optional<Shape> listShape(const ValueInfo &input, int64_t count, bool isList) {
  if (!input.hasRank)
    return isList ? Shape{count} : Shape{};
  Shape shape = input.shape;
  int64_t known = 1;
  for (int64_t extent : shape)
    known *= extent < 0 ? 1 : extent;
  auto symbolic = std::count_if(shape.begin(), shape.end(), [](int64_t extent) { return extent < 0; });
  if (count != known && (symbolic != 1 || known == 0 || count % known != 0))
    return std::nullopt;
  for (int64_t &extent : shape) {
    if (extent < 0)
      extent = symbolic == 1 ? count / known : 1;
  }
  return shape;
}

Result<HostTensor> parseValue(const std::string &argument, const std::string &text, const ValueInfo &input) {
  if (text.ends_with(".npy"))
    return readNpy(text);
  std::vector<std::string> words;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  std::optional<Shape> shape = listShape(input, static_cast<int64_t>(words.size()), words.size() > 1);
  if (!shape)
    return Status{StatusCode::InvalidInput, "--bind " + argument + ": " + std::to_string(words.size()) +
                                                " numbers do not fill the shape " +
                                                driver::shapeText(input.shape, input.symbols) +
                                                "; give a .npy file"};
  Tensor tensor(static_cast<DataType>(input.type), *shape);
  for (size_t i = 0; i < words.size(); ++i) {
    if (!storeNumber(tensor, static_cast<int64_t>(i), words[i]))
      return Status{StatusCode::InvalidInput,
                    "--bind " + argument + ": '" + words[i] + "' is no " + elementTypeName(input.type) +
                        "; give a number, a list 1,2,3 or a file that ends in .npy"};
  }
  HostTensor result(input.type, *shape);
  if (!result.bytes.empty())
    std::memcpy(result.bytes.data(), tensor.bytes(), result.bytes.size());
  return result;
}

/// Splits each argument and calls `parse` with the input's name, the right side and the input; refuses a name
/// given twice.
template <typename T, typename Parse>
static Result<std::vector<std::pair<std::string, T>>>
parseAll(const std::string &option, const std::vector<std::string> &arguments,
         const std::vector<ValueInfo> &inputs, Parse parse) {
  std::vector<std::pair<std::string, T>> result;
  for (const std::string &argument : arguments) {
    auto split = splitAssignment(option, argument, inputs);
    if (!split)
      return split.status();
    const auto &[name, text] = *split;
    if (std::any_of(result.begin(), result.end(),
                    [&, &name = name](const auto &entry) { return entry.first == name; }))
      return wrongUse(option + " gives '" + name + "' twice");
    auto input = std::find_if(inputs.begin(), inputs.end(),
                              [&, &name = name](const ValueInfo &info) { return info.name == name; });
    Result<T> value = parse(argument, text, *input);
    if (!value)
      return value.status();
    result.emplace_back(name, std::move(*value));
  }
  return result;
}

Result<std::map<std::string, Shape>> parseShapes(const std::vector<std::string> &arguments,
                                                 const std::vector<ValueInfo> &inputs) {
  auto parsed = parseAll<Shape>("--shape", arguments, inputs,
                                [](const std::string &argument, const std::string &text, const ValueInfo &) {
                                  return parseShape(argument, text);
                                });
  if (!parsed)
    return parsed.status();
  return std::map<std::string, Shape>(parsed->begin(), parsed->end());
}

static Result<std::vector<NamedTensor>>
named(Result<std::vector<std::pair<std::string, HostTensor>>> parsed) {
  if (!parsed)
    return parsed.status();
  std::vector<NamedTensor> result;
  for (auto &[name, tensor] : *parsed)
    result.push_back({name, std::move(tensor)});
  return result;
}

Result<std::vector<NamedTensor>> parseBindings(const std::vector<std::string> &arguments,
                                               const std::vector<ValueInfo> &inputs) {
  return named(parseAll<HostTensor>("--bind", arguments, inputs, parseValue));
}

Result<std::vector<NamedTensor>> readInputs(const std::vector<std::string> &arguments,
                                            const std::vector<ValueInfo> &inputs) {
  return named(parseAll<HostTensor>(
      "--input", arguments, inputs,
      [](const std::string &, const std::string &text, const ValueInfo &input) -> Result<HostTensor> {
        Result<HostTensor> tensor = readNpy(text);
        if (tensor && tensor->type != input.type)
          return Status{StatusCode::InvalidInput, text + ": holds " + elementTypeName(tensor->type) +
                                                      ", input '" + input.name + "' is " +
                                                      elementTypeName(input.type)};
        return tensor;
      }));
}

void bindOptional(const std::vector<ValueInfo> &optional, std::vector<NamedTensor> &values,
                  std::vector<NamedTensor> &bindings) {
  auto isRequired = [&](const NamedTensor &value) {
    return std::none_of(optional.begin(), optional.end(),
                        [&](const ValueInfo &info) { return info.name == value.name; });
  };
  auto overrides = std::partition(values.begin(), values.end(), isRequired);
  std::move(overrides, values.end(), std::back_inserter(bindings));
  values.erase(overrides, values.end());
}

} // namespace tokamak::tool
