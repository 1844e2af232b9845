//===- MovementTest.cpp - operators that place elements elsewhere -------------------------===//
#include "Testing.h"

namespace tokamak::reference::test {
namespace {

/// Every type that movement must keep bit by bit.
constexpr DataType allTypes[] = {DataType::Bool,   DataType::Int8,    DataType::UInt8,    DataType::Int16,
                                 DataType::UInt16, DataType::Float16, DataType::BFloat16, DataType::Int32,
                                 DataType::UInt32, DataType::Float32, DataType::Int64,    DataType::UInt64,
                                 DataType::Float64};

TEST(Constant, Values) {
  auto constant = [](const std::string &literal, const std::string &type) {
    return evaluateText("func.func @f() -> " + type + " { %c = tk.constant dense<" + literal + "> : " + type +
                            " return %c : " + type + " }",
                        {});
  };
  EXPECT_TRUE(same(constant("[1.5, -2.0]", "tensor<2xf32>").results.at(0), f32({2}, {1.5, -2})));
  EXPECT_TRUE(same(constant("7", "tensor<3xi64>").results.at(0), i64({3}, {7, 7, 7})));
  EXPECT_TRUE(same(constant("[true, false, true]", "tensor<3xi1>").results.at(0), bools({3}, {1, 0, 1})));
  EXPECT_TRUE(same(constant("255", "tensor<ui8>").results.at(0), ints(DataType::UInt8, {}, {255})));
  EXPECT_TRUE(same(constant("", "tensor<0x2xf16>").results.at(0), Tensor(DataType::Float16, {0, 2})));
}

TEST(Iota, CountsAlongOneAxis) {
  EXPECT_TRUE(same(apply("iota", {}, "tensor<2x3xi64>", "shape = array<i64: 2, 3>, axis = 0 : i64, to = i64"),
                   i64({2, 3}, {0, 0, 0, 1, 1, 1})));
  for (DataType type : numberTypes)
    EXPECT_TRUE(same(apply("iota", {}, typeOf(type, {2, 3}),
                           "shape = array<i64: 2, 3>, axis = 1 : i64, to = " + elementTypeOf(type)),
                     ints(type, {2, 3}, {0, 1, 2, 0, 1, 2})));
  EXPECT_TRUE(same(apply("iota", {}, "tensor<0x3xi64>", "shape = array<i64: 0, 3>, axis = 1 : i64, to = i64"),
                   i64({0, 3}, {})));
}

TEST(Broadcast, AsNumPy) {
  for (DataType type : allTypes) {
    EXPECT_TRUE(same(apply("broadcast", {ints(type, {2, 1}, {1, 0})}, typeOf(type, {2, 2, 3}),
                           "shape = array<i64: 2, 2, 3>"),
                     ints(type, {2, 2, 3}, {1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0})));
    EXPECT_TRUE(
        same(apply("broadcast", {ints(type, {}, {1})}, typeOf(type, {0, 2}), "shape = array<i64: 0, 2>"),
             Tensor(type, {0, 2})));
  }
  EXPECT_TRUE(same(apply("broadcast", {f32({}, {3})}, "tensor<f32>", "shape = array<i64>"), f32({}, {3})));
}

TEST(Reshape, KeepsTheOrder) {
  EXPECT_TRUE(
      same(apply("reshape", {f32({2, 3}, {1, 2, 3, 4, 5, 6})}, "tensor<3x2xf32>", "shape = array<i64: 3, 2>"),
           f32({3, 2}, {1, 2, 3, 4, 5, 6})));
  EXPECT_TRUE(same(apply("reshape", {f32({1, 1}, {7})}, "tensor<f32>", "shape = array<i64>"), f32({}, {7})));
  EXPECT_TRUE(same(apply("reshape", {f32({0, 3}, {})}, "tensor<4x0xf32>", "shape = array<i64: 4, 0>"),
                   f32({4, 0}, {})));
}

TEST(Transpose, Permutes) {
  Tensor x = i64({2, 1, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(same(apply("transpose", {x}, "tensor<3x2x1xi64>", "permutation = array<i64: 2, 0, 1>"),
                   i64({3, 2, 1}, {1, 4, 2, 5, 3, 6})));
  EXPECT_TRUE(
      same(apply("transpose", {f32({}, {2})}, "tensor<f32>", "permutation = array<i64>"), f32({}, {2})));
  EXPECT_TRUE(same(apply("transpose", {f32({0, 2}, {})}, "tensor<2x0xf32>", "permutation = array<i64: 1, 0>"),
                   f32({2, 0}, {})));
}

TEST(Slice, StepsBothWays) {
  Tensor x = i64({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
  auto slice = [&](const std::string &starts, const std::string &sizes, const std::string &steps,
                   const std::string &type) {
    return apply("slice", {x}, type,
                 "starts = array<i64: " + starts + ">, sizes = array<i64: " + sizes +
                     ">, steps = array<i64: " + steps + ">");
  };
  EXPECT_TRUE(same(slice("0, 1", "2, 2", "1, 2", "tensor<2x2xi64>"), i64({2, 2}, {1, 3, 5, 7})));
  EXPECT_TRUE(
      same(slice("1, 3", "2, 4", "-1, -1", "tensor<2x4xi64>"), i64({2, 4}, {7, 6, 5, 4, 3, 2, 1, 0})));
  EXPECT_TRUE(same(slice("1, 3", "1, 2", "5, -3", "tensor<1x2xi64>"), i64({1, 2}, {7, 4})));
  EXPECT_TRUE(same(slice("0, 4", "2, 0", "1, 1", "tensor<2x0xi64>"), i64({2, 0}, {})));
  EXPECT_TRUE(same(apply("slice", {f32({}, {1})}, "tensor<f32>",
                         "starts = array<i64>, sizes = array<i64>, steps = array<i64>"),
                   f32({}, {1})));
}

TEST(Concat, AlongAnyAxis) {
  Tensor a = i64({2, 1}, {1, 2}), b = i64({2, 2}, {3, 4, 5, 6}), empty = i64({2, 0}, {});
  EXPECT_TRUE(same(apply("concat", {a, empty, b}, "tensor<2x3xi64>", "axis = 1 : i64"),
                   i64({2, 3}, {1, 3, 4, 2, 5, 6})));
  EXPECT_TRUE(same(apply("concat", {b, b}, "tensor<4x2xi64>", "axis = 0 : i64"),
                   i64({4, 2}, {3, 4, 5, 6, 3, 4, 5, 6})));
  for (DataType type : allTypes)
    EXPECT_TRUE(same(
        apply("concat", {ints(type, {1}, {1}), ints(type, {2}, {0, 1})}, typeOf(type, {3}), "axis = 0 : i64"),
        ints(type, {3}, {1, 0, 1})));
}

TEST(Pad, FillsWithTheValue) {
  EXPECT_TRUE(same(apply("pad", {f32({1, 2}, {1, 2}), f32({}, {9})}, "tensor<2x5xf32>",
                         "low = array<i64: 1, 2>, high = array<i64: 0, 1>"),
                   f32({2, 5}, {9, 9, 9, 9, 9, 9, 9, 1, 2, 9})));
  EXPECT_TRUE(same(apply("pad", {f32({0}, {}), f32({}, {nan})}, "tensor<2xf32>",
                         "low = array<i64: 1>, high = array<i64: 1>"),
                   f32({2}, {nan, nan})));
  EXPECT_TRUE(
      same(apply("pad", {f32({}, {4}), f32({}, {1})}, "tensor<f32>", "low = array<i64>, high = array<i64>"),
           f32({}, {4})));
  for (DataType type : allTypes)
    EXPECT_TRUE(same(apply("pad", {ints(type, {1}, {1}), ints(type, {}, {0})}, typeOf(type, {2}),
                           "low = array<i64: 1>, high = array<i64: 0>"),
                     ints(type, {2}, {0, 1})));
}

} // namespace
} // namespace tokamak::reference::test
