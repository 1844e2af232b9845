//===- NormalizationTest.cpp - GroupNormalization, RMSNormalization, LpNormalization, ... --===//
#include "RunNode.h"
#include <cmath>

using namespace tokamak;
using namespace tokamak::test;
using testing::HasSubstr;

static Node groups(int64_t opset, const Tensor &scale, const Tensor &bias) {
  return {
      "GroupNormalization", opset, {floats({1, 4, 1}, {1, 3, 10, 30}), scale, bias}, [](onnx::NodeProto &n) {
        addAttr(n, "num_groups", int64_t(2));
        addAttr(n, "epsilon", 0.0);
      }};
}

TEST(GroupNormalization, ScaleIsAGroupThenAChannel) {
  expectTensor(run1(groups(18, floats({2}, {1, 2}), floats({2}, {0, 5}))), {1, 4, 1}, {-1, 1, 3, 7});
  expectTensor(run1(groups(21, floats({4}, {1, 2, 3, 4}), floats({4}, {0, 0, 0, 1}))), {1, 4, 1},
               {-1, 2, -3, 5});
  EXPECT_THAT(refusal(groups(21, floats({2}, {1, 2}), floats({2}, {0, 0}))),
              HasSubstr("must have shape [4]"));
  EXPECT_THAT(refusal(groups(18, floats({4}, {1, 2, 3, 4}), floats({4}, {0, 0, 0, 1}))),
              HasSubstr("must have shape [2]"));
}

TEST(RMSNormalization, DividesByTheRootMeanSquare) {
  auto epsilon = [](onnx::NodeProto &n) { addAttr(n, "epsilon", 0.0); };
  expectTensor(run1({"RMSNormalization", 23, {floats({1, 2}, {3, 4}), floats({2}, {1, 2})}, epsilon}), {1, 2},
               {3 / std::sqrt(12.5), 8 / std::sqrt(12.5)});
}

TEST(LayerNormalization, StatisticsOfHalvesAreSingle) {
  Node node{"LayerNormalization",
            17,
            {typed(DataType::Float16, {1, 2}, {1000, 1002}), typed(DataType::Float16, {2}, {1, 1})},
            noAttributes,
            3};
  std::vector<Tensor> y = run(node);
  EXPECT_EQ(y[0].type(), DataType::Float16);
  EXPECT_EQ(y[1].type(), DataType::Float32);
  expectTensor(y[0], {1, 2}, {-1, 1}, 1e-3);
  expectTensor(y[1], {1, 1}, {1001});
}

TEST(LpNormalization, ZeroNormGivesZeros) {
  Tensor x = floats({2, 2}, {0, 0, 3, -4});
  expectTensor(run1({"LpNormalization", 1, {x}}), {2, 2}, {0, 0, 0.6, -0.8});
  auto one = [](onnx::NodeProto &n) { addAttr(n, "p", int64_t(1)); };
  expectTensor(run1({"LpNormalization", 1, {x}, one}), {2, 2}, {0, 0, 3.0 / 7, -4.0 / 7});
  EXPECT_THAT(refusal({"LpNormalization", 1, {x}, [](onnx::NodeProto &n) { addAttr(n, "p", int64_t(3)); }}),
              HasSubstr("p must be 1 or 2"));
}

TEST(BatchNormalization, MixedTypesAndFaults) {
  auto one = [](DataType type, double value) { return typed(type, {1}, {value}); };
  Tensor x = typed(DataType::Float16, {1, 1, 2}, {1, 2});
  Node mixed{"BatchNormalization",
             15,
             {x, one(DataType::Float32, 2), one(DataType::Float32, 1), one(DataType::Float32, 1),
              one(DataType::Float32, 1)},
             [](onnx::NodeProto &n) { addAttr(n, "epsilon", 0.0); }};
  Tensor y = run1(mixed);
  EXPECT_EQ(y.type(), DataType::Float16);
  expectTensor(y, {1, 1, 2}, {1, 3});
  mixed.inputs[1] = typed(DataType::Float32, {2}, {1, 1});
  EXPECT_THAT(refusal(mixed), HasSubstr("input 1 must have shape [1]"));
  Tensor f = counting({1, 1, 2});
  Node training{"BatchNormalization",
                9,
                {f, one(DataType::Float32, 2), one(DataType::Float32, 1), one(DataType::Float32, 1),
                 one(DataType::Float32, 1)},
                noAttributes,
                5};
  EXPECT_THAT(refusal(training), HasSubstr("training form"));
}

TEST(BatchNormalization, StatisticsOfEachPosition) {
  auto perPosition = [](const std::vector<double> &values) { return floats({2, 2}, values); };
  for (int64_t opset : {7, 8}) {
    Node node{"BatchNormalization",
              opset,
              {floats({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), perPosition({1, 2, 3, 4}),
               perPosition({0, 1, 0, 1}), perPosition({1, 1, 2, 2}), perPosition({1, 4, 1, 4})},
              [](onnx::NodeProto &n) {
                addAttr(n, "epsilon", 0.0);
                addAttr(n, "spatial", int64_t(0));
              }};
    expectTensor(run1(node), {2, 2, 2}, {0, 2, 3, 5, 4, 6, 15, 13});
    node.inputs[4] = floats({2}, {1, 1});
    EXPECT_THAT(refusal(node), HasSubstr("input 4 must have shape [2,2], not [2]; "));
  }
}

TEST(LRN, EvenSizeLooksFurtherAhead) {
  Node node{"LRN", 13, {floats({1, 3, 1, 1}, {1, 2, 3})}, [](onnx::NodeProto &n) {
              addAttr(n, "size", int64_t(2));
              addAttr(n, "alpha", 2.0);
              addAttr(n, "beta", 1.0);
              addAttr(n, "bias", 1.0);
            }};
  expectTensor(run1(node), {1, 3, 1, 1}, {1.0 / 6, 2.0 / 14, 3.0 / 10});
}
