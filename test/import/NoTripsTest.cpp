//===- NoTripsTest.cpp - the scan outputs of loops that run no iteration ------------------------===//
#include "ModelBuilder.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::test;
using testing::HasSubstr;

/// A loop whose body adds up Range(0, i): its shapes depend on the iteration number. `how` it runs no
/// iteration: "zero", "negative", or by its condition.
static void addRangeLoop(ModelBuilder &m, const std::string &how, const char *slice) {
  m.input("x", {2})
      .initializer("zero", ints({0}))
      .initializer("start", Tensor::scalarInt(DataType::Int64, 0));
  m.initializer("step", Tensor::scalarInt(DataType::Int64, 1)).initializer("never", boolean(false));
  m.initializer("n", ints({how == "negative" ? -1 : how == "zero" ? 0 : 7}));
  GraphBuilder body = addGraph(
      m.node("Loop", {"n", how == "condition" ? "never" : "", "x"}, {"last", "all"}, "loop"), "body");
  m.output("last").output("all");
  body.input("i", {}, DataType::Int64).input("go", {}, DataType::Bool).input("v", {2});
  body.node("Range", {"start", "i", "step"}, {"range"}, "range");
  addAttr(body.node("Cast", {"range"}, {"numbers"}), "to", int64_t(1));
  addAttr(body.node("ReduceSum", {"numbers"}, {"sum"}), "keepdims", int64_t(0));
  body.node("Add", {"v", "sum"}, {"next"});
  addAttr(body.node("Concat", {"v", "numbers"}, {"longer"}), "axis", int64_t(0));
  body.output("go").output("next").output(slice);
}

TEST(NoTrips, OfABodyWhoseShapesDependOnTheIterationNumber) {
  for (const char *how : {"zero", "negative", "condition"}) {
    ModelBuilder m;
    addRangeLoop(m, how, "next");
    std::vector<Tensor> results = evaluate(m, {{"x", floats({2}, {3, 4})}});
    expectTensor(results.at(0), {2}, {3, 4});
    expectTensor(results.at(1), {0, 2}, {});
  }
}

/// Declares the shape of the slices of the loop that node 0 of `m` is.
static void declareSlice(ModelBuilder &m, const std::vector<int64_t> &shape, DataType type) {
  onnx::GraphProto &body = *m.graph.mutable_node(0)->mutable_attribute(0)->mutable_g();
  onnx::TypeProto::Tensor &tensor =
      *body.mutable_output(body.output_size() - 1)->mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type == DataType::Float32 ? onnx::TensorProto::FLOAT : onnx::TensorProto::INT64);
  tensor.mutable_shape();
  for (int64_t extent : shape)
    if (onnx::TensorShapeProto::Dimension &dim = *tensor.mutable_shape()->add_dim(); extent >= 0)
      dim.set_dim_value(extent);
}

TEST(NoTrips, AndNoFixedSliceShape) {
  Inputs inputs{{"x", floats({2}, {3, 4})}};
  ModelBuilder undeclared;
  addRangeLoop(undeclared, "zero", "longer");
  expectTensor(evaluate(undeclared, inputs).at(1), {0, 0}, {});

  ModelBuilder declared;
  addRangeLoop(declared, "zero", "longer");
  declareSlice(declared, {5}, DataType::Float32);
  expectTensor(evaluate(declared, inputs).at(1), {0, 5}, {});

  // No iteration could run: there is no reshaping of two elements to `i + 1` times seven.
  auto reshaping = [](ModelBuilder &m) {
    addRangeLoop(m, "zero", "shaped");
    GraphBuilder body(*m.graph.mutable_node(0)->mutable_attribute(0)->mutable_g());
    body.initializer("seven", ints({7})).initializer("row", ints({-1}));
    body.node("Reshape", {"i", "row"}, {"number"});
    addAttr(body.node("Concat", {"number", "seven"}, {"shape"}), "axis", int64_t(0));
    body.node("Reshape", {"v", "shape"}, {"shaped"}, "reshape");
  };
  ModelBuilder impossible;
  reshaping(impossible);
  EXPECT_THAT(importError(impossible), HasSubstr("node 'range' (Range): the limit depends on a value that "
                                                 "changes while a loop runs"));
  declareSlice(impossible, {-1, 7}, DataType::Float32);
  expectTensor(evaluate(impossible, inputs).at(1), {0, 0, 7}, {});
  ModelBuilder huge;
  reshaping(huge);
  declareSlice(huge, {int64_t(1) << 62, 7}, DataType::Float32);
  EXPECT_THAT(importError(huge), HasSubstr("larger than 4 TiB"));
}

TEST(NoTrips, AroundALoopOfAsManyAsTheIterationNumber) {
  ModelBuilder m;
  m.input("x", {2}).initializer("n", ints({0})).output("last").output("all");
  GraphBuilder body = addGraph(m.node("Loop", {"n", "", "x"}, {"last", "all"}), "body");
  body.input("i", {}, DataType::Int64).input("go", {}, DataType::Bool).input("v", {2});
  GraphBuilder inner = addGraph(body.node("Loop", {"i", "", "v"}, {"w", "rows"}), "body");
  inner.input("j", {}, DataType::Int64).input("on", {}, DataType::Bool).input("u", {2});
  inner.node("Neg", {"u"}, {"next"});
  inner.node("Abs", {"u"}, {"row"});
  inner.output("on").output("next").output("row");
  body.output("go").output("w").output("rows");
  std::vector<Tensor> results = evaluate(m, {{"x", floats({2}, {3, 4})}});
  expectTensor(results.at(0), {2}, {3, 4});
  expectTensor(results.at(1), {0, 0, 2}, {});
}

TEST(NoTrips, OfABodyWhoseShapesDependOnWhatItCarries) {
  // Expands x to the carried extents.
  auto build = [](ModelBuilder &m, const char *start) {
    m.input("x", {1}).input("given", {1}, DataType::Int64).initializer("n", ints({0}));
    m.initializer("four", ints({4})).output("last").output("all");
    GraphBuilder body = addGraph(m.node("Loop", {"n", "", start}, {"last", "all"}, "loop"), "body");
    body.input("i", {}, DataType::Int64).input("go", {}, DataType::Bool).input("v", {1}, DataType::Int64);
    body.node("Expand", {"x", "v"}, {"row"}, "expand");
    body.output("go").output("v").output("row");
  };
  Inputs inputs{{"x", floats({1}, {3})}, {"given", ints({2})}};
  ModelBuilder constant;
  build(constant, "four");
  expectTensor(evaluate(constant, inputs).at(1), {0, 4}, {});
  // From an input: nothing is to be bound, and nothing specialised, for iterations that never run.
  ModelBuilder open;
  build(open, "given");
  EXPECT_THAT(importError(open), HasSubstr("'expand' (Expand)"));
  declareSlice(open, {-1}, DataType::Float32);
  expectTensor(evaluate(open, inputs, /*hinted=*/true).at(1), {0, 0}, {});
}
