//===- Signature.cpp - inputs and outputs of a model, and their concrete shapes --------------===//
#include "import/ErrorLine.h"
#include "import/ModelFile.h"
#include "import/Weights.h"
#include "llvm/ADT/StringSet.h"

namespace tokamak::import {

static std::string kindOf(const onnx::TypeProto &type) {
  switch (type.value_case()) {
  case onnx::TypeProto::kSequenceType:
    return "a sequence";
  case onnx::TypeProto::kMapType:
    return "a map";
  case onnx::TypeProto::kOptionalType:
    return "an optional value";
  case onnx::TypeProto::kSparseTensorType:
    return "a sparse tensor";
  case onnx::TypeProto::kOpaqueType:
    return "an opaque value";
  default:
    return "undefined";
  }
}

/// The declared type and shape of a value. Dimensions without a name get one that no other dimension has.
static llvm::Expected<ModelSignature::Value> readValue(const ModelFile &file,
                                                       const onnx::ValueInfoProto &info, const char *role) {
  std::string place = std::string(role) + " '" + oneLine(info.name(), 120) + "'";
  if (!info.type().has_tensor_type())
    return errorLine(file.name, place, "is " + kindOf(info.type()) + "; only tensors can be compiled");
  const onnx::TypeProto_Tensor &tensor = info.type().tensor_type();
  std::optional<DataType> type = dataTypeOf(tensor.elem_type());
  if (!type)
    return errorLine(file.name, place,
                     "has elements of type " + onnxTypeName(tensor.elem_type()) +
                         ", which cannot be compiled; use a model without them");
  ModelSignature::Value value{info.name(), *type, {}, {}};
  value.ranked = tensor.has_shape();
  for (const onnx::TensorShapeProto_Dimension &dim : tensor.shape().dim()) {
    bool known = dim.has_dim_value() && dim.dim_value() >= 0;
    value.shape.push_back(known ? dim.dim_value() : -1);
    std::string anonymous = info.name() + "[" + std::to_string(value.symbols.size()) + "]";
    value.symbols.push_back(known ? "" : dim.dim_param().empty() ? anonymous : dim.dim_param());
  }
  return value;
}

llvm::Expected<ModelSignature> readSignature(const ModelFile &file) {
  ModelSignature signature;
  const onnx::GraphProto &graph = file.proto.graph();
  llvm::StringSet<> initializers;
  for (const onnx::TensorProto &initializer : graph.initializer())
    initializers.insert(initializer.name());
  for (const onnx::SparseTensorProto &initializer : graph.sparse_initializer())
    initializers.insert(initializer.values().name());
  for (const onnx::ValueInfoProto &input : graph.input()) {
    const bool isOptional = initializers.contains(input.name());
    llvm::Expected<ModelSignature::Value> value = readValue(file, input, "input");
    if (value)
      (isOptional ? signature.optionalInputs : signature.inputs).push_back(std::move(*value));
    else if (isOptional) // what it declares matters only where it is overridden
      llvm::consumeError(value.takeError());
    else
      return value.takeError();
  }
  for (const onnx::ValueInfoProto &output : graph.output()) {
    // The type of an output is a hint (it follows from the graph); some exporters leave it out.
    if (!output.has_type() || output.type().value_case() == onnx::TypeProto::VALUE_NOT_SET) {
      signature.outputs.push_back(
          {output.name(), DataType::Float32, {}, {}, /*ranked=*/false, /*typed=*/false});
      continue;
    }
    llvm::Expected<ModelSignature::Value> value = readValue(file, output, "output");
    if (!value)
      return value.takeError();
    signature.outputs.push_back(std::move(*value));
  }
  return signature;
}

namespace {

/// Numbers of symbolic dimensions, with the input that gave them, for messages.
class Symbols {
public:
  explicit Symbols(const ModelFile &file) : file(file) {}

  /// Matches the shape given for an input with its declaration and binds the symbols in it.
  llvm::Error bind(const ModelSignature::Value &input, llvm::ArrayRef<int64_t> shape) {
    std::string place = "input '" + oneLine(input.name, 120) + "'";
    for (int64_t extent : shape)
      if (extent < 0)
        return errorLine(file.name, place,
                         "was given the shape " + shapeText(shape) + "; extents cannot be negative");
    if (!input.ranked)
      return llvm::Error::success();
    if (shape.size() != input.shape.size())
      return errorLine(file.name, place,
                       "was given the shape " + shapeText(shape) + ", but has the shape " + declared(input) +
                           "; give " + llvm::Twine(input.shape.size()) + " extents");
    for (size_t i = 0; i < shape.size(); ++i) {
      if (input.shape[i] >= 0 && input.shape[i] != shape[i])
        return errorLine(file.name, place,
                         "was given the shape " + shapeText(shape) + ", but has the shape " +
                             declared(input) + "; axis " + llvm::Twine(i) + " must be " +
                             llvm::Twine(input.shape[i]));
      if (input.shape[i] >= 0)
        continue;
      auto [it, isNew] = bound.try_emplace(input.symbols[i], Binding{shape[i], input.name});
      if (!isNew && it->second.extent != shape[i])
        return errorLine(file.name, place,
                         "gives the dimension '" + oneLine(input.symbols[i], 60) + "' the extent " +
                             llvm::Twine(shape[i]) + ", but input '" + oneLine(it->second.input, 120) +
                             "' gave it " + llvm::Twine(it->second.extent) + "; give both the same");
    }
    return llvm::Error::success();
  }

