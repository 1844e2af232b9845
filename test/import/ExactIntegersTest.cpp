//===- ExactIntegersTest.cpp - operators that the standard describes by real numbers, on 64 bits ------===//
#include "ModelBuilder.h"
#include <gtest/gtest.h>

using namespace tokamak;
using namespace tokamak::test;

namespace {
constexpr int64_t large = (int64_t(1) << 59) - 1; // between two doubles
} // namespace

TEST(ExactIntegers, Shrink) {
  for (auto [bias, expected] :
       std::vector<std::pair<double, int64_t>>{{0.0, large}, {3.0, large - 3}, {-2.0, large + 2}}) {
    ModelBuilder m;
    m.input("x", {3}, DataType::Int64).output("y");
    onnx::NodeProto &node = m.node("Shrink", {"x"}, {"y"});
    addAttr(node, "lambd", 0.5);
    addAttr(node, "bias", bias);
    Tensor y = evaluate(m, {{"x", ints({large, -large, 0})}}).at(0);
    EXPECT_EQ(y.intAt(0), expected);
    EXPECT_EQ(y.intAt(1), -expected);
    EXPECT_EQ(y.intAt(2), 0);
  }
}

TEST(ExactIntegers, PowerWithAnotherType) {
  ModelBuilder m;
  m.input("x", {2}, DataType::Int64).output("y").initializer("e", Tensor::scalar(DataType::Int32, 2));
  m.node("Pow", {"x", "e"}, {"y"});
  Tensor y = evaluate(m, {{"x", ints({3037000499, -3})}}).at(0);
  EXPECT_EQ(y.intAt(0), 9223372030926249001);
  EXPECT_EQ(y.intAt(1), 9);
}
