//===- ModelMutator.cpp - changes models where bytes alone rarely would -----------------------===//
#include "ModelMutator.h"
#include <algorithm>
#include <limits>

namespace tokamak::import {

ModelMutator::Seen &ModelMutator::seen() {
  static Seen seen;
  return seen;
}

void ModelMutator::mutate() {
  remember(model.graph());
  // A change often is one of several kinds that only bite together.
  using Change = void (ModelMutator::*)(Graph &);
  static constexpr Change changes[] = {
      &ModelMutator::changeNode,  &ModelMutator::changeAttribute, &ModelMutator::changeAttribute,
      &ModelMutator::changeShape, &ModelMutator::changeOperand,   &ModelMutator::changeInitializer,
      &ModelMutator::bindInput,   &ModelMutator::changeOutput,    &ModelMutator::changeVersion,
      &ModelMutator::nest,        &ModelMutator::outline,         &ModelMutator::changeAttribute,
      &ModelMutator::changeShape, &ModelMutator::bindInput};
  (this->*changes[below(std::size(changes))])(anyGraph(*model.mutable_graph()));
}

//===----------------------------------------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------------------------------------===//

int64_t ModelMutator::number() {
  using Limits = std::numeric_limits<int64_t>;
  static constexpr int64_t numbers[] = {0,
                                        1,
                                        2,
                                        3,
                                        4,
                                        5,
                                        7,
                                        16,
                                        -1,
                                        -2,
                                        -3,
                                        -7,
                                        64,
                                        32,
                                        33,
                                        127,
                                        -128,
                                        255,
                                        1000,
                                        65536,
                                        1 << 24,
                                        INT32_MAX,
                                        INT32_MIN,
                                        int64_t(1) << 31,
                                        int64_t(1) << 32,
                                        int64_t(1) << 40,
                                        int64_t(1) << 62,
                                        Limits::max(),
                                        Limits::max() - 1,
                                        Limits::min(),
                                        Limits::min() + 1};
  // Small ones are the most likely to fit.
  return numbers[chance(4) ? below(std::size(numbers)) : below(8)];
}

float ModelMutator::real() {
  using Limits = std::numeric_limits<float>;
  static constexpr float numbers[] = {0,
                                      1,
                                      -1,
                                      0.5f,
                                      1e-30f,
                                      1e30f,
                                      -1e30f,
                                      3.5f,
                                      -0.0f,
                                      Limits::infinity(),
                                      -Limits::infinity(),
                                      Limits::quiet_NaN(),
                                      Limits::max(),
                                      Limits::denorm_min()};
  return numbers[below(std::size(numbers))];
}

int ModelMutator::elementType() {
  // Float and the integers of shapes more often than others; some that are refused.
  static constexpr int types[] = {1, 1, 1, 7, 7, 2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 16, 8, 17, 0};
  return types[below(std::size(types))];
}

/// `graph`, or sometimes one of its subgraphs.
onnx::GraphProto &ModelMutator::anyGraph(Graph &graph) {
  for (onnx::NodeProto &node : *graph.mutable_node())
    for (onnx::AttributeProto &attribute : *node.mutable_attribute())
      if (attribute.has_g() && chance(2))
        return anyGraph(*attribute.mutable_g());
  return graph;
}

onnx::NodeProto *ModelMutator::anyNode(Graph &graph) {
  return graph.node_size() ? graph.mutable_node(below(graph.node_size())) : nullptr;
}

std::string ModelMutator::anyValue(const Graph &graph) {
  std::set<std::string> names{""};
  for (const onnx::ValueInfoProto &input : graph.input())
    names.insert(input.name());
  for (const onnx::TensorProto &initializer : graph.initializer())
    names.insert(initializer.name());
  for (const onnx::NodeProto &node : graph.node())
    names.insert(node.output().begin(), node.output().end());
  return anyOf(names);
}

void ModelMutator::remember(const Graph &graph) {
  Seen &all = seen();
  for (const onnx::NodeProto &node : graph.node()) {
    if (node.ByteSizeLong() < 4096)
      all.nodes[node.op_type()] = node;
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      if (attribute.ByteSizeLong() < 4096)
        all.attributes[attribute.name()] = attribute;
      if (attribute.s().size() < 64)
        all.strings.insert(attribute.s());
      if (attribute.has_g())
        remember(attribute.g());
    }
  }
}