  /// Symbols that no input's shape bound take 1.
  std::vector<int64_t> shapeOf(const ModelSignature::Value &input) const {
    std::vector<int64_t> shape = input.shape;
    for (size_t i = 0; i < shape.size(); ++i)
      if (shape[i] < 0) {
        auto it = bound.find(input.symbols[i]);
        shape[i] = it == bound.end() ? 1 : it->second.extent;
      }
    return shape;
  }

  bool hasUnbound(const ModelSignature::Value &input) const {
    return llvm::any_of(llvm::zip(input.shape, input.symbols), [&](const auto &dimension) {
      return std::get<0>(dimension) < 0 && !bound.count(std::get<1>(dimension));
    });
  }

  static std::string declared(const ModelSignature::Value &input) {
    std::string text = "[";
    for (size_t i = 0; i < input.shape.size(); ++i)
      text += (i ? ", " : "") +
              (input.shape[i] < 0 ? oneLine(input.symbols[i], 60) : std::to_string(input.shape[i]));
    return text + "]";
  }

private:
  struct Binding {
    int64_t extent;
    std::string input;
  };
  const ModelFile &file;
  llvm::StringMap<Binding> bound;
};

} // namespace

/// Every name that an option mentions must be among `inputs`.
template <class Map>
static llvm::Error checkNames(const ModelFile &file, llvm::ArrayRef<const ModelSignature::Value *> inputs,
                              const Map &options, const char *option) {
  for (const auto &[name, value] : options) {
    auto isNamed = [&name = name](const ModelSignature::Value *input) { return input->name == name; };
    if (llvm::any_of(inputs, isNamed))
      continue;
    std::string known;
    for (const ModelSignature::Value *input : inputs)
      known += (known.empty() ? "" : ", ") + oneLine(input->name, 60);
    return errorLine(file.name, "",
                     llvm::Twine(option) + " names '" + oneLine(name, 120) +
                         "', which is no input of the model; its inputs are: " +
                         (known.empty() ? "none" : oneLine(known)));
  }
  return llvm::Error::success();
}

llvm::Expected<InputShapes> bindShapes(const ModelFile &file, const ModelSignature &signature,
                                       const ImportOptions &options) {
  // Optional inputs count where they are bound.
  llvm::SmallVector<const ModelSignature::Value *> inputs;
  for (const ModelSignature::Value &input : signature.inputs)
    inputs.push_back(&input);
  for (const ModelSignature::Value &input : signature.optionalInputs)
    if (options.bound.count(input.name))
      inputs.push_back(&input);
  if (llvm::Error error = checkNames(file, inputs, options.shapes, "--shape"))
    return std::move(error);
  if (llvm::Error error = checkNames(file, inputs, options.bound, "--bind"))
    return std::move(error);

  Symbols symbols(file);
  std::vector<std::optional<std::vector<int64_t>>> given(inputs.size());
  for (auto [each, shape] : llvm::zip(inputs, given)) {
    const ModelSignature::Value &input = *each;
    auto take = [&, &shape = shape](llvm::ArrayRef<int64_t> candidate) -> llvm::Error {
      if (shape && candidate != llvm::ArrayRef(*shape))
        return errorLine(file.name, "input '" + oneLine(input.name, 120) + "'",
                         "was given a value of shape " + shapeText(candidate) + ", but --shape says " +
                             shapeText(*shape) + "; give both the same");
      shape = candidate.vec();
      return symbols.bind(input, candidate);
    };
    if (auto it = options.shapes.find(input.name); it != options.shapes.end())
      if (llvm::Error error = take(it->second))
        return std::move(error);
    for (const auto *values : {&options.bound, &options.hints}) {
      auto it = values->find(input.name);
      if (it == values->end())
        continue;
      if (it->second.type() != input.type)
        return errorLine(file.name, "input '" + oneLine(input.name, 120) + "'",
                         "was given a value of type " + name(it->second.type()) + ", but has type " +
                             name(input.type) + "; convert the value");
      // A single number fits an input of one element, whatever its rank.
      bool single = it->second.size() == 1 && input.ranked &&
                    llvm::all_of(input.shape, [](int64_t extent) { return extent == 1 || extent == -1; });
      std::vector<int64_t> one(input.shape.size(), 1);
      if (llvm::Error error =
              take(single && values == &options.bound ? llvm::ArrayRef<int64_t>(one) : it->second.shape()))
        return std::move(error);
    }
  }

  InputShapes result;
  for (auto [each, shape] : llvm::zip(inputs, given)) {
    const ModelSignature::Value &input = *each;
    if (!shape && !input.ranked)
      return errorLine(file.name, "input '" + oneLine(input.name, 120) + "'",
                       "has no declared rank; give its shape with --shape " + oneLine(input.name, 60) +
                           "=...");
    bool isAssumed = shape ? options.assumed.count(input.name) > 0 : symbols.hasUnbound(input);
    if (result.assumed.empty() && isAssumed)
      result.assumed = "; input '" + oneLine(input.name, 60) + "' " + Symbols::declared(input) +
                       " was taken as " + shapeText(shape ? *shape : symbols.shapeOf(input)) +
                       ", give its shape with --shape " + oneLine(input.name, 60) + "=...";
    result.shapes.push_back(shape ? *shape : symbols.shapeOf(input));
  }
  return result;
}

} // namespace tokamak::import
