//===- TestModels.cpp - small ONNX models for the tests of sessions and of the command ------------===//
#include "TestModels.h"
#include "onnx/onnx_pb.h"
#include <cstdint>
#include <cstdlib>

namespace tokamak::test {

using onnx::TensorProto;
using Dims = std::vector<std::string>; ///< numbers, or names of symbols

namespace {
/// Builds the main graph of a model of opset 17.
class Builder {
public:
  Builder() {
    model.set_ir_version(8);
    auto *opset = model.add_opset_import();
    opset->set_version(17);
    model.mutable_graph()->set_name("main");
  }
  void input(const std::string &name, int type, const Dims &dims) {
    declare(*model.mutable_graph()->add_input(), name, type, dims);
  }
  void output(const std::string &name, int type, const Dims &dims) {
    declare(*model.mutable_graph()->add_output(), name, type, dims);
  }
  void weight(const std::string &name, const std::vector<int64_t> &dims, const std::vector<float> &values) {
    TensorProto *tensor = initializer(name, TensorProto::FLOAT, dims);
    for (float value : values)
      tensor->add_float_data(value);
  }
  void weight(const std::string &name, const std::vector<int64_t> &dims, const std::vector<int64_t> &values) {
    TensorProto *tensor = initializer(name, TensorProto::INT64, dims);
    for (int64_t value : values)
      tensor->add_int64_data(value);
  }
  onnx::NodeProto &node(const std::string &type, const std::vector<std::string> &inputs,
                        const std::vector<std::string> &outputs, const std::string &name = "") {
    onnx::NodeProto &node = *model.mutable_graph()->add_node();
    node.set_op_type(type);
    node.set_name(name);
    for (const std::string &input : inputs)
      node.add_input(input);
    for (const std::string &output : outputs)
      node.add_output(output);
    return node;
  }
  static void attribute(onnx::NodeProto &node, const std::string &name, int64_t value) {
    onnx::AttributeProto &attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(value);
  }
  static void attribute(onnx::NodeProto &node, const std::string &name, const std::vector<int64_t> &values) {
    onnx::AttributeProto &attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::INTS);
    for (int64_t value : values)
      attribute.add_ints(value);
  }
  static void stringAttribute(onnx::NodeProto &node, const std::string &name, const std::string &value) {
    onnx::AttributeProto &attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::STRING);
    attribute.set_s(value);
  }
  std::string bytes() const { return model.SerializeAsString(); }

private:
  static void declare(onnx::ValueInfoProto &info, const std::string &name, int type, const Dims &dims) {
    info.set_name(name);
    onnx::TypeProto_Tensor &tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    onnx::TensorShapeProto &shape = *tensor.mutable_shape();
    for (const std::string &dim : dims) {
      if (dim[0] >= '0' && dim[0] <= '9')
        shape.add_dim()->set_dim_value(std::atoll(dim.c_str()));
      else
        shape.add_dim()->set_dim_param(dim);
    }
  }
  TensorProto *initializer(const std::string &name, int type, const std::vector<int64_t> &dims) {
    TensorProto *tensor = model.mutable_graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(type);
    for (int64_t dim : dims)
      tensor->add_dims(dim);
    return tensor;
  }

  onnx::ModelProto model;
};
} // namespace