//===----------------------------------------------------------------------------------------------------===//
// Nodes and their attributes
//===----------------------------------------------------------------------------------------------------===//

/// Another operator, or one node more.
void ModelMutator::changeNode(Graph &graph) {
  onnx::NodeProto *node = anyNode(graph);
  const Seen &all = seen();
  if (!node || all.nodes.empty())
    return;
  if (chance(3)) {
    onnx::NodeProto copy = chance(2) ? *node : anyOf(all.nodes).second;
    for (std::string &input : *copy.mutable_input())
      if (!input.empty())
        input = anyValue(graph);
    for (std::string &output : *copy.mutable_output())
      if (!output.empty())
        output = freshName();
    if (copy.output_size() > 0 && graph.output_size() > 0)
      graph.mutable_output(below(graph.output_size()))->set_name(copy.output(0));
    *graph.add_node() = copy;
  } else if (chance(4)) {
    graph.mutable_node()->DeleteSubrange(below(graph.node_size()), 1);
  } else {
    const onnx::NodeProto &other = anyOf(all.nodes).second;
    node->set_op_type(other.op_type());
    node->set_domain(other.domain());
    if (chance(2))
      *node->mutable_attribute() = other.attribute();
  }
}

void ModelMutator::changeAttribute(Graph &graph) {
  onnx::NodeProto *node = anyNode(graph);
  if (!node)
    return;
  if (node->attribute_size() == 0 || chance(6)) {
    if (!seen().attributes.empty())
      changeValue(*node->add_attribute() = anyOf(seen().attributes).second);
    return;
  }
  int at = below(node->attribute_size());
  if (chance(8))
    node->mutable_attribute()->DeleteSubrange(at, 1);
  else
    changeValue(*node->mutable_attribute(at));
}

void ModelMutator::changeValue(onnx::AttributeProto &attribute) {
  if (chance(32))
    attribute.set_type(static_cast<onnx::AttributeProto::AttributeType>(below(14)));
  if (attribute.has_i())
    attribute.set_i(number());
  if (attribute.has_f())
    attribute.set_f(real());
  if (attribute.has_s())
    attribute.set_s(anyOf(seen().strings));
  if (attribute.type() == onnx::AttributeProto::INTS) {
    if (attribute.ints_size() > 0 && !chance(4))
      attribute.set_ints(below(attribute.ints_size()), number());
    else if (attribute.ints_size() > 0 && chance(3))
      attribute.mutable_ints()->RemoveLast();
    else
      attribute.add_ints(number());
  }
  if (attribute.type() == onnx::AttributeProto::FLOATS) {
    if (attribute.floats_size() > 0 && !chance(4))
      attribute.set_floats(below(attribute.floats_size()), real());
    else
      attribute.add_floats(real());
  }
  if (attribute.type() == onnx::AttributeProto::STRINGS)
    attribute.add_strings(anyOf(seen().strings));
  if (attribute.has_t())
    changeTensor(*attribute.mutable_t());
}

/// Another value, one more or one fewer.
void ModelMutator::changeOperand(Graph &graph) {
  onnx::NodeProto *node = anyNode(graph);
  if (!node)
    return;
  auto &operands = chance(5) ? *node->mutable_output() : *node->mutable_input();
  if (operands.empty() || chance(5))
    operands.Add(&operands == node->mutable_output() ? freshName() : anyValue(graph));
  else if (chance(6))
    operands.RemoveLast();
  else
    operands[below(operands.size())] = anyValue(graph);
}

