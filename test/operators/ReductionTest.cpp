//===- ReductionTest.cpp - Reduce*, ArgMax, softmax, losses --------------------------------===//
#include "RunNode.h"
#include <cmath>

using namespace tokamak;
using namespace tokamak::test;
using testing::HasSubstr;

static Attributes attributes(const std::vector<std::pair<std::string, int64_t>> &values) {
  return [=](onnx::NodeProto &n) {
    for (const auto &[name, value] : values)
      addAttr(n, name, value);
  };
}

TEST(Reduce, AxesAreAnInputFromOpset18) {
  Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  expectTensor(run1({"ReduceMax", 18, {x, ints({-1})}, attributes({{"keepdims", 0}})}), {2}, {3, 6});
  expectTensor(run1({"ReduceL2", 18, {x, ints({0})}}), {1, 3},
               {std::sqrt(17.0), std::sqrt(29.0), std::sqrt(45.0)});
  expectTensor(run1({"ReduceMean", 18, {x}}), {1, 1}, {3.5});
  // Without axes and with the flag nothing is summed, but the rest of the operator is done.
  expectTensor(run1({"ReduceSumSquare", 18, {x}, attributes({{"noop_with_empty_axes", 1}})}), {2, 3},
               {1, 4, 9, 16, 25, 36});
  expectTensor(run1({"ReduceSum", 13, {x, ints({})}, attributes({{"noop_with_empty_axes", 1}})}), {2, 3},
               {1, 2, 3, 4, 5, 6});
}

TEST(Reduce, LogSumExpOfInfinities) {
  Tensor x = floats({4, 2}, {-inf, -inf, inf, 1, 1000, 1000, NaN, 0});
  expectTensor(run1({"ReduceLogSumExp", 18, {x, ints({1})}, attributes({{"keepdims", 0}})}), {4},
               {-inf, inf, 1000 + std::log(2.0), NaN}, 1e-3);
}

TEST(Reduce, ZeroExtents) {
  Tensor x(DataType::Float32, {2, 0});
  auto over = [&](const std::string &op) {
    return run1({op, 18, {x, ints({1})}, attributes({{"keepdims", 0}})});
  };
  expectTensor(over("ReduceSum"), {2}, {0, 0});
  expectTensor(over("ReduceProd"), {2}, {1, 1});
  expectTensor(over("ReduceMax"), {2}, {-inf, -inf});
  expectTensor(over("ReduceMean"), {2}, {NaN, NaN});
  expectTensor(over("ReduceLogSumExp"), {2}, {-inf, -inf});
  Tensor integers(DataType::Int32, {0});
  expectTensor(run1({"ReduceMin", 18, {integers}, attributes({{"keepdims", 0}})}), {}, {2147483647.0});
}

TEST(Reduce, BoolAndIntegers) {
  Tensor flags = typed(DataType::Bool, {2, 2}, {0, 1, 0, 0});
  expectTensor(run1({"ReduceMax", 20, {flags, ints({1})}, attributes({{"keepdims", 0}})}), {2}, {1, 0});
  expectTensor(run1({"ReduceMin", 20, {flags, ints({0})}, attributes({{"keepdims", 0}})}), {2}, {0, 0});
  Tensor x = typed(DataType::Int64, {3}, {3, 4, 12});
  expectTensor(run1({"ReduceL2", 18, {x}, attributes({{"keepdims", 0}})}), {}, {13});
  expectTensor(run1({"ReduceMean", 18, {x}, attributes({{"keepdims", 0}})}), {}, {6});
}

TEST(Reduce, HalvesRoundOnce) {
  // 2048 + 1 is not a half; the sum in single precision is 2056.
  Tensor x = typed(DataType::Float16, {9}, {2048, 1, 1, 1, 1, 1, 1, 1, 1});
  expectTensor(run1({"ReduceSum", 13, {x}, attributes({{"keepdims", 0}})}), {}, {2056});
}

TEST(Reduce, Faults) {
  Tensor x = counting({2, 3});
  EXPECT_THAT(refusal({"ReduceSum", 13, {x, ints({2})}}),
              HasSubstr("axis 2 does not fit a tensor of rank 2"));
  EXPECT_THAT(refusal({"ReduceSum", 13, {x, ints({0, -2})}}), HasSubstr("name one axis twice"));
}

TEST(ArgMax, TiesAndFaults) {
  Tensor x = floats({2, 3}, {1, 3, 3, 2, 2, 0});
  expectTensor(run1({"ArgMax", 13, {x}, attributes({{"axis", 1}, {"keepdims", 0}})}), {2}, {1, 0});
  expectTensor(
      run1({"ArgMax", 13, {x}, attributes({{"axis", 1}, {"keepdims", 0}, {"select_last_index", 1}})}), {2},
      {2, 1});
  EXPECT_THAT(refusal({"ArgMax", 13, {scalar(1)}}), HasSubstr("no axis"));
  EXPECT_THAT(refusal({"ArgMin", 13, {Tensor(DataType::Float32, {0})}}), HasSubstr("no elements"));
}

TEST(Softmax, InfinitiesAndRanks) {
  Tensor x = floats({3, 2}, {-inf, -inf, -inf, 0, 1e4, 1e4});
  expectTensor(run1({"Softmax", 13, {x}}), {3, 2}, {NaN, NaN, 0, 1, 0.5, 0.5});
  expectTensor(run1({"LogSoftmax", 13, {floats({2}, {0, -inf})}}), {2}, {0, -inf});
  expectTensor(run1({"Softmax", 11, {counting({2})}, attributes({{"axis", 0}})}), {2},
               {0.26894142, 0.73105858});
  // Before opset 13 all axes from `axis` on form one row.
  expectTensor(run1({"Softmax", 11, {Tensor(DataType::Float32, {1, 2, 2})}}), {1, 2, 2},
               {0.25, 0.25, 0.25, 0.25});
  expectTensor(run1({"Hardmax", 11, {floats({1, 2, 2}, {1, 4, 4, 0})}}), {1, 2, 2}, {0, 1, 0, 0});
  EXPECT_EQ(run1({"Softmax", 13, {Tensor(DataType::Float32, {0, 3})}}).size(), 0);
}

TEST(Losses, IgnoredTargetsAndShapes) {
  auto node = [](std::optional<int64_t> ignored, const Tensor &target) {
    return Node{
        "NegativeLogLikelihoodLoss", 13, {floats({2, 2}, {-1, -2, -3, -4}), target}, [=](onnx::NodeProto &n) {
          if (ignored)
            addAttr(n, "ignore_index", *ignored);
        }};
  };
  expectTensor(run1(node(std::nullopt, ints({0, 1}))), {}, {2.5});
  expectTensor(run1(node(-100, ints({-100, 1}))), {}, {4});
  expectTensor(run1(node(-1, ints({-1, -1}))), {}, {NaN});
  EXPECT_THAT(refusal(node(std::nullopt, ints({0, 1, 0}))), HasSubstr("targets of shape [3]"));
}