/// y[n, 3] = relu(x[n, 4] * w + b), w the numbers 1 to 12 row by row, b = (-10, 0, 10).
static std::string dense() {
  Builder b;
  b.input("x", TensorProto::FLOAT, {"N", "4"});
  b.output("y", TensorProto::FLOAT, {"N", "3"});
  b.weight("w", {4, 3}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  b.weight("b", {3}, std::vector<float>{-10, 0, 10});
  b.node("MatMul", {"x", "w"}, {"product"}, "dense");
  b.node("Add", {"product", "b"}, {"sum"}, "bias");
  b.node("Relu", {"sum"}, {"y"}, "activation");
  return b.bytes();
}

/// y[16] = the sums of the columns of x[N, 16].
static std::string columnSums() {
  Builder b;
  b.input("x", TensorProto::FLOAT, {"N", "16"});
  b.output("y", TensorProto::FLOAT, {"1", "16"});
  b.weight("axes", {1}, std::vector<int64_t>{0});
  b.node("ReduceSum", {"x", "axes"}, {"y"});
  return b.bytes();
}

/// c = a + b and d = a * b, with one symbol in both inputs.
static std::string twoInputs() {
  Builder b;
  b.input("a", TensorProto::FLOAT, {"N", "M"});
  b.input("b", TensorProto::FLOAT, {"N", "M"});
  b.output("c", TensorProto::FLOAT, {"N", "M"});
  b.output("d", TensorProto::FLOAT, {"N", "M"});
  b.node("Add", {"a", "b"}, {"c"});
  b.node("Mul", {"a", "b"}, {"d"});
  return b.bytes();
}

/// Names that are no C identifiers, collide as such, or hold '='. Each output is an input plus its number.
static std::string oddNames() {
  const std::vector<std::string> names = {"a.b", "a_b", "a/b", "int", "1", "x=y", "model", "*/ weird /*"};
  Builder b;
  for (size_t i = 0; i < names.size(); ++i) {
    b.input(names[i], TensorProto::FLOAT, {"2"});
    b.output(names[i] + "'", TensorProto::FLOAT, {"2"});
    b.weight("number" + std::to_string(i), {}, std::vector<float>{static_cast<float>(i)});
    b.node("Add", {names[i], "number" + std::to_string(i)}, {names[i] + "'"});
  }
  return b.bytes();
}

/// Inputs and outputs called as what C headers define.
static std::string headerNames() {
  Builder b;
  for (const char *name :
       {"size_t",     "int64_t",  "int8_t",  "INT8_MAX", "UINT_LEAST16_MAX", "SIZE_MAX", "NULL",
        "errno",      "offsetof", "stdin",   "EOF",      "assert",           "bool",     "EINVAL",
        "M_PI",       "I",        "complex", "PRId64",   "SIGINT",           "FLT_MAX",  "LC_ALL",
        "FE_INVALID", "va_list",  "FILE"}) {
    b.input(name, TensorProto::INT64, {"2"});
    b.output(std::string(name) + "'", TensorProto::INT64, {"2"});
    b.node("Neg", {name}, {std::string(name) + "'"});
  }
  return b.bytes();
}

/// y = x reshaped to the value of the input `shape`.
static std::string reshapeByInput() {
  Builder b;
  b.input("x", TensorProto::FLOAT, {"6"});
  b.input("shape", TensorProto::INT64, {"2"});
  b.output("y", TensorProto::FLOAT, {"rows", "columns"});
  b.node("Neg", {"x"}, {"negated"});
  b.node("Reshape", {"negated", "shape"}, {"y"}, "reshape");
  return b.bytes();
}

/// y = x with updates scattered to the places in `indices`: a library call, which checks them.
static std::string scatter() {
  Builder b;
  b.input("x", TensorProto::FLOAT, {"4"});
  b.input("indices", TensorProto::INT64, {"2"});
  b.input("updates", TensorProto::FLOAT, {"2"});
  b.output("y", TensorProto::FLOAT, {"4"});
  b.node("ScatterElements", {"x", "indices", "updates"}, {"y"});
  return b.bytes();
}

/// y = x with updates added to elements at indices.
static std::string scatterAdd(const char *type, const Dims &indices) {
  Builder b;
  b.input("x", TensorProto::FLOAT, {"4"});
  b.input("indices", TensorProto::INT64, indices);
  b.input("updates", TensorProto::FLOAT, {"n"});
  b.output("y", TensorProto::FLOAT, {"4"});
  onnx::NodeProto &node = b.node(type, {"x", "indices", "updates"}, {"y"}, "add");
  Builder::stringAttribute(node, "reduction", "add");
  return b.bytes();
}

/// y = 2 * x[indices], a kernel of its own with the multiplication fused in.
static std::string gather() {
  Builder b;
  b.input("x", TensorProto::FLOAT, {"3", "20"});
  b.input("indices", TensorProto::INT64, {"n"});
  b.output("y", TensorProto::FLOAT, {"n", "20"});
  b.node("Gather", {"x", "indices"}, {"picked"}, "pick");
  b.node("Add", {"picked", "picked"}, {"y"}, "twice");
  return b.bytes();
}

/// An index of the file is out of range.
static std::string gatherOutside() {
  Builder b;
  b.input("x", TensorProto::FLOAT, {"3"});
  b.output("y", TensorProto::FLOAT, {"2"});
  b.weight("indices", {2}, std::vector<int64_t>{0, 5});
  b.node("Gather", {"x", "indices"}, {"y"}, "pick");
  return b.bytes();
}

/// y = x * w + v with constants beyond what prints on a line.
static std::string largeConstants() {
  Builder b;
  std::vector<float> w(64 * 64), v(64);
  for (size_t i = 0; i < w.size(); ++i)
    w[i] = 1 / (1 + static_cast<float>(i));
  for (size_t i = 0; i < v.size(); ++i)
    v[i] = -w[i];
  b.input("x", TensorProto::FLOAT, {"2", "64"});
  b.output("y", TensorProto::FLOAT, {"2", "64"});
  b.weight("w", {64, 64}, w);
  b.weight("v", {64}, v);
  b.node("MatMul", {"x", "w"}, {"product"});
  b.node("Add", {"product", "v"}, {"y"});
  return b.bytes();
}

/// One output a type, cast from the double input of rank 1.
static std::string allTypes() {
  Builder b;
  b.input("x", TensorProto::DOUBLE, {"N"});
  for (int type :
       {TensorProto::FLOAT, TensorProto::UINT8, TensorProto::INT8, TensorProto::UINT16, TensorProto::INT16,
        TensorProto::INT32, TensorProto::INT64, TensorProto::BOOL, TensorProto::FLOAT16, TensorProto::DOUBLE,
        TensorProto::UINT32, TensorProto::UINT64, TensorProto::BFLOAT16}) {
    std::string name = "as" + std::to_string(type);
    b.output(name, type, {"N"});
    Builder::attribute(b.node("Cast", {"x"}, {name}), "to", type);
  }
  return b.bytes();
}

/// y = 2x for an x of rank 0.
static std::string scalar() {
  Builder b;
  b.input("x", TensorProto::FLOAT, {});
  b.output("y", TensorProto::FLOAT, {});
  b.node("Add", {"x", "x"}, {"y"});
  return b.bytes();
}

/// Besides the live tanh: a dead node, a constant fold, an identity, and two equal nodes.
static std::string cleanUp() {
  Builder b;
  b.input("x", TensorProto::FLOAT, {"8"});
  b.output("y", TensorProto::FLOAT, {"8"});
  b.weight("one", {}, std::vector<float>{1});
  b.node("Exp", {"x"}, {"unused"}, "dead");
  b.node("Add", {"one", "one"}, {"two"}, "folded");
  b.node("Identity", {"x"}, {"same"}, "identity");
  b.node("Tanh", {"same"}, {"t1"}, "first");
  b.node("Tanh", {"x"}, {"t2"}, "second");
  b.node("Mul", {"t1", "two"}, {"scaled"}, "scale");
  b.node("Add", {"scaled", "t2"}, {"y"}, "sum");
  return b.bytes();
}

/// An input without a declared shape.
static std::string noRank() {
  Builder b;
  b.input("x", TensorProto::FLOAT, {});
  b.output("y", TensorProto::FLOAT, {});
  b.node("Neg", {"x"}, {"y"});
  onnx::ModelProto model;
  model.ParseFromString(b.bytes());
  model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  return model.SerializeAsString();
}

/// An operator that the importer does not know.
static std::string unknownOperator() {
  Builder b;
  b.input("x", TensorProto::FLOAT, {"2"});
  b.output("y", TensorProto::FLOAT, {"2"});
  b.node("Frobnicate", {"x"}, {"y"}, "strange");
  return b.bytes();
}

/// y = x + w, w = (1, 2) being an input with a default value.
static std::string optionalInput() {
  Builder b;
  b.input("x", TensorProto::FLOAT, {"2"});
  b.input("w", TensorProto::FLOAT, {"2"});
  b.output("y", TensorProto::FLOAT, {"2"});
  b.weight("w", {2}, std::vector<float>{1, 2});
  b.node("Add", {"x", "w"}, {"y"}, "sum");
  return b.bytes();
}

/// y = exp(tanh(|-x|)): two nodes of one name, one without a name, and one with the name that it gets.
static std::string sameNames() {
  Builder b;
  b.input("x", TensorProto::FLOAT, {"2"});
  b.output("y", TensorProto::FLOAT, {"2"});
  b.node("Neg", {"x"}, {"a"}, "same");
  b.node("Abs", {"a"}, {"b"}, "same");
  b.node("Tanh", {"b"}, {"c"});
  b.node("Exp", {"c"}, {"y"}, "Tanh_2");
  return b.bytes();
}

/// An addition of three values, which is none.
static std::string threeSummands() {
  Builder b;
  b.input("x", TensorProto::FLOAT, {"2"});
  b.output("y", TensorProto::FLOAT, {"2"});
  b.node("Add", {"x", "x", "x"}, {"y"}, "sum");
  return b.bytes();
}

/// An output declared with another element type, or rank, than it has.
static std::string wrongOutput(int type, const Dims &dims) {
  Builder b;
  b.input("x", TensorProto::FLOAT, {"2"});
  b.output("y", type, dims);
  b.node("Neg", {"x"}, {"y"}, "minus");
  return b.bytes();
}

/// Pools windows of 2x2 over extents that are symbols.
static std::string symbolicPool() {
  Builder b;
  b.input("x", TensorProto::FLOAT, {"N", "3", "H", "W"});
  b.output("y", TensorProto::FLOAT, {"N", "3", "h", "w"});
  onnx::AttributeProto &kernel = *b.node("MaxPool", {"x"}, {"y"}, "pool").add_attribute();
  kernel.set_name("kernel_shape");
  kernel.set_type(onnx::AttributeProto::INTS);
  kernel.add_ints(2);
  kernel.add_ints(2);
  return b.bytes();
}

/// y = (x * 2 + 3) * 4 + 5, which a shipped rule makes x * 8 + 17.
static std::string multiplyAddTwice() {
  Builder b;
  b.input("x", TensorProto::FLOAT, {"2"});
  b.output("y", TensorProto::FLOAT, {"2"});
  for (int64_t i = 2; i <= 5; ++i)
    b.weight("c" + std::to_string(i), {}, std::vector<float>{static_cast<float>(i)});
  b.node("Mul", {"x", "c2"}, {"product"}, "first");
  b.node("Add", {"product", "c3"}, {"sum"}, "second");
  b.node("Mul", {"sum", "c4"}, {"scaled"}, "third");
  b.node("Add", {"scaled", "c5"}, {"y"}, "fourth");
  return b.bytes();
}

/// HardSwish as exporters write it.
static std::string hardSwish() {
  Builder b;
  b.input("x", TensorProto::FLOAT, {"4"});
  b.output("y", TensorProto::FLOAT, {"4"});
  for (int64_t i : {0, 3, 6})
    b.weight("c" + std::to_string(i), {}, std::vector<float>{static_cast<float>(i)});
  b.node("Add", {"x", "c3"}, {"shifted"}, "shift");
  b.node("Clip", {"shifted", "c0", "c6"}, {"gate"}, "clip");
  b.node("Mul", {"x", "gate"}, {"gated"}, "multiply");
  b.node("Div", {"gated", "c6"}, {"y"}, "divide");
  return b.bytes();
}

/// y = x repeated 2^30 x 2^9 times: more memory than there is.
static std::string huge() {
  Builder b;
  b.input("x", TensorProto::FLOAT, {"1"});
  b.output("y", TensorProto::FLOAT, {"n", "m"});
  b.weight("shape", {2}, std::vector<int64_t>{int64_t(1) << 30, int64_t(1) << 9});
  b.node("Expand", {"x", "shape"}, {"y"}, "repeat");
  return b.bytes();
}

/// Four elements behind 2^31 others, and of that the last of those and the first three.
static std::string longAxis() {
  Builder b;
  b.input("x", TensorProto::UINT8, {"4"});
  b.output("y", TensorProto::UINT8, {"4"});
  b.weight("pads", {2}, std::vector<int64_t>{int64_t(1) << 31, 0});
  b.weight("start", {1}, std::vector<int64_t>{(int64_t(1) << 31) - 1});
  b.weight("end", {1}, std::vector<int64_t>{(int64_t(1) << 31) + 3});
  b.node("Pad", {"x", "pads"}, {"long"}, "pad");
  b.node("Slice", {"long", "start", "end"}, {"y"}, "slice");
  return b.bytes();
}

/// So many numbers between -1 and 1, the same in each process.
static std::vector<float> numbers(size_t count, uint32_t seed) {
  std::vector<float> values(count);
  for (float &value : values) {
    seed = seed * 1664525 + 1013904223;
    value = static_cast<float>(seed >> 8) * 0x1p-23F - 1;
  }
  return values;
}

/// y = two convolutions of x, of 1x1 taps and of 3x3, which goes by minimal filtering.
static std::string filteredConvolution() {
  constexpr int64_t channels = 64;
  Builder b;
  b.input("x", TensorProto::FLOAT, {"1", "64", "56", "56"});
  b.output("y", TensorProto::FLOAT, {"1", "64", "56", "56"});
  b.weight("one", {channels, channels, 1, 1}, numbers(channels * channels, 1));
  b.weight("three", {channels, channels, 3, 3}, numbers(channels * channels * 9, 2));
  b.node("Conv", {"x", "one"}, {"blocks"}, "pointwise");
  Builder::attribute(b.node("Conv", {"blocks", "three"}, {"y"}, "filtered"), "pads", {1, 1, 1, 1});
  return b.bytes();
}

/// y is the small difference of two large products of x.
static std::string cancellingProducts() {
  constexpr size_t depth = 256, columns = 16;
  std::vector<float> left = numbers(depth * columns, 3), right = left;
  for (size_t i = 0; i < right.size(); i += 7)
    right[i] *= 1.00001F;
  Builder b;
  b.input("x", TensorProto::FLOAT, {"8", "256"});
  b.output("y", TensorProto::FLOAT, {"8", "16"});
  b.weight("left", {depth, columns}, left);
  b.weight("right", {depth, columns}, right);
  b.node("MatMul", {"x", "left"}, {"a"});
  b.node("MatMul", {"x", "right"}, {"b"});
  b.node("Sub", {"a", "b"}, {"y"}, "difference");
  return b.bytes();
}

/// y = the sums of the columns of tanh(x), and a shift.
static std::string shiftedSums() {
  Builder b;
  b.input("x", TensorProto::FLOAT, {"N", "16"});
  b.output("y", TensorProto::FLOAT, {"1", "16"});
  b.weight("axes", {1}, std::vector<int64_t>{0});
  b.weight("shift", {1, 16}, numbers(16, 9));
  b.node("Tanh", {"x"}, {"bent"}, "bend");
  b.node("ReduceSum", {"bent", "axes"}, {"sums"}, "sum");
  b.node("Add", {"sums", "shift"}, {"y"}, "shift_sums");
  return b.bytes();
}

std::vector<std::pair<std::string, std::string>> allTestModels() {
  return {{"dense", dense()},
          {"column_sums", columnSums()},
          {"shifted_sums", shiftedSums()},
          {"two_inputs", twoInputs()},
          {"odd_names", oddNames()},
          {"header_names", headerNames()},
          {"reshape_by_input", reshapeByInput()},
          {"scatter", scatter()},
          {"scatter_elements_add", scatterAdd("ScatterElements", {"n"})},
          {"scatter_nd_add", scatterAdd("ScatterND", {"n", "1"})},
          {"gather", gather()},
          {"gather_outside", gatherOutside()},
          {"large_constants", largeConstants()},
          {"all_types", allTypes()},
          {"scalar", scalar()},
          {"clean_up", cleanUp()},
          {"no_rank", noRank()},
          {"unknown_operator", unknownOperator()},
          {"optional_input", optionalInput()},
          {"same_names", sameNames()},
          {"three_summands", threeSummands()},
          {"symbolic_pool", symbolicPool()},
          {"wrong_output_type", wrongOutput(TensorProto::INT32, {"2"})},
          {"wrong_output_rank", wrongOutput(TensorProto::FLOAT, {"2", "1"})},
          {"multiply_add_twice", multiplyAddTwice()},
          {"hard_swish", hardSwish()},
          {"filtered_convolution", filteredConvolution()},
          {"cancelling_products", cancellingProducts()},
          {"huge", huge()},
          {"long_axis", longAxis()}};
}

std::string testModel(const std::string &name) {
  for (auto &[candidate, bytes] : allTestModels()) {
    if (candidate == name)
      return bytes;
  }
  std::abort();
}

} // namespace tokamak::test
