//===- ModelBuilder.cpp - ONNX models for tests, and what the importer makes of them ---------===//
#include "ModelBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "reference/Evaluate.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <gtest/gtest.h>

namespace tokamak::test {

GraphBuilder &GraphBuilder::input(const std::string &name, const Dims &shape, DataType type) {
  onnx::ValueInfoProto &info = *graph.add_input();
  info.set_name(name);
  onnx::TypeProto_Tensor &tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(static_cast<int>(type));
  tensor.mutable_shape();
  for (const Dim &dim : shape) {
    auto &proto = *tensor.mutable_shape()->add_dim();
    if (const int64_t *number = std::get_if<int64_t>(&dim))
      proto.set_dim_value(*number);
    else if (!std::get<std::string>(dim).empty())
      proto.set_dim_param(std::get<std::string>(dim));
  }
  return *this;
}

GraphBuilder &GraphBuilder::output(const std::string &name) {
  graph.add_output()->set_name(name);
  return *this;
}

void fill(onnx::TensorProto &proto, const Tensor &tensor) {
  proto.set_data_type(static_cast<int>(tensor.type()));
  for (int64_t extent : tensor.shape())
    proto.add_dims(extent);
  proto.set_raw_data(tensor.bytes(), tensor.byteCount());
}

GraphBuilder &GraphBuilder::initializer(const std::string &name, const Tensor &tensor) {
  onnx::TensorProto &proto = *graph.add_initializer();
  proto.set_name(name);
  fill(proto, tensor);
  return *this;
}

template <class Owner>
static onnx::NodeProto &makeNode(Owner &owner, const std::string &opType, const Names &inputs,
                                 const Names &outputs) {
  onnx::NodeProto &node = *owner.add_node();
  node.set_op_type(opType);
  for (const std::string &input : inputs)
    node.add_input(input);
  for (const std::string &output : outputs)
    node.add_output(output);
  return node;
}

onnx::NodeProto &GraphBuilder::node(const std::string &opType, const Names &inputs, const Names &outputs,
                                    const std::string &name) {
  onnx::NodeProto &node = makeNode(graph, opType, inputs, outputs);
  if (!name.empty())
    node.set_name(name);
  return node;
}

onnx::NodeProto &addNode(onnx::FunctionProto &function, const std::string &opType, const Names &inputs,
                         const Names &outputs) {
  return makeNode(function, opType, inputs, outputs);
}

ModelBuilder::ModelBuilder(std::shared_ptr<onnx::ModelProto> model)
    : GraphBuilder(*model->mutable_graph()), model(std::move(model)) {}

ModelBuilder::ModelBuilder(int64_t opset) : ModelBuilder(std::make_shared<onnx::ModelProto>()) {
  model->set_ir_version(8);
  model->add_opset_import()->set_version(opset);
  graph.set_name("main");
}

onnx::FunctionProto &ModelBuilder::function(const std::string &domain, const std::string &name,
                                            const Names &inputs, const Names &outputs) {
  onnx::FunctionProto &function = *model->add_functions();
  function.set_domain(domain);
  function.set_name(name);
  for (const std::string &input : inputs)
    function.add_input(input);
  for (const std::string &output : outputs)
    function.add_output(output);
  function.add_opset_import()->set_version(17);
  return function;
}

static onnx::AttributeProto &makeAttr(onnx::NodeProto &node, const std::string &name,
                                      onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto &attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

onnx::AttributeProto &addAttr(onnx::NodeProto &node, const std::string &name, int64_t value) {
  onnx::AttributeProto &attribute = makeAttr(node, name, onnx::AttributeProto::INT);
  attribute.set_i(value);
  return attribute;
}
onnx::AttributeProto &addAttr(onnx::NodeProto &node, const std::string &name, double value) {
  onnx::AttributeProto &attribute = makeAttr(node, name, onnx::AttributeProto::FLOAT);
  attribute.set_f(static_cast<float>(value));
  return attribute;
}
onnx::AttributeProto &addAttr(onnx::NodeProto &node, const std::string &name, const std::string &value) {
  onnx::AttributeProto &attribute = makeAttr(node, name, onnx::AttributeProto::STRING);
  attribute.set_s(value);
  return attribute;
}
onnx::AttributeProto &addAttr(onnx::NodeProto &node, const std::string &name,
                              const std::vector<int64_t> &values) {
  onnx::AttributeProto &attribute = makeAttr(node, name, onnx::AttributeProto::INTS);
  for (int64_t value : values)
    attribute.add_ints(value);
  return attribute;
}
onnx::AttributeProto &addAttr(onnx::NodeProto &node, const std::string &name,
                              const std::vector<double> &values) {
  onnx::AttributeProto &attribute = makeAttr(node, name, onnx::AttributeProto::FLOATS);
  for (double value : values)
    attribute.add_floats(static_cast<float>(value));
  return attribute;
}
onnx::AttributeProto &addAttr(onnx::NodeProto &node, const std::string &name, const Names &values) {
  onnx::AttributeProto &attribute = makeAttr(node, name, onnx::AttributeProto::STRINGS);
  for (const std::string &value : values)
    attribute.add_strings(value);
  return attribute;
}
onnx::AttributeProto &addAttr(onnx::NodeProto &node, const std::string &name, const Tensor &value) {
  onnx::AttributeProto &attribute = makeAttr(node, name, onnx::AttributeProto::TENSOR);
  fill(*attribute.mutable_t(), value);
  return attribute;
}
GraphBuilder addGraph(onnx::NodeProto &node, const std::string &name) {
  return GraphBuilder(*makeAttr(node, name, onnx::AttributeProto::GRAPH).mutable_g());
}
void addReference(onnx::NodeProto &node, const std::string &name, const std::string &source,
                  onnx::AttributeProto::AttributeType type) {
  makeAttr(node, name, type).set_ref_attr_name(source);
}

Tensor floats(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> values, DataType type) {
  Tensor tensor(type, shape);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.setDouble(i, values[i]);
  return tensor;
}
Tensor ints(llvm::ArrayRef<int64_t> values) { return Tensor::fromInts(values); }
Tensor boolean(bool value) { return Tensor::scalarInt(DataType::Bool, value); }

//===----------------------------------------------------------------------------------------------------===//
// Importing
//===----------------------------------------------------------------------------------------------------===//

std::string importError(const std::string &bytes, const import::ImportOptions &options) {
  auto lineOf = [](llvm::Error error) {
    std::string line = llvm::toString(std::move(error));
    EXPECT_EQ(line.find_first_of("\n\r"), std::string::npos) << line;
    EXPECT_EQ(line.rfind("test.onnx: ", 0), 0u) << line;
    return line;
  };
  auto model = import::Model::fromMemory(bytes.data(), bytes.size(), "test.onnx");
  if (!model)
    return lineOf(model.takeError());
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto imported = (*model)->import(context, options);
  if (!imported)
    return lineOf(imported.takeError());
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*imported->module)));
  return "";
}

