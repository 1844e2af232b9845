//===- DeterminantTest.cpp - tk_lib_det ------------------------------------------------===//
#include "LibraryCall.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace tokamak::runtime;
using namespace tokamak::runtime::test;

namespace {

template <typename T>
class Determinant : public testing::Test {};
using Floats = testing::Types<float, double, Half, BFloat16>;
TYPED_TEST_SUITE(Determinant, Floats);

TYPED_TEST(Determinant, SmallMatrices) {
  using T = TypeParam;
  // The second needs a row exchange, the third is singular.
  Array<T> input({3, 3, 3}, elements<T>({2, 0, 1, 0, 3, 0, 1, 0, 4, //
                                         0, 1, 0, 1, 0, 0, 0, 0, 5, //
                                         1, 2, 3, 2, 4, 6, 1, 0, 1}));
  Array<T> output({3});
  ASSERT_EQ(call(tk_lib_det, {input}, {output}, {}), TK_OK);
  EXPECT_EQ(doubles(output), (std::vector<double>{21, -5, 0}));
}

TEST(Det, RanksAndExtents) {
  Array<float> one({1, 1}, {-3}), scalar({});
  EXPECT_EQ(call(tk_lib_det, {one}, {scalar}, {}), TK_OK);
  EXPECT_EQ(scalar.values[0], -3);
  Array<float> empty({2, 0, 0}), ones({2});
  EXPECT_EQ(call(tk_lib_det, {empty}, {ones}, {}), TK_OK);
  EXPECT_EQ(ones.values, (std::vector<float>{1, 1}));
  Array<float> none({0, 2, 2}), nothing({0});
  EXPECT_EQ(call(tk_lib_det, {none}, {nothing}, {}), TK_OK);
  for (size_t place = 0; place < 4; ++place) {
    Array<float> bad({2, 2}, {0, 1, 1, 1});
    bad.values[place] = NAN;
    EXPECT_EQ(call(tk_lib_det, {bad}, {scalar}, {}), TK_OK);
    EXPECT_TRUE(std::isnan(scalar.values[0])) << place;
  }
}

} // namespace
