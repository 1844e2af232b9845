//===- ScatterTest.cpp - tk_lib_scatter_elements and tk_lib_scatter_nd -----------------===//
#include "LibraryCall.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace tokamak::runtime;
using namespace tokamak::runtime::test;

namespace {

enum : int64_t { None, Add, Mul, Max, Min };

TEST(ScatterElements, AxesAndNegativeIndices) {
  Array<float> data({3, 3}), updates({2, 3}, {1, 1.1f, 1.2f, 2, 2.1f, 2.2f}), result({3, 3});
  Array<int64_t> indices({2, 3}, {1, 0, 2, 0, 2, 1});
  EXPECT_EQ(call(tk_lib_scatter_elements, {data, indices, updates}, {result}, {0, None}), TK_OK);
  EXPECT_EQ(result.values, (std::vector<float>{2, 1.1f, 0, 1, 0, 2.2f, 0, 2.1f, 1.2f}));
  Array<float> row({1, 5}, {1, 2, 3, 4, 5}), two({1, 2}, {1.1f, 2.1f}), rowResult({1, 5});
  Array<int32_t> ends({1, 2}, {1, -2});
  EXPECT_EQ(call(tk_lib_scatter_elements, {row, ends, two}, {rowResult}, {-1, None}), TK_OK);
  EXPECT_EQ(rowResult.values, (std::vector<float>{1, 1.1f, 3, 2.1f, 5}));
}

template <typename T>
class ScatterTypes : public testing::Test {};
using Numbers = testing::Types<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t,
                               uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(ScatterTypes, Numbers);

TYPED_TEST(ScatterTypes, DuplicatesCombineInOrder) {
  using T = TypeParam;
  Array<T> data({4}, elements<T>({5, 6, 7, 8})), updates({3}, elements<T>({2, 9, 3})), result({4});
  Array<int64_t> indices({3}, {1, 1, 1}), points({3, 1}, {1, -3, 1});
  for (auto [reduction, expected] : {std::pair<int64_t, double>{None, 3},
                                     {Add, 20},
                                     {Mul, sizeof(T) == 1 ? 324 - 256 : 324},
                                     {Max, 9},
                                     {Min, 2}}) {
    std::vector<double> all{5, expected, 7, 8};
    EXPECT_EQ(call(tk_lib_scatter_elements, {data, indices, updates}, {result}, {0, reduction}), TK_OK);
    EXPECT_EQ(doubles(result), all) << reduction;
    EXPECT_EQ(call(tk_lib_scatter_nd, {data, points, updates}, {result}, {reduction}), TK_OK);
    EXPECT_EQ(doubles(result), all) << reduction;
  }
}

TEST(ScatterElements, MaxAndMinPropagateNaN) {
  for (int64_t reduction : {int64_t{Max}, int64_t{Min}}) {
    Array<float> data({2}, {NAN, 1}), updates({2}, {1, NAN}), result({2});
    Array<int64_t> indices({2}, {0, 1});
    EXPECT_EQ(call(tk_lib_scatter_elements, {data, indices, updates}, {result}, {0, reduction}), TK_OK);
    EXPECT_TRUE(std::isnan(result.values[0]) && std::isnan(result.values[1]));
  }
}

TEST(ScatterElements, HalfSumsRoundOnce) {
  Array<Half> data({1}, elements<Half>({2048})), updates({2}, elements<Half>({1, 1})), result({1});
  Array<int64_t> indices({2}, {0, 0});
  EXPECT_EQ(call(tk_lib_scatter_elements, {data, indices, updates}, {result}, {0, Add}), TK_OK);
  EXPECT_EQ(doubles(result), std::vector<double>{2050});
}

TEST(ScatterElements, BoolValues) {
  Array<Bool> data({3}, elements<Bool>({1, 0, 0})), updates({2}, elements<Bool>({0, 1})), result({3});
  Array<int64_t> indices({2}, {0, 2});
  EXPECT_EQ(call(tk_lib_scatter_elements, {data, indices, updates}, {result}, {0, None}), TK_OK);
  EXPECT_EQ(doubles(result), (std::vector<double>{0, 0, 1}));
}

TEST(ScatterElements, OutOfRangeIsAnError) {
  Array<float> data({3}, {1, 2, 3}), updates({1}, {9}), result({3});
  for (int64_t bad : {int64_t{3}, int64_t{-4}, INT64_MAX, INT64_MIN}) {
    Array<int64_t> indices({1}, {bad}), point({1, 1}, {bad});
    EXPECT_EQ(call(tk_lib_scatter_elements, {data, indices, updates}, {result}, {0, None}),
              TK_INDEX_OUT_OF_RANGE);
    EXPECT_EQ(call(tk_lib_scatter_nd, {data, point, updates}, {result}, {None}), TK_INDEX_OUT_OF_RANGE);
  }
  const std::string text = tk_library_error(TK_INDEX_OUT_OF_RANGE);
  EXPECT_EQ(text.find("an index is out of range; give"), 0u) << text;
  EXPECT_EQ(tk_library_error(TK_INDEX_OUT_OF_RANGE | 7 << TK_FAULT_BITS), text);
}

TEST(ScatterElements, NoUpdates) {
  Array<float> data({2, 2}, {1, 2, 3, 4}), updates({0, 2}), result({2, 2});
  Array<int64_t> indices({0, 2});
  EXPECT_EQ(call(tk_lib_scatter_elements, {data, indices, updates}, {result}, {0, None}), TK_OK);
  EXPECT_EQ(result.values, data.values);
  Array<float> empty({0}), nothing({0}), emptyResult({0});
  Array<int64_t> noIndices({0});
  EXPECT_EQ(call(tk_lib_scatter_elements, {empty, noIndices, nothing}, {emptyResult}, {0, Add}), TK_OK);
}

TEST(ScatterND, SlicesElementsAndTheWhole) {
  Array<int32_t> data({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), result({2, 2, 2});
  Array<int64_t> rows({2, 2}, {0, 1, 1, 0});
  Array<int32_t> rowUpdates({2, 2}, {30, 40, 50, 60});
  EXPECT_EQ(call(tk_lib_scatter_nd, {data, rows, rowUpdates}, {result}, {None}), TK_OK);
  EXPECT_EQ(result.values, (std::vector<int32_t>{1, 2, 30, 40, 50, 60, 7, 8}));
  Array<int64_t> element({3}, {-1, 0, 1});
  Array<int32_t> one({}, std::vector<int32_t>{99});
  EXPECT_EQ(call(tk_lib_scatter_nd, {data, element, one}, {result}, {None}), TK_OK);
  EXPECT_EQ(result.values, (std::vector<int32_t>{1, 2, 3, 4, 5, 99, 7, 8}));
  Array<int64_t> whole({1, 0});
  Array<int32_t> all({1, 2, 2, 2}, {8, 7, 6, 5, 4, 3, 2, 1});
  EXPECT_EQ(call(tk_lib_scatter_nd, {data, whole, all}, {result}, {Add}), TK_OK);
  EXPECT_EQ(result.values, std::vector<int32_t>(8, 9));
}

TEST(ScatterND, ZeroExtents) {
  Array<float> data({2, 0}), updates({1, 0}), result({2, 0});
  Array<int64_t> indices({1, 1}, {1});
  EXPECT_EQ(call(tk_lib_scatter_nd, {data, indices, updates}, {result}, {None}), TK_OK);
  Array<float> full({2}, {1, 2}), none({0}), same({2});
  Array<int64_t> noIndices({0, 1});
  EXPECT_EQ(call(tk_lib_scatter_nd, {full, noIndices, none}, {same}, {Mul}), TK_OK);
  EXPECT_EQ(same.values, full.values);
}

} // namespace
