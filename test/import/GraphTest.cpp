//===- GraphTest.cpp - names, order, dead code, functions --------------------------------------===//
#include "ModelBuilder.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::test;
using testing::HasSubstr;
using testing::Not;

TEST(Graph, NamesHaveOneDefinition) {
  ModelBuilder twice;
  twice.input("x").output("y");
  twice.node("Relu", {"x"}, {"y"});
  twice.node("Neg", {"x"}, {"y"}, "second");
  EXPECT_EQ(importError(twice),
            "test.onnx: node 'second' (Neg): defines the value 'y', which is already defined; every "
            "value must have one definition");
  ModelBuilder input;
  input.input("x").input("x").output("x");
  EXPECT_THAT(importError(input), HasSubstr("an input: defines the value 'x'"));
  ModelBuilder overInput;
  overInput.input("x").output("x");
  overInput.node("Relu", {"x"}, {"x"});
  EXPECT_THAT(importError(overInput), HasSubstr("node 'Relu_0' (Relu): defines the value 'x'"));
  ModelBuilder weights;
  weights.initializer("w", ints({1})).initializer("w", ints({2})).output("w");
  EXPECT_THAT(importError(weights), HasSubstr("an initializer: defines the value 'w'"));
}

TEST(Graph, NamesAreDefined) {
  ModelBuilder m;
  m.input("x").output("y");
  m.node("Add", {"x", "nowhere"}, {"y"});
  EXPECT_EQ(importError(m),
            "test.onnx: node 'Add_0' (Add): uses the value 'nowhere', which nothing in the graph "
            "defines; the file is damaged or was cut from a larger model");
  ModelBuilder output;
  output.input("x").output("y");
  EXPECT_THAT(importError(output), HasSubstr("an output: uses the value 'y'"));
  ModelBuilder none;
  none.input("x");
  EXPECT_THAT(importError(none), HasSubstr("no outputs"));
  ModelBuilder missing;
  missing.input("x").output("y");
  missing.node("Add", {"x", ""}, {"y"});
  EXPECT_THAT(importError(missing), HasSubstr("input 1 is missing"));
  ModelBuilder few;
  few.input("x").output("y");
  few.node("Add", {"x"}, {"y"});
  EXPECT_THAT(importError(few), HasSubstr("node 'Add_0' (Add): input 1 is missing"));
  ModelBuilder many;
  many.input("x").output("z");
  many.node("Relu", {"x"}, {"y", "z"});
  EXPECT_THAT(importError(many), HasSubstr("its output 1 ('z') is not supported"));
}

TEST(Graph, UnsortedIsSorted) {
  ModelBuilder m;
  m.input("x", {2}).output("z");
  m.node("Neg", {"y"}, {"z"});
  m.node("Exp", {"t"}, {"y"});
  m.node("Log", {"x"}, {"t"});
  expectTensor(evaluate(m, {{"x", floats({2}, {1, 2})}}).at(0), {2}, {-1, -2});
}

TEST(Graph, CyclesAreNamed) {
  ModelBuilder m;
  m.input("x").output("after");
  m.node("Add", {"x", "c"}, {"a"}, "first");
  m.node("Neg", {"a"}, {"b"});
  m.node("Neg", {"b"}, {"c"});
  m.node("Neg", {"c"}, {"after"}, "innocent");
  std::string error = importError(m);
  EXPECT_THAT(error, HasSubstr("depends on its own result; break the cycle"));
  EXPECT_THAT(error, Not(HasSubstr("innocent")));
  ModelBuilder self;
  self.input("x").output("y");
  self.node("Add", {"x", "y"}, {"y"});
  EXPECT_THAT(importError(self), HasSubstr("node 'Add_0' (Add): depends on its own result"));
}

TEST(Graph, CycleThroughASubgraph) {
  ModelBuilder m;
  m.input("x").input("c", {}, DataType::Bool).output("y");
  onnx::NodeProto &node = m.node("If", {"c"}, {"y"});
  for (const char *branch : {"then_branch", "else_branch"}) {
    GraphBuilder graph = addGraph(node, branch);
    graph.node("Relu", {"later"}, {"r"});
    graph.output("r");
  }
  m.node("Neg", {"y"}, {"later"});
  EXPECT_THAT(importError(m), HasSubstr("depends on its own result"));
}