/// Puts a node into both branches of an If, or into the body of a Loop that runs a few times.
void ModelMutator::nest(Graph &graph) {
  onnx::NodeProto *node = anyNode(graph);
  if (!node || node->ByteSizeLong() > 4096)
    return;
  onnx::NodeProto inner = *node;
  Graph body;
  body.set_name("nested");
  for (std::string &output : *inner.mutable_output()) {
    output = output.empty() ? output : "in_" + output;
    body.add_output()->set_name(output);
  }
  *body.add_node() = inner;
  bool loop = chance(2);
  node->clear_attribute();
  node->clear_input();
  node->clear_domain();
  node->set_op_type(loop ? "Loop" : "If");
  onnx::TensorProto &control = *graph.add_initializer();
  control.set_name(freshName());
  control.set_data_type(loop ? 7 : 9);
  node->add_input(chance(4) ? anyValue(graph) : control.name());
  auto add = [&](const char *name) {
    onnx::AttributeProto &attribute = *node->add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::GRAPH);
    *attribute.mutable_g() = body;
  };
  if (loop) {
    control.add_int64_data(number());
    body.add_input()->set_name("iteration");
    body.add_input()->set_name("condition");
    body.mutable_output()->Add()->set_name("condition");
    std::rotate(body.mutable_output()->begin(), body.mutable_output()->end() - 1,
                body.mutable_output()->end());
    add("body");
  } else {
    control.add_int32_data(below(2));
    add("then_branch");
    add("else_branch");
  }
}

/// Makes a node a call of a function with that node, or with a call of another function, inside.
void ModelMutator::outline(Graph &graph) {
  onnx::NodeProto *node = anyNode(graph);
  if (!node || node->ByteSizeLong() > 4096)
    return;
  if (model.functions_size() > 0 && chance(3)) {
    node->set_domain(model.functions(0).domain());
    node->set_op_type(model.functions(below(model.functions_size())).name());
    return;
  }
  onnx::FunctionProto &function = *model.add_functions();
  function.set_name(freshName());
  function.set_domain("local");
  onnx::NodeProto &inner = *function.add_node() = *node;
  for (int i = 0; i < inner.input_size(); ++i)
    if (!inner.input(i).empty())
      *function.add_input() = *inner.mutable_input(i) = "x" + std::to_string(i);
    else
      function.add_input("unused" + std::to_string(i));
  for (int i = 0; i < inner.output_size(); ++i)
    *function.add_output() = *inner.mutable_output(i) = "y" + std::to_string(i);
  if (model.functions_size() > 1 && chance(3)) {
    inner.set_domain("local");
    inner.set_op_type(model.functions(below(model.functions_size())).name());
  }
  node->set_domain("local");
  node->set_op_type(function.name());
}

//===----------------------------------------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------------------------------------===//

void ModelMutator::changeShape(Graph &graph) {
  if (graph.input_size() == 0)
    return;
  onnx::TypeProto_Tensor &tensor =
      *graph.mutable_input(below(graph.input_size()))->mutable_type()->mutable_tensor_type();
  if (chance(4)) {
    tensor.set_elem_type(elementType());
    return;
  }
  onnx::TensorShapeProto &shape = *tensor.mutable_shape();
  if (shape.dim_size() == 0 || chance(5))
    shape.add_dim()->set_dim_value(number());
  else if (chance(5))
    shape.mutable_dim()->RemoveLast();
  else if (chance(8))
    shape.mutable_dim(below(shape.dim_size()))->set_dim_param("n");
  else
    shape.mutable_dim(below(shape.dim_size()))->set_dim_value(number());
}

