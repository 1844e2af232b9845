//===- LibraryTest.cpp - cumulative sum, top-k, pooling with indices, determinant ----------===//
#include "Testing.h"

namespace tokamak::reference::test {
namespace {

Tensor cumSum(const Tensor &x, int axis, bool exclusive, bool reverse) {
  return applySame("cumsum", {x},
                   "axis = " + std::to_string(axis) + " : i64, exclusive = " +
                       (exclusive ? "true" : "false") + ", reverse = " + (reverse ? "true" : "false"));
}

TEST(CumSum, AllDirections) {
  for (DataType type : numberTypes) {
    Tensor x = ints(type, {2, 3}, {1, 2, 3, 4, 5, 6});
    EXPECT_TRUE(same(cumSum(x, 1, false, false), ints(type, {2, 3}, {1, 3, 6, 4, 9, 15})));
    EXPECT_TRUE(same(cumSum(x, 1, true, false), ints(type, {2, 3}, {0, 1, 3, 0, 4, 9})));
    EXPECT_TRUE(same(cumSum(x, 1, false, true), ints(type, {2, 3}, {6, 5, 3, 15, 11, 6})));
    EXPECT_TRUE(same(cumSum(x, 1, true, true), ints(type, {2, 3}, {5, 3, 0, 11, 6, 0})));
    EXPECT_TRUE(same(cumSum(x, 0, false, false), ints(type, {2, 3}, {1, 2, 3, 5, 7, 9})));
  }
  EXPECT_TRUE(same(cumSum(f32({0, 2}, {}), 1, false, false), f32({0, 2}, {})));
  EXPECT_TRUE(same(cumSum(f32({2, 0}, {}), 1, false, false), f32({2, 0}, {})));
  EXPECT_TRUE(same(cumSum(ints(DataType::Int8, {2}, {100, 100}), 0, false, false),
                   ints(DataType::Int8, {2}, {100, -56})));
}

std::vector<Tensor> topK(const Tensor &x, int k, int axis, const Shape &shape, bool largest = true) {
  return evaluateOp("top_k", {x}, typeOf(x.type(), shape) + ", " + typeOf(DataType::Int64, shape),
                    "k = " + std::to_string(k) + " : i64, axis = " + std::to_string(axis) +
                        " : i64, largest = " + (largest ? "true" : "false") + ", sorted = true")
      .results;
}

TEST(TopK, OrderAndTies) {
  for (DataType type : numberTypes) {
    Tensor x = ints(type, {2, 4}, {1, 4, 4, 2, 3, 0, 3, 3});
    auto top = topK(x, 3, 1, {2, 3});
    ASSERT_EQ(top.size(), 2U);
    EXPECT_TRUE(same(top[0], ints(type, {2, 3}, {4, 4, 2, 3, 3, 3})));
    EXPECT_TRUE(same(top[1], i64({2, 3}, {1, 2, 3, 0, 2, 3})));
    auto bottom = topK(x, 2, 1, {2, 2}, false);
    EXPECT_TRUE(same(bottom[0], ints(type, {2, 2}, {1, 2, 0, 3})));
    EXPECT_TRUE(same(bottom[1], i64({2, 2}, {0, 3, 1, 0})));
    auto columns = topK(x, 1, 0, {1, 4});
    EXPECT_TRUE(same(columns[1], i64({1, 4}, {1, 0, 0, 1})));
  }
  auto none = topK(f32({2, 3}, {1, 2, 3, 4, 5, 6}), 0, 1, {2, 0});
  EXPECT_TRUE(same(none[0], f32({2, 0}, {})));
  auto empty = topK(f32({0, 3}, {}), 2, 1, {0, 2});
  EXPECT_TRUE(same(empty[1], i64({0, 2}, {})));
}

TEST(TopK, NaNIsTheLargest) {
  Tensor x = f32({4}, {inf, nan, -inf, nan});
  auto top = topK(x, 3, 0, {3});
  EXPECT_TRUE(same(top[0], f32({3}, {nan, nan, inf})));
  EXPECT_TRUE(same(top[1], i64({3}, {1, 3, 0})));
  auto bottom = topK(x, 3, 0, {3}, false);
  EXPECT_TRUE(same(bottom[0], f32({3}, {-inf, inf, nan})));
  EXPECT_TRUE(same(bottom[1], i64({3}, {2, 0, 1})));
}

std::vector<Tensor> maxPool(const Tensor &x, const std::string &attributes, const Shape &shape,
                            bool columnMajor = false) {
  return evaluateOp("max_pool_indices", {x}, typeOf(x.type(), shape) + ", " + typeOf(DataType::Int64, shape),
                    attributes + ", column_major = " + (columnMajor ? "true" : "false"))
      .results;
}

TEST(MaxPoolIndices, CountsInTheWholeInput) {
  const std::string attributes =
      "kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, "
      "pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>";
  for (DataType type : numberTypes) {
    Tensor x = ints(type, {1, 2, 2, 3}, {1, 9, 2, 3, 4, 5, 6, 6, 6, 6, 6, 7});
    auto rows = maxPool(x, attributes, {1, 2, 1, 2});
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_TRUE(same(rows[0], ints(type, {1, 2, 1, 2}, {9, 9, 6, 7})));
    EXPECT_TRUE(same(rows[1], i64({1, 2, 1, 2}, {1, 1, 6, 11})));
    auto columns = maxPool(x, attributes, {1, 2, 1, 2}, true);
    EXPECT_TRUE(same(columns[1], i64({1, 2, 1, 2}, {2, 2, 6, 11})));
  }
}

TEST(MaxPoolIndices, PaddingNaNAndInfinities) {
  const std::string attributes =
      "kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, "
      "pads_low = array<i64: 1>, pads_high = array<i64: 4>";
  auto pooled = maxPool(f32({1, 1, 3}, {-inf, nan, nan}), attributes, {1, 1, 4});
  EXPECT_TRUE(same(pooled[0], f32({1, 1, 4}, {-inf, nan, -inf, -inf})));
  EXPECT_TRUE(same(pooled[1], i64({1, 1, 4}, {0, 1, -1, -1})));
  const std::string dilated = "kernel = array<i64: 2>, strides = array<i64: 1>, dilations = array<i64: 2>, "
                              "pads_low = array<i64: 0>, pads_high = array<i64: 0>";
  auto spread = maxPool(f32({1, 1, 4}, {3, 1, 2, 8}), dilated, {1, 1, 2});
  EXPECT_TRUE(same(spread[0], f32({1, 1, 2}, {3, 8})));
  EXPECT_TRUE(same(spread[1], i64({1, 1, 2}, {0, 3})));
}

TEST(Det, BatchesPivotsAndEdges) {
  for (DataType type : floatTypes) {
    EXPECT_TRUE(same(apply("det", {make(type, {2, 2, 2}, {1, 2, 3, 4, 0, 1, 1, 0})}, typeOf(type, {2})),
                     make(type, {2}, {-2, -1}), 1e-12));
    EXPECT_TRUE(same(apply("det", {make(type, {1, 1}, {-3})}, typeOf(type, {})), make(type, {}, {-3})));
    EXPECT_TRUE(
        same(apply("det", {make(type, {2, 2}, {1, 2, 2, 4})}, typeOf(type, {})), make(type, {}, {0}), 1e-12));
  }
  EXPECT_TRUE(
      same(apply("det", {f32({3, 3}, {2, 0, 1, 1, 3, 2, 1, 1, 4})}, "tensor<f32>"), f32({}, {18}), 1e-5));
  EXPECT_TRUE(same(apply("det", {f32({2, 0, 0}, {})}, "tensor<2xf32>"), f32({2}, {1, 1})));
  EXPECT_TRUE(same(apply("det", {f32({0, 2, 2}, {})}, "tensor<0xf32>"), f32({0}, {})));
}

} // namespace
} // namespace tokamak::reference::test
