//===- MaxPoolIndicesTest.cpp - tk_lib_max_pool_indices --------------------------------===//
#include "LibraryCall.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace tokamak::runtime;
using namespace tokamak::runtime::test;

namespace {

/// The parameters of one spatial rank, all axes alike.
std::vector<int64_t> parameters(int64_t rank, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad,
                                bool columnMajor) {
  std::vector<int64_t> result{rank};
  for (int64_t value : {kernel, stride, dilation, pad, pad})
    result.insert(result.end(), static_cast<size_t>(rank), value);
  result.push_back(columnMajor);
  return result;
}

TEST(MaxPoolIndices, TwoAxes) {
  Array<float> input({1, 2, 3, 3}), values({1, 2, 2, 2});
  for (size_t i = 0; i < 9; ++i) {
    input.values[i] = static_cast<float>(i);
    input.values[9 + i] = -static_cast<float>(i);
  }
  Array<int64_t> indices({1, 2, 2, 2});
  EXPECT_EQ(call(tk_lib_max_pool_indices, {input}, {values, indices}, parameters(2, 2, 1, 1, 0, false)),
            TK_OK);
  EXPECT_EQ(values.values, (std::vector<float>{4, 5, 7, 8, 0, -1, -3, -4}));
  EXPECT_EQ(indices.values, (std::vector<int64_t>{4, 5, 7, 8, 9, 10, 12, 13}));
  EXPECT_EQ(call(tk_lib_max_pool_indices, {input}, {values, indices}, parameters(2, 2, 1, 1, 0, true)),
            TK_OK);
  EXPECT_EQ(indices.values, (std::vector<int64_t>{4, 7, 5, 8, 9, 12, 10, 13}));
}

TEST(MaxPoolIndices, TiesDilationAndPadding) {
  Array<int8_t> input({1, 1, 5}, {1, 7, 7, 1, 7}), values({1, 1, 3});
  Array<int64_t> indices({1, 1, 3});
  // Window of three taps two apart, stride 2, padding 2: taps {0, 2}, {0, 2, 4}, {2, 4}.
  EXPECT_EQ(call(tk_lib_max_pool_indices, {input}, {values, indices}, parameters(1, 3, 2, 2, 2, false)),
            TK_OK);
  EXPECT_EQ(values.values, (std::vector<int8_t>{7, 7, 7}));
  EXPECT_EQ(indices.values, (std::vector<int64_t>{2, 2, 2}));
}

TEST(MaxPoolIndices, NaNAndLowestValues) {
  Array<float> input({1, 1, 4}, {1, NAN, -INFINITY, -INFINITY}), values({1, 1, 2});
  Array<int64_t> indices({1, 1, 2});
  EXPECT_EQ(call(tk_lib_max_pool_indices, {input}, {values, indices}, parameters(1, 2, 2, 1, 0, false)),
            TK_OK);
  EXPECT_TRUE(std::isnan(values.values[0]));
  EXPECT_EQ(values.values[1], -INFINITY);
  EXPECT_EQ(indices.values, (std::vector<int64_t>{1, 2}));
}

TEST(MaxPoolIndices, WindowInThePadding) {
  Array<int16_t> input({1, 1, 1}, {3}), values({1, 1, 3});
  Array<int64_t> indices({1, 1, 3});
  EXPECT_EQ(call(tk_lib_max_pool_indices, {input}, {values, indices}, parameters(1, 1, 1, 1, 1, false)),
            TK_OK);
  EXPECT_EQ(values.values, (std::vector<int16_t>{INT16_MIN, 3, INT16_MIN}));
  EXPECT_EQ(indices.values, (std::vector<int64_t>{-1, 0, -1}));
}

TEST(MaxPoolIndices, EmptyBatch) {
  Array<double> input({0, 2, 4, 4}), values({0, 2, 2, 2});
  Array<int64_t> indices({0, 2, 2, 2});
  EXPECT_EQ(call(tk_lib_max_pool_indices, {input}, {values, indices}, parameters(2, 2, 2, 1, 0, false)),
            TK_OK);
}

template <typename T>
class MaxPoolTypes : public testing::Test {};
using Numbers = testing::Types<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t,
                               uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(MaxPoolTypes, Numbers);

TYPED_TEST(MaxPoolTypes, ThreeAxes) {
  using T = TypeParam;
  Array<T> input({1, 1, 2, 2, 3}), values({1, 1, 1, 1, 1});
  for (size_t i = 0; i < 12; ++i)
    input.values[i] = store<T>(static_cast<int>(i * 5 % 11)); // largest: 10 at (0, 0, 2)
  Array<int64_t> indices({1, 1, 1, 1, 1});
  std::vector<int64_t> window{3, 2, 2, 3, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0};
  ASSERT_EQ(call(tk_lib_max_pool_indices, {input}, {values, indices}, window), TK_OK);
  EXPECT_EQ(doubles(values), std::vector<double>{10});
  EXPECT_EQ(indices.values, std::vector<int64_t>{2});
  window.back() = 1;
  ASSERT_EQ(call(tk_lib_max_pool_indices, {input}, {values, indices}, window), TK_OK);
  EXPECT_EQ(indices.values, std::vector<int64_t>{2 * 2 * 2});
}

} // namespace