std::string importError(const ModelBuilder &model, const import::ImportOptions &options) {
  return importError(model.bytes(), options);
}

std::vector<Tensor> evaluate(const ModelBuilder &builder, const Inputs &inputs, bool hinted) {
  std::string bytes = builder.bytes();
  auto model = import::Model::fromMemory(bytes.data(), bytes.size(), "test.onnx");
  if (!model) {
    ADD_FAILURE() << llvm::toString(model.takeError());
    return {};
  }
  import::ImportOptions options;
  for (const auto &[name, tensor] : inputs)
    options.shapes[name] = tensor.shape().vec();
  if (hinted)
    options.hints = inputs;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto imported = (*model)->import(context, options);
  if (!imported) {
    ADD_FAILURE() << llvm::toString(imported.takeError());
    return {};
  }
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*imported->module)));
  auto func = *imported->module->getOps<mlir::func::FuncOp>().begin();
  std::vector<Tensor> arguments;
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    auto name = func.getArgAttrOfType<mlir::StringAttr>(i, "tk.name");
    arguments.push_back(inputs.at(name.str()));
  }
  auto results = reference::evaluateFunction(func, arguments);
  if (mlir::failed(results)) {
    ADD_FAILURE() << "evaluation failed";
    return {};
  }
  return {results->begin(), results->end()};
}

std::string importedText(const ModelBuilder &builder, const import::ImportOptions &options) {
  std::string bytes = builder.bytes(), text;
  auto model = import::Model::fromMemory(bytes.data(), bytes.size(), "test.onnx");
  if (!model)
    return llvm::toString(model.takeError());
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto imported = (*model)->import(context, options);
  if (!imported)
    return llvm::toString(imported.takeError());
  llvm::raw_string_ostream(text) << *imported->module;
  return text;
}

int64_t count(const std::string &text, const std::string &name) {
  int64_t found = 0;
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    char next = at + name.size() < text.size() ? text[at + name.size()] : ' ';
    found += !std::isalnum(static_cast<unsigned char>(next)) && next != '_';
  }
  return found;
}

void expectTensor(const Tensor &tensor, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> values,
                  double tolerance) {
  ASSERT_EQ(tensor.shape().vec(), shape.vec());
  ASSERT_EQ(tensor.size(), static_cast<int64_t>(values.size()));
  for (int64_t i = 0; i < tensor.size(); ++i)
    if (std::isnan(values[i]))
      EXPECT_TRUE(std::isnan(tensor.doubleAt(i))) << "element " << i;
    else if (std::isinf(values[i]))
      EXPECT_EQ(tensor.doubleAt(i), values[i]) << "element " << i;
    else
      EXPECT_NEAR(tensor.doubleAt(i), values[i], tolerance * std::max(1.0, std::abs(values[i])))
          << "element " << i;
}

} // namespace tokamak::test
