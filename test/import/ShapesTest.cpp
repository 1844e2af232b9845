//===- ShapesTest.cpp - concrete shapes, bound inputs, hints -----------------------------------===//
#include "ModelBuilder.h"
#include "mlir/IR/MLIRContext.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::test;
using testing::HasSubstr;

using Shapes = std::map<std::string, std::vector<int64_t>>;

static import::ImportOptions withShapes(Shapes shapes) {
  import::ImportOptions options;
  options.shapes = std::move(shapes);
  return options;
}

/// y = x + z over [N, S] and [N, 1].
struct TwoInputs : ModelBuilder {
  TwoInputs() {
    input("x", {std::string("N"), std::string("S")}).input("z", {std::string("N"), 1}).output("y");
    node("Add", {"x", "z"}, {"y"});
  }
};

TEST(Shapes, SymbolsBindEverywhereAndDefaultToOne) {
  TwoInputs m;
  EXPECT_THAT(importedText(m), HasSubstr("-> (tensor<1x1xf32> {"));
  EXPECT_THAT(importedText(m, withShapes({{"x", {4, 5}}})), HasSubstr("-> (tensor<4x5xf32> {"));
  EXPECT_THAT(importedText(m, withShapes({{"z", {3, 1}}})), HasSubstr("-> (tensor<3x1xf32> {"));
  EXPECT_THAT(importedText(m, withShapes({{"x", {0, 2}}})), HasSubstr("-> (tensor<0x2xf32> {"));
}

TEST(Shapes, Conflicts) {
  TwoInputs m;
  EXPECT_EQ(importError(m, withShapes({{"x", {4, 5}}, {"z", {3, 1}}})),
            "test.onnx: input 'z': gives the dimension 'N' the extent 3, but input 'x' gave it 4; give both "
            "the same");
  EXPECT_EQ(importError(m, withShapes({{"x", {4}}})),
            "test.onnx: input 'x': was given the shape [4], but has the shape [N, S]; give 2 extents");
  EXPECT_THAT(importError(m, withShapes({{"z", {3, 2}}})), HasSubstr("axis 1 must be 1"));
  EXPECT_THAT(importError(m, withShapes({{"x", {-1, 2}}})), HasSubstr("extents cannot be negative"));
  EXPECT_EQ(importError(m, withShapes({{"q", {1}}})),
            "test.onnx: --shape names 'q', which is no input of the model; its inputs are: x, z");
}

TEST(Shapes, FaultsSayWhatWasAssumed) {
  ModelBuilder m;
  m.input("x", {std::string("N"), 3}).output("y").initializer("w", floats({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}));
  m.node("Add", {"x", "w"}, {"y"});
  EXPECT_THAT(importError(m),
              HasSubstr("; input 'x' [N, 3] was taken as [1, 3], give its shape with --shape x=..."));
}

TEST(Shapes, UnknownRank) {
  ModelBuilder m;
  m.input("x").output("y");
  m.graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  m.node("Relu", {"x"}, {"y"});
  EXPECT_EQ(importError(m), "test.onnx: input 'x': has no declared rank; give its shape with --shape x=...");
  EXPECT_THAT(importedText(m, withShapes({{"x", {2, 2}}})), HasSubstr("-> (tensor<2x2xf32> {"));
}

TEST(Shapes, InputsThatAreNoTensors) {
  ModelBuilder m;
  m.input("x").output("x");
  m.graph.mutable_input(0)->mutable_type()->mutable_sequence_type();
  EXPECT_EQ(importError(m), "test.onnx: input 'x': is a sequence; only tensors can be compiled");
  m.graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(8);
  EXPECT_THAT(importError(m), HasSubstr("input 'x': has elements of type string"));
  m.graph.mutable_input(0)->clear_type();
  EXPECT_THAT(importError(m), HasSubstr("input 'x': is undefined"));
}

//===----------------------------------------------------------------------------------------------------===//
// Bound inputs and hints
//===----------------------------------------------------------------------------------------------------===//

/// y = reshape(x, shape * 1), where `shape` is an input.
struct ReshapeByInput : ModelBuilder {
  ReshapeByInput() {
    input("x", {2, 3}).input("shape", {2}, DataType::Int64).output("y").initializer("one", ints({1}));
    node("Mul", {"shape", "one"}, {"target"});
    node("Reshape", {"x", "target"}, {"y"}, "view");
  }
};

