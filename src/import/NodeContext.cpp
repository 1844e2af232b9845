//===- NodeContext.cpp - inputs and attributes of one ONNX node ----------------------------===//
#include "import/NodeContext.h"
#include "mlir/IR/BuiltinOps.h"
#include "onnx/onnx_pb.h"

namespace tokamak::import {

llvm::StringRef NodeContext::opType() const { return proto.op_type(); }

void NodeContext::takesInputs(int64_t most) const {
  if (inputCount() > most)
    throw ImportFault{"has " + std::to_string(inputCount()) + " inputs, but the operator takes " +
                      std::to_string(most) + " at most; the file is damaged or was exported wrongly"};
}

Value NodeContext::anyInput(int64_t i) const {
  if (!has(i))
    throw ImportFault{"input " + std::to_string(i) + " is missing, but the operator requires it"};
  return inputs[i];
}

Value NodeContext::input(int64_t i) const {
  Value value = anyInput(i);
  if (!isTensor(value))
    throw ImportFault{"input " + std::to_string(i) + " is a sequence of tensors, but must be a tensor"};
  return value;
}

Values NodeContext::sequence(int64_t i) const {
  auto elements = anyInput(i).getDefiningOp<mlir::UnrealizedConversionCastOp>();
  if (!elements)
    throw ImportFault{"input " + std::to_string(i) +
                      " must be a sequence of tensors that is known while compiling"};
  return Values(elements.getInputs());
}

Value makeSequence(Body &b, ValueRange tensors) {
  mlir::Type type = mlir::TupleType::get(b.builder.getContext(), llvm::to_vector(tensors.getTypes()));
  return b.builder.create<mlir::UnrealizedConversionCastOp>(b.loc, type, tensors).getResult(0);
}

void requireTensors(ValueRange values, llvm::StringRef what) {
  for (Value value : values)
    if (!isTensor(value))
      throw ImportFault{(what + " must be tensors, but one is a sequence").str()};
}

int64_t NodeContext::outputCount() const { return proto.output_size(); }
bool NodeContext::wantsOutput(int64_t i) const { return i < proto.output_size() && !proto.output(i).empty(); }

//===----------------------------------------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------------------------------------===//

/// The attribute of that name and type, or null where absent. Files before IR version 2 leave the type out.
static const onnx::AttributeProto *findAttr(const onnx::NodeProto &node, llvm::StringRef name,
                                            onnx::AttributeProto::AttributeType type, const char *typeName) {
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.name() != name)
      continue;
    if (attribute.type() != type && attribute.type() != onnx::AttributeProto::UNDEFINED)
      throw ImportFault{("attribute '" + name + "' must be " + typeName).str()};
    return &attribute;
  }
  return nullptr;
}

bool NodeContext::hasAttr(llvm::StringRef name) const {
  return llvm::any_of(proto.attribute(), [&](const auto &attribute) { return attribute.name() == name; });
}

int64_t NodeContext::intAttr(llvm::StringRef name, int64_t fallback) const {
  const onnx::AttributeProto *attribute = findAttr(proto, name, onnx::AttributeProto::INT, "an integer");
  return attribute ? attribute->i() : fallback;
}

bool NodeContext::choiceAttr(llvm::StringRef name) const {
  int64_t value = intAttr(name, 0);
  if (value != 0 && value != 1)
    throw ImportFault{("attribute " + name + " is " + llvm::Twine(value) + "; it must be 0 or 1").str()};
  return value == 1;
}

double NodeContext::floatAttr(llvm::StringRef name, double fallback) const {
  const onnx::AttributeProto *attribute = findAttr(proto, name, onnx::AttributeProto::FLOAT, "a float");
  return attribute ? attribute->f() : fallback;
}

std::string NodeContext::stringAttr(llvm::StringRef name, llvm::StringRef fallback) const {
  const onnx::AttributeProto *attribute = findAttr(proto, name, onnx::AttributeProto::STRING, "a string");
  return attribute ? attribute->s() : fallback.str();
}

std::optional<llvm::SmallVector<int64_t>> NodeContext::intsAttr(llvm::StringRef name) const {
  const onnx::AttributeProto *attribute =
      findAttr(proto, name, onnx::AttributeProto::INTS, "a list of integers");
  if (!attribute)
    return std::nullopt;
  return llvm::SmallVector<int64_t>(attribute->ints().begin(), attribute->ints().end());
}

std::optional<llvm::SmallVector<double>> NodeContext::floatsAttr(llvm::StringRef name) const {
  const onnx::AttributeProto *attribute =
      findAttr(proto, name, onnx::AttributeProto::FLOATS, "a list of floats");
  if (!attribute)
    return std::nullopt;
  return llvm::SmallVector<double>(attribute->floats().begin(), attribute->floats().end());
}

std::optional<std::vector<std::string>> NodeContext::stringsAttr(llvm::StringRef name) const {
  const onnx::AttributeProto *attribute =
      findAttr(proto, name, onnx::AttributeProto::STRINGS, "a list of strings");
  if (!attribute)
    return std::nullopt;
  return std::vector<std::string>(attribute->strings().begin(), attribute->strings().end());
}

} // namespace tokamak::import