/// New contents, of the right size most of the time.
void ModelMutator::changeTensor(onnx::TensorProto &tensor) {
  if (chance(3) && tensor.dims_size() > 0)
    tensor.set_dims(below(tensor.dims_size()), number());
  else if (chance(6))
    tensor.add_dims(number());
  if (chance(4))
    tensor.set_data_type(elementType());
  constexpr int64_t most = 4096;
  int64_t count = 1;
  for (int64_t extent : tensor.dims())
    count = extent >= 0 && extent <= most && count * extent <= most ? count * extent : 0;
  tensor.clear_raw_data();
  tensor.clear_float_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_double_data();
  tensor.clear_uint64_data();
  for (int64_t i = 0; i < count; ++i)
    switch (tensor.data_type()) {
    case onnx::TensorProto::FLOAT:
      tensor.add_float_data(real());
      break;
    case onnx::TensorProto::INT64:
      tensor.add_int64_data(number());
      break;
    case onnx::TensorProto::DOUBLE:
      tensor.add_double_data(real());
      break;
    case onnx::TensorProto::UINT32:
    case onnx::TensorProto::UINT64:
      tensor.add_uint64_data(static_cast<uint64_t>(number()));
      break;
    default:
      tensor.add_int32_data(static_cast<int32_t>(number()));
    }
}

void ModelMutator::changeInitializer(Graph &graph) {
  if (graph.initializer_size() > 0)
    changeTensor(*graph.mutable_initializer(below(graph.initializer_size())));
}

/// Makes an input a constant: what depends on values is then computed.
void ModelMutator::bindInput(Graph &graph) {
  if (graph.input_size() == 0)
    return;
  int at = below(graph.input_size());
  onnx::TensorProto tensor;
  tensor.set_name(graph.input(at).name());
  tensor.set_data_type(graph.input(at).type().tensor_type().elem_type());
  for (const onnx::TensorShapeProto_Dimension &dim : graph.input(at).type().tensor_type().shape().dim())
    tensor.add_dims(dim.has_dim_value() ? dim.dim_value() : 1);
  changeTensor(tensor);
  *graph.add_initializer() = tensor;
  graph.mutable_input()->DeleteSubrange(at, 1);
}

void ModelMutator::changeOutput(Graph &graph) {
  if (graph.output_size() == 0 || chance(3))
    graph.add_output()->set_name(anyValue(graph));
  else
    graph.mutable_output(below(graph.output_size()))->set_name(anyValue(graph));
}

void ModelMutator::changeVersion(Graph &) {
  if (model.opset_import_size() > 0 && !chance(8))
    model.mutable_opset_import(below(model.opset_import_size()))->set_version(1 + below(24));
  else
    model.set_ir_version(number());
}

//===----------------------------------------------------------------------------------------------------===//
// Two models
//===----------------------------------------------------------------------------------------------------===//

void ModelMutator::append(const onnx::ModelProto &other) {
  Graph &graph = *model.mutable_graph();
  const Graph &added = other.graph();
  remember(added);
  const std::string prefix = freshName();
  std::map<std::string, std::string> names{{"", ""}};
  for (const onnx::ValueInfoProto &input : added.input()) {
    std::string fed = chance(2) ? anyValue(graph) : "";
    if (fed.empty()) {
      fed = prefix + input.name();
      *graph.add_input() = input;
      graph.mutable_input(graph.input_size() - 1)->set_name(fed);
    }
    names[input.name()] = fed;
  }
  auto renamed = [&](const std::string &name) {
    return names.try_emplace(name, prefix + name).first->second;
  };
  for (const onnx::TensorProto &initializer : added.initializer())
    (*graph.add_initializer() = initializer).set_name(renamed(initializer.name()));
  for (const onnx::NodeProto &node : added.node()) {
    onnx::NodeProto &copy = *graph.add_node() = node;
    for (std::string &input : *copy.mutable_input())
      input = renamed(input);
    for (std::string &output : *copy.mutable_output())
      output = renamed(output);
  }
  for (const onnx::ValueInfoProto &output : added.output())
    (*graph.add_output() = output).set_name(renamed(output.name()));
}

} // namespace tokamak::import