TEST(Values, WhatTheStructureNeedsIsAskedFor) {
  ReshapeByInput m;
  std::string error = importError(m);
  EXPECT_THAT(error, HasSubstr("test.onnx: node 'view' (Reshape): "));
  EXPECT_THAT(error, HasSubstr("depends on the value of input 'shape'"));
  EXPECT_THAT(error, HasSubstr("--bind shape=FILE.npy"));
}

TEST(Values, BoundInputsLeaveTheSignature) {
  ReshapeByInput m;
  import::ImportOptions options;
  options.bound["shape"] = ints({3, 2});
  std::string text = importedText(m, options);
  EXPECT_THAT(text, HasSubstr("tensor<3x2xf32>"));
  EXPECT_EQ(text.find("\"shape\""), std::string::npos);
  options.bound["shape"] = ints({3, 2, 1});
  EXPECT_THAT(importError(m, options), HasSubstr("was given the shape [3], but has the shape [2]"));
  options.bound["shape"] = floats({2}, {3, 2});
  EXPECT_THAT(importError(m, options), HasSubstr("was given a value of type float32, but has type int64"));
  options.bound = {{"nothing", ints({1})}};
  EXPECT_THAT(importError(m, options), HasSubstr("--bind names 'nothing'"));
}

TEST(Values, HintsSpecialise) {
  ReshapeByInput m;
  import::ImportOptions options;
  options.hints["shape"] = ints({6, 1});
  options.hints["x"] = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  std::string bytes = m.bytes();
  auto model = import::Model::fromMemory(bytes.data(), bytes.size());
  ASSERT_TRUE(static_cast<bool>(model));
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto imported = (*model)->import(context, options);
  ASSERT_TRUE(static_cast<bool>(imported)) << llvm::toString(imported.takeError());
  EXPECT_EQ(imported->specialized, std::vector<std::string>{"shape"}) << "the value of x does not matter";
  std::vector<Tensor> results =
      evaluate(m, {{"x", options.hints["x"]}, {"shape", ints({6, 1})}}, /*hinted=*/true);
  expectTensor(results.at(0), {6, 1}, {1, 2, 3, 4, 5, 6});
}

TEST(Values, MemoryForAShapeIsBounded) {
  // 8 GiB of zeros, without arithmetic.
  ModelBuilder m;
  m.initializer("zero", ints({0})).initializer("many", ints({int64_t(1) << 30})).output("y");
  m.node("Expand", {"zero", "many"}, {"zeros"});
  m.node("ReduceMax", {"zeros"}, {"largest"});
  m.node("ConstantOfShape", {"largest"}, {"y"}, "fill");
  EXPECT_THAT(importError(m), AllOf(HasSubstr("node 'fill'"), HasSubstr("too much arithmetic")));
}

TEST(Values, HintsThatAreNotNeededDoNotSpecialise) {
  TwoInputs m;
  import::ImportOptions options;
  options.hints["x"] = floats({2, 2}, {1, 2, 3, 4});
  std::string bytes = m.bytes();
  auto model = import::Model::fromMemory(bytes.data(), bytes.size());
  ASSERT_TRUE(static_cast<bool>(model));
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto imported = (*model)->import(context, options);
  ASSERT_TRUE(static_cast<bool>(imported)) << llvm::toString(imported.takeError());
  EXPECT_TRUE(imported->specialized.empty());
}

TEST(Values, OneNumberBindsAnInputOfOneElement) {
  ModelBuilder m;
  m.input("x", {2}).input("scale", {1, 1}).output("y");
  m.node("Mul", {"x", "scale"}, {"y"});
  import::ImportOptions options;
  options.bound["scale"] = Tensor::scalar(DataType::Float32, 2);
  EXPECT_THAT(importedText(m, options), HasSubstr("tensor<1x2xf32>"));
}

TEST(Shapes, RanksHaveALimit) {
  auto relu = [](size_t rank, bool initializer) {
    ModelBuilder m;
    if (initializer)
      m.initializer("x", floats(std::vector<int64_t>(rank, 1), {1}));
    else
      m.input("x", Dims(rank, int64_t(1)));
    m.output("y").node("Relu", {"x"}, {"y"}, "r");
    return importError(m);
  };
  EXPECT_EQ(relu(128, false), "");
  EXPECT_THAT(relu(129, false), HasSubstr("input 'x': a tensor would have rank 129, but 128 axes"));
  EXPECT_THAT(relu(129, true), HasSubstr("node 'r' (Relu): a tensor would have rank 129"));
}