TEST(Graph, ShapeArithmeticVanishes) {
  ModelBuilder m;
  m.input("x", {2, 3, 4}).output("y");
  m.initializer("zero", ints({0})).initializer("rest", ints({-1}));
  m.node("Shape", {"x"}, {"s"});
  m.node("Gather", {"s", "zero"}, {"n"});
  addAttr(m.node("Concat", {"n", "rest"}, {"target"}), "axis", int64_t(0));
  m.node("Reshape", {"x", "target"}, {"y"});
  std::string text = importedText(m);
  EXPECT_THAT(text, HasSubstr("-> tensor<2x12xf32>"));
  EXPECT_EQ(count(text, "tk.constant"), 0);
  EXPECT_EQ(count(text, "tk.reshape"), 1);
}

TEST(Graph, DeadNodesAreRemoved) {
  ModelBuilder m;
  m.input("x", {2}).output("y").initializer("w", floats({2}, {1, 2}));
  m.node("Relu", {"x"}, {"y"});
  m.node("Add", {"x", "w"}, {"a"});
  m.node("Neg", {"a"}, {"b"});
  std::string text = importedText(m);
  EXPECT_EQ(count(text, "tk.add") + count(text, "tk.neg"), 0) << text;
  EXPECT_THAT(text, Not(HasSubstr("dense<[1.0")));
}

TEST(Graph, OutputsThatAreInputsOrConstants) {
  ModelBuilder m;
  m.input("x", {2}).output("x").output("w").output("copy").initializer("w", floats({1}, {7}));
  m.node("Identity", {"x"}, {"copy"});
  std::vector<Tensor> results = evaluate(m, {{"x", floats({2}, {1, 2})}});
  ASSERT_EQ(results.size(), 3u);
  expectTensor(results[0], {2}, {1, 2});
  expectTensor(results[1], {1}, {7});
  expectTensor(results[2], {2}, {1, 2});
}

TEST(Graph, EveryOperationKnowsItsNode) {
  ModelBuilder m;
  m.input("x", {2}).output("y");
  m.node("Relu", {"x"}, {"t"}, "layer/act");
  m.node("Neg", {"t"}, {"y"});
  std::string bytes = m.bytes();
  auto model = import::Model::fromMemory(bytes.data(), bytes.size());
  ASSERT_TRUE(static_cast<bool>(model));
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto imported = (*model)->import(context, {});
  ASSERT_TRUE(static_cast<bool>(imported));
  std::vector<std::string> nodes;
  imported->module->walk([&](mlir::Operation *op) {
    tk::OnnxNode node = tk::onnxNode(op->getLoc());
    if (!node.opType.empty() && !llvm::isa<tk::ConstantOp>(op))
      nodes.push_back((node.name + ":" + node.opType).str());
  });
  EXPECT_EQ(nodes, (std::vector<std::string>{"layer/act:Relu", "Neg_1:Neg"}));
}

TEST(Graph, ShapeFaultsAreOneLine) {
  ModelBuilder m;
  m.input("x", {2, 3}).input("z", {4}).output("y");
  m.node("Add", {"x", "z"}, {"y"}, "sum");
  std::string error = importError(m);
  EXPECT_THAT(error, HasSubstr("test.onnx: node 'sum' (Add): "));
  EXPECT_THAT(error, HasSubstr("4"));
}

TEST(Graph, SizesBeyondReasonAreRefused) {
  ModelBuilder m;
  m.input("x", {int64_t(1) << 40, int64_t(1) << 40}).output("y");
  m.node("Relu", {"x"}, {"y"});
  EXPECT_THAT(importError(m), HasSubstr("input 'x': a tensor would be larger than 4 TiB"));
  ModelBuilder expanded;
  expanded.input("x").output("y").initializer("shape", ints({1 << 30, 1 << 30}));
  expanded.node("Expand", {"x", "shape"}, {"y"});
  EXPECT_THAT(importError(expanded), HasSubstr("node 'Expand_0' (Expand): "));
}

//===----------------------------------------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------------------------------------===//

