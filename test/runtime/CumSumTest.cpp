//===- CumSumTest.cpp - tk_lib_cumsum --------------------------------------------------===//
#include "LibraryCall.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace tokamak::runtime;
using namespace tokamak::runtime::test;

namespace {

TEST(CumSum, DirectionsAndExclusion) {
  Array<float> input({2, 3}, {1, 2, 3, 4, 5, 6}), output({2, 3});
  EXPECT_EQ(call(tk_lib_cumsum, {input}, {output}, {1, 0, 0}), TK_OK);
  EXPECT_EQ(output.values, (std::vector<float>{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(call(tk_lib_cumsum, {input}, {output}, {-1, 1, 0}), TK_OK);
  EXPECT_EQ(output.values, (std::vector<float>{0, 1, 3, 0, 4, 9}));
  EXPECT_EQ(call(tk_lib_cumsum, {input}, {output}, {1, 0, 1}), TK_OK);
  EXPECT_EQ(output.values, (std::vector<float>{6, 5, 3, 15, 11, 6}));
  EXPECT_EQ(call(tk_lib_cumsum, {input}, {output}, {0, 1, 1}), TK_OK);
  EXPECT_EQ(output.values, (std::vector<float>{4, 5, 6, 0, 0, 0}));
}

template <typename T>
class CumSumTypes : public testing::Test {};
using Numbers = testing::Types<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t,
                               uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(CumSumTypes, Numbers);

TYPED_TEST(CumSumTypes, MiddleAxis) {
  constexpr int64_t outer = 3, extent = 4, inner = 5;
  Array<TypeParam> input({outer, extent, inner}), output({outer, extent, inner});
  for (size_t i = 0; i < input.values.size(); ++i)
    input.values[i] = store<TypeParam>(static_cast<float>(i % 7));
  ASSERT_EQ(call(tk_lib_cumsum, {input}, {output}, {1, 0, 0}), TK_OK);
  auto from = doubles(input), to = doubles(output);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      double sum = 0;
      for (int64_t k = 0; k < extent; ++k) {
        auto at = static_cast<size_t>((o * extent + k) * inner + i);
        sum += from[at];
        ASSERT_EQ(to[at], sum);
      }
    }
}

TEST(CumSum, IntegersWrap) {
  Array<int8_t> input({3}, {100, 100, 100}), output({3});
  EXPECT_EQ(call(tk_lib_cumsum, {input}, {output}, {0, 0, 0}), TK_OK);
  EXPECT_EQ(output.values, (std::vector<int8_t>{100, -56, 44}));
  Array<int64_t> wide({2}, {INT64_MAX, 1}), wideOutput({2});
  EXPECT_EQ(call(tk_lib_cumsum, {wide}, {wideOutput}, {0, 0, 0}), TK_OK);
  EXPECT_EQ(wideOutput.values, (std::vector<int64_t>{INT64_MAX, INT64_MIN}));
}

TEST(CumSum, HalfRoundsOnceAnElement) {
  std::vector<Half> ones(4096, store<Half>(1.0f));
  Array<Half> input({4096}, ones), output({4096});
  EXPECT_EQ(call(tk_lib_cumsum, {input}, {output}, {0, 0, 0}), TK_OK);
  EXPECT_EQ(load(output.values.back()), 4096.0f); // a sum kept in half would stick at 2048
}

TEST(CumSum, SpecialValuesAndEmptyAxes) {
  Array<float> input({3}, {1, INFINITY, -INFINITY}), output({3});
  EXPECT_EQ(call(tk_lib_cumsum, {input}, {output}, {0, 0, 0}), TK_OK);
  EXPECT_EQ(output.values[1], INFINITY);
  EXPECT_TRUE(std::isnan(output.values[2]));
  for (const auto &shape : {std::vector<int64_t>{0, 3}, {3, 0}, {0}}) {
    Array<float> empty(shape), result(shape);
    EXPECT_EQ(call(tk_lib_cumsum, {empty}, {result}, {0, 0, 0}), TK_OK);
  }
  Array<Bool> unsupported({1}), result({1});
  EXPECT_EQ(call(tk_lib_cumsum, {unsupported}, {result}, {0, 0, 0}), TK_UNSUPPORTED);
  EXPECT_STREQ(tk_library_error(TK_UNSUPPORTED), "element type or parameter not supported");
}

} // namespace
