//===- GridSampleTest.cpp - tk_lib_grid_sample -----------------------------------------===//
#include "LibraryCall.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace tokamak::runtime;
using namespace tokamak::runtime::test;

namespace {

enum : int64_t { Linear, Nearest, Cubic };
enum : int64_t { Zeros, Border, Reflection };

/// Samples a row of pixels (as an image of height 1) at normalized x coordinates.
std::vector<float> sampleRow(std::vector<float> pixels, std::vector<float> coordinates, int64_t mode,
                             int64_t padding, int64_t alignCorners) {
  auto width = static_cast<int64_t>(pixels.size()), points = static_cast<int64_t>(coordinates.size());
  Array<float> image({1, 1, 1, width}, std::move(pixels)), grid({1, 1, points, 2}), result({1, 1, 1, points});
  for (size_t i = 0; i < coordinates.size(); ++i)
    grid.values[2 * i] = coordinates[i];
  EXPECT_EQ(call(tk_lib_grid_sample, {image, grid}, {result}, {mode, padding, alignCorners}), TK_OK);
  return result.values;
}

template <typename T>
class GridSample : public testing::Test {};
using Floats = testing::Types<float, double, Half, BFloat16>;
TYPED_TEST_SUITE(GridSample, Floats);

TYPED_TEST(GridSample, TheIdentityGrid) {
  using T = TypeParam;
  Array<T> image({2, 2, 2, 3}), grid({2, 2, 3, 2}), result({2, 2, 2, 3});
  for (size_t i = 0; i < image.values.size(); ++i)
    image.values[i] = store<T>(static_cast<float>(i));
  for (size_t i = 0; i < 12; ++i) {
    grid.values[2 * i] = store<T>(static_cast<float>(i % 3) - 1.0f);
    grid.values[2 * i + 1] = store<T>(i / 3 % 2 ? 1.0f : -1.0f);
  }
  for (int64_t mode : {Linear, Nearest, Cubic})
    for (int64_t padding : {Zeros, Border, Reflection}) {
      ASSERT_EQ(call(tk_lib_grid_sample, {image, grid}, {result}, {mode, padding, 1}), TK_OK);
      EXPECT_EQ(doubles(result), doubles(image)) << mode << " " << padding;
    }
}

TEST(GridSampleRow, PaddingModes) {
  // Without aligned corners the pixel centres of four pixels are at -0.75, -0.25, 0.25, 0.75.
  std::vector<float> row{1, 2, 3, 4}, outside{-1.25f, 1.25f, -1.75f, 2.25f};
  EXPECT_EQ(sampleRow(row, outside, Linear, Zeros, 0), (std::vector<float>{0, 0, 0, 0}));
  EXPECT_EQ(sampleRow(row, outside, Linear, Border, 0), (std::vector<float>{1, 4, 1, 4}));
  EXPECT_EQ(sampleRow(row, outside, Linear, Reflection, 0), (std::vector<float>{1, 4, 2, 2}));
  // The edge of the outermost pixel: half of it is padding.
  EXPECT_EQ(sampleRow(row, {-1, 1}, Linear, Zeros, 0), (std::vector<float>{0.5f, 2}));
  // With aligned corners reflection is about the pixel centres.
  EXPECT_EQ(sampleRow({1, 2, 3}, {-2, 2, -3, 4}, Linear, Reflection, 1), (std::vector<float>{2, 2, 3, 2}));
}

TEST(GridSampleRow, NearestTakesTheEvenPixelOfTwo) {
  EXPECT_EQ(sampleRow({1, 2, 3}, {-0.5f, 0.5f}, Nearest, Zeros, 1), (std::vector<float>{1, 3}));
  EXPECT_EQ(sampleRow({1, 2, 3}, {-0.4f, 0.4f}, Nearest, Zeros, 1), (std::vector<float>{2, 2}));
}

TEST(GridSampleRow, CubicReproducesALine) {
  auto result = sampleRow({0, 1, 2, 3, 4, 5, 6}, {-0.25f, 0, 0.1f}, Cubic, Border, 1);
  EXPECT_NEAR(result[0], 2.25f, 0.05); // a = -0.75 is not exact on lines away from pixels
  EXPECT_EQ(result[1], 3);
  EXPECT_NEAR(result[2], 3.3f, 0.05);
  // The weights of a point half way: -0.09375, 0.59375, 0.59375, -0.09375.
  EXPECT_NEAR(sampleRow({0, 1, 0, 0}, {0}, Cubic, Zeros, 1)[0], 0.59375f, 1e-6);
  EXPECT_NEAR(sampleRow({1, 0, 0, 0}, {0}, Cubic, Zeros, 1)[0], -0.09375f, 1e-6);
}

TEST(GridSampleRow, CubicBorderRepeatsTheLastPixel) {
  // At x = -0.5 the four pixels are 0, 0, 0 (repeated) and 1.
  EXPECT_NEAR(sampleRow({2, 4, 4}, {-1.5f}, Cubic, Border, 1)[0], 2 - 2 * 0.09375f, 1e-6);
}

TEST(GridSampleRow, CoordinatesThatAreNoNumbers) {
  std::vector<float> row{1, 2, 3}, coordinates{NAN, INFINITY, -INFINITY, 1e30f, -1e30f};
  for (int64_t mode : {Linear, Nearest, Cubic})
    for (int64_t align : {0, 1}) {
      auto zeros = sampleRow(row, coordinates, mode, Zeros, align);
      for (size_t i = 1; i < zeros.size(); ++i)
        EXPECT_EQ(zeros[i], 0);
      auto border = sampleRow(row, coordinates, mode, Border, align);
      EXPECT_EQ(border[1], 3);
      EXPECT_EQ(border[2], 1);
      EXPECT_EQ(border[3], 3);
      for (float value : sampleRow(row, coordinates, mode, Reflection, align))
        EXPECT_TRUE(std::isfinite(value));
    }
  EXPECT_EQ(sampleRow(row, {NAN}, Linear, Zeros, 1)[0], 1);
}

TEST(GridSampleRow, OnePixel) {
  for (int64_t mode : {Linear, Nearest, Cubic})
    for (int64_t padding : {Border, Reflection})
      for (int64_t align : {0, 1})
        for (float value : sampleRow({7}, {-3, -0.4f, 0, 0.9f, 5}, mode, padding, align))
          EXPECT_NEAR(value, 7, 1e-6) << mode << padding << align;
}

TEST(GridSampleVolume, TheGridNamesTheLastAxisFirst) {
  Array<float> image({1, 1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  Array<float> grid({1, 1, 1, 3, 3}, {1, -1, -1, -1, 1, -1, 0, 0, 1}), result({1, 1, 1, 1, 3});
  EXPECT_EQ(call(tk_lib_grid_sample, {image, grid}, {result}, {Linear, Zeros, 1}), TK_OK);
  EXPECT_EQ(result.values, (std::vector<float>{1, 2, 5.5f}));
}

TEST(GridSampleVolume, EmptyImagesAndGrids) {
  Array<float> image({1, 2, 0, 3}), grid({1, 1, 1, 2}), result({1, 2, 1, 1}, {9, 9});
  EXPECT_EQ(call(tk_lib_grid_sample, {image, grid}, {result}, {Linear, Border, 0}), TK_OK);
  EXPECT_EQ(result.values, (std::vector<float>{0, 0}));
  Array<float> full({1, 1, 1, 1}, {1}), noPoints({1, 0, 2, 2}), nothing({1, 1, 0, 2});
  EXPECT_EQ(call(tk_lib_grid_sample, {full, noPoints}, {nothing}, {Cubic, Reflection, 0}), TK_OK);
  Array<float> flat({1, 1}), badGrid({1, 0});
  EXPECT_EQ(call(tk_lib_grid_sample, {flat, badGrid}, {nothing}, {Linear, Zeros, 0}), TK_UNSUPPORTED);
}

} // namespace
