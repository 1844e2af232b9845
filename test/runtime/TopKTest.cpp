//===- TopKTest.cpp - tk_lib_top_k -----------------------------------------------------===//
#include "LibraryCall.h"
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace tokamak::runtime;
using namespace tokamak::runtime::test;

namespace {

TEST(TopK, TiesTakeTheLowerIndex) {
  Array<float> input({6}, {3, 1, 3, 2, 3, 1}), values({4});
  Array<int64_t> indices({4});
  EXPECT_EQ(call(tk_lib_top_k, {input}, {values, indices}, {4, 0, 1, 1}), TK_OK);
  EXPECT_EQ(values.values, (std::vector<float>{3, 3, 3, 2}));
  EXPECT_EQ(indices.values, (std::vector<int64_t>{0, 2, 4, 3}));
  EXPECT_EQ(call(tk_lib_top_k, {input}, {values, indices}, {4, -1, 0, 1}), TK_OK);
  EXPECT_EQ(values.values, (std::vector<float>{1, 1, 2, 3}));
  EXPECT_EQ(indices.values, (std::vector<int64_t>{1, 5, 3, 0}));
}

TEST(TopK, NaNIsTheLargestAndZerosAreEqual) {
  Array<float> input({6}, {-0.0f, NAN, 0.0f, INFINITY, -INFINITY, NAN}), values({6});
  Array<int64_t> indices({6});
  EXPECT_EQ(call(tk_lib_top_k, {input}, {values, indices}, {6, 0, 1, 1}), TK_OK);
  EXPECT_EQ(indices.values, (std::vector<int64_t>{1, 5, 3, 0, 2, 4}));
  EXPECT_TRUE(std::signbit(values.values[3])); // the element itself, not its key
  EXPECT_EQ(call(tk_lib_top_k, {input}, {values, indices}, {6, 0, 0, 1}), TK_OK);
  EXPECT_EQ(indices.values, (std::vector<int64_t>{4, 0, 2, 3, 1, 5}));
}

template <typename T>
class TopKTypes : public testing::Test {};
using Numbers = testing::Types<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t,
                               uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(TopKTypes, Numbers);

TYPED_TEST(TopKTypes, AgreesWithAFullSort) {
  using T = TypeParam;
  constexpr int64_t outer = 2, inner = 3;
  std::mt19937 random(7);
  for (int64_t extent : {1, 5, 100})
    for (int64_t k : {int64_t{0}, int64_t{1}, extent / 2, extent})
      for (bool largest : {true, false}) {
        Array<T> input({outer, extent, inner}), values({outer, k, inner});
        Array<int64_t> indices({outer, k, inner});
        bool isSigned = std::is_signed_v<Compute<T>>;
        for (T &element : input.values)
          element = store<T>(static_cast<int>(random() % 40) - (isSigned ? 20 : 0));
        ASSERT_EQ(call(tk_lib_top_k, {input}, {values, indices}, {k, 1, largest, 1}), TK_OK);
        for (int64_t o = 0; o < outer; ++o)
          for (int64_t i = 0; i < inner; ++i) {
            auto at = [&](int64_t j) {
              return load(input.values[static_cast<size_t>((o * extent + j) * inner + i)]);
            };
            std::vector<int64_t> order(static_cast<size_t>(extent));
            std::iota(order.begin(), order.end(), int64_t{0});
            std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
              return at(a) != at(b) ? (at(a) > at(b)) == largest : a < b;
            });
            for (int64_t j = 0; j < k; ++j) {
              auto result = static_cast<size_t>((o * k + j) * inner + i);
              ASSERT_EQ(indices.values[result], order[static_cast<size_t>(j)]);
              ASSERT_EQ(load(values.values[result]), at(order[static_cast<size_t>(j)]));
            }
          }
      }
}

TEST(TopK, ExtremeIntegers) {
  Array<int64_t> input({4}, {INT64_MAX, INT64_MIN, -1, INT64_MAX - 1}), values({4}), indices({4});
  EXPECT_EQ(call(tk_lib_top_k, {input}, {values, indices}, {4, 0, 1, 1}), TK_OK);
  EXPECT_EQ(indices.values, (std::vector<int64_t>{0, 3, 2, 1}));
  Array<uint64_t> large({2}, {UINT64_MAX - 1, UINT64_MAX}), largeValues({2});
  Array<int64_t> two({2});
  EXPECT_EQ(call(tk_lib_top_k, {large}, {largeValues, two}, {2, 0, 1, 1}), TK_OK);
  EXPECT_EQ(two.values, (std::vector<int64_t>{1, 0}));
}

TEST(TopK, EmptyAndRefused) {
  Array<float> input({0, 5}), values({0, 2});
  Array<int64_t> indices({0, 2});
  EXPECT_EQ(call(tk_lib_top_k, {input}, {values, indices}, {2, 1, 1, 1}), TK_OK);
  Array<float> few({3}), many({4});
  Array<int64_t> manyIndices({4});
  EXPECT_EQ(call(tk_lib_top_k, {few}, {many, manyIndices}, {4, 0, 1, 1}), TK_UNSUPPORTED);
}

} // namespace