TEST(Functions, AttributesAndOmittedInputs) {
  ModelBuilder m;
  m.input("x", {2}).output("y").output("z");
  m.proto().add_opset_import()->set_domain("local");
  m.proto().mutable_opset_import(1)->set_version(1);
  onnx::FunctionProto &inner = m.function("local", "Leaky", {"a"}, {"b"});
  inner.add_attribute("slope");
  addReference(addNode(inner, "LeakyRelu", {"a"}, {"b"}), "alpha", "slope", onnx::AttributeProto::FLOAT);
  onnx::FunctionProto &outer = m.function("local", "Outer", {"a", "low"}, {"out"});
  outer.add_attribute("alpha");
  onnx::NodeProto &call = addNode(outer, "Leaky", {"a"}, {"t"});
  call.set_domain("local");
  addReference(call, "slope", "alpha", onnx::AttributeProto::FLOAT);
  addNode(outer, "Clip", {"t", "low"}, {"out"});
  m.initializer("floor", Tensor::scalar(DataType::Float32, -0.25));
  onnx::NodeProto &given = m.node("Outer", {"x", "floor"}, {"y"}, "one");
  given.set_domain("local");
  addAttr(given, "alpha", 0.5);
  // Without attribute and without the optional input: alpha is LeakyRelu's default.
  m.node("Outer", {"x"}, {"z"}, "two").set_domain("local");
  std::vector<Tensor> results = evaluate(m, {{"x", floats({2}, {-1, 1})}});
  ASSERT_EQ(results.size(), 2u);
  expectTensor(results[0], {2}, {-0.25, 1});
  expectTensor(results[1], {2}, {-0.01, 1});
}

TEST(Functions, NodesAreNamedByTheCall) {
  ModelBuilder m;
  m.input("x", {2}).output("y");
  onnx::FunctionProto &function = m.function("local", "F", {"a"}, {"b"});
  addNode(function, "Add", {"a", "nothing"}, {"b"});
  m.node("F", {"x"}, {"y"}, "call").set_domain("local");
  EXPECT_THAT(importError(m), HasSubstr("uses the value 'nothing', which nothing in function 'F' defines"));
  function.mutable_node(0)->set_input(1, "a");
  function.mutable_node(0)->set_op_type("Frobnicate");
  EXPECT_THAT(importError(m), HasSubstr("node 'call/Frobnicate_1' (Frobnicate)"));
}

TEST(Functions, RecursionEnds) {
  ModelBuilder m;
  m.input("x", {2}).output("y");
  onnx::FunctionProto &function = m.function("local", "F", {"a"}, {"b"});
  addNode(function, "F", {"a"}, {"b"}).set_domain("local");
  m.node("F", {"x"}, {"y"}).set_domain("local");
  EXPECT_THAT(importError(m), HasSubstr("calls itself"));
}

TEST(Functions, ExponentialGrowthEnds) {
  ModelBuilder m;
  m.input("x", {2}).output("y");
  for (int i = 0; i < 40; ++i) {
    onnx::FunctionProto &function = m.function("local", "F" + std::to_string(i), {"a"}, {"c"});
    std::string callee = i == 39 ? "Relu" : "F" + std::to_string(i + 1);
    std::string domain = i == 39 ? "" : "local";
    addNode(function, callee, {"a"}, {"b"}).set_domain(domain);
    addNode(function, callee, {"b"}, {"c"}).set_domain(domain);
  }
  m.node("F0", {"x"}, {"y"}).set_domain("local");
  EXPECT_THAT(importError(m), HasSubstr("too many nodes"));
}

TEST(Functions, DefinedTwice) {
  ModelBuilder m;
  m.input("x", {2}).output("x");
  m.function("local", "F", {"a"}, {"a"});
  m.function("local", "F", {"a"}, {"a"});
  EXPECT_THAT(importError(m), HasSubstr("defines the function 'F' twice"));
}

TEST(Graph, NodesHaveALimitOfInputs) {
  auto sum = [](size_t inputs) {
    ModelBuilder m;
    m.input("x", {2}).output("y").node("Sum", Names(inputs, "x"), {"y"}, "s");
    return importError(m);
  };
  EXPECT_EQ(sum(1024), "");
  EXPECT_THAT(sum(1025), HasSubstr("node 's' (Sum): it has 1025 inputs, but 1024 are the most; split it"));
}
