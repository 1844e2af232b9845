//===- RoiAlignTest.cpp - tk_lib_roi_align ---------------------------------------------===//
#include "LibraryCall.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace tokamak::runtime;
using namespace tokamak::runtime::test;

namespace {

/// An 8x8 image whose pixel (y, x) is 8 y + x: bilinear sampling inside it is exact.
template <typename T>
Array<T> ramp() {
  Array<T> image({1, 1, 8, 8});
  for (size_t i = 0; i < 64; ++i)
    image.values[i] = store<T>(static_cast<float>(i));
  return image;
}

template <typename T>
class RoiAlign : public testing::Test {};
using Floats = testing::Types<float, double, Half, BFloat16>;
TYPED_TEST_SUITE(RoiAlign, Floats);

TYPED_TEST(RoiAlign, AveragesOfARamp) {
  using T = TypeParam;
  auto image = ramp<T>();
  Array<T> rois({1, 4}, elements<T>({1, 2, 5, 6})), result({1, 1, 2, 2});
  Array<int64_t> batches({1});
  for (int64_t sampling : {0, 1, 2, 3}) {
    // Cells are 2x2 pixels; the mean of a linear function is its value at the centre.
    ASSERT_EQ(call(tk_lib_roi_align, {image, rois, batches}, {result}, {0, 0, sampling}, {1.0}), TK_OK);
    std::vector<double> expected{3 * 8 + 2, 3 * 8 + 4, 5 * 8 + 2, 5 * 8 + 4}, actual = doubles(result);
    for (size_t i = 0; i < 4; ++i)
      EXPECT_NEAR(actual[i], expected[i], 1e-12);
  }
  // Half a pixel off in each direction.
  ASSERT_EQ(call(tk_lib_roi_align, {image, rois, batches}, {result}, {0, 1, 2}, {1.0}), TK_OK);
  auto shifted = doubles(result);
  EXPECT_NEAR(shifted[0], 26 - 4.5, 0.2);
}

TEST(RoiAlign, MaximumOfWeightedCorners) {
  auto image = ramp<float>();
  Array<float> rois({1, 4}, {1, 1, 3, 3}), result({1, 1, 1, 1});
  Array<int32_t> batches({1});
  // One sample at (2, 2): the whole weight is on one corner.
  ASSERT_EQ(call(tk_lib_roi_align, {image, rois, batches}, {result}, {1, 0, 1}, {1.0}), TK_OK);
  EXPECT_EQ(result.values[0], 18);
  // One sample at (2.5, 2.5): a quarter of the largest corner, pixel (3, 3).
  rois.values = {1, 1, 4, 4};
  ASSERT_EQ(call(tk_lib_roi_align, {image, rois, batches}, {result}, {1, 0, 1}, {1.0}), TK_OK);
  EXPECT_EQ(result.values[0], 27.0f / 4);
}

TEST(RoiAlign, RegionsOffTheImage) {
  auto image = ramp<float>();
  Array<float> rois({4, 4},
                    {100, 100, 200, 200, -1e9f, -1e9f, 1e9f, 1e9f, NAN, 0, NAN, 4, 0, 0, 1e30f, 1e30f});
  Array<float> result({4, 1, 2, 2});
  Array<int64_t> batches({4});
  for (int64_t maxMode : {0, 1}) {
    ASSERT_EQ(call(tk_lib_roi_align, {image, rois, batches}, {result}, {maxMode, 0, 0}, {1.0}), TK_OK);
    for (float value : result.values)
      EXPECT_TRUE(value >= 0 && value <= 63) << value;
    EXPECT_EQ(result.values[0], 0);
  }
}

TEST(RoiAlign, LargeRegionsEqualTheirFullSum) {
  // A region of 40x40 around the image: all samples by hand.
  auto image = ramp<float>();
  Array<float> rois({1, 4}, {-16, -16, 24, 24}), result({1, 1, 1, 1});
  Array<int64_t> batches({1});
  ASSERT_EQ(call(tk_lib_roi_align, {image, rois, batches}, {result}, {0, 0, 0}, {1.0}), TK_OK);
  double sum = 0;
  for (int y = -16; y < 24; ++y)
    for (int x = -16; x < 24; ++x) {
      double sampleY = y + 0.5, sampleX = x + 0.5;
      if (sampleY < -1 || sampleY > 8 || sampleX < -1 || sampleX > 8)
        continue;
      auto clamp = [](double v) { return v < 0 ? 0 : v > 7 ? 7 : v; };
      sum += 8 * clamp(sampleY) + clamp(sampleX);
    }
  EXPECT_NEAR(result.values[0], sum / 1600, 1e-5);
}

TEST(RoiAlign, BatchIndices) {
  Array<float> image({2, 1, 1, 1}, {3, 5}), rois({2, 4}, {0, 0, 1, 1, 0, 0, 1, 1}), result({2, 1, 1, 1});
  Array<int64_t> batches({2}, {1, 0});
  EXPECT_EQ(call(tk_lib_roi_align, {image, rois, batches}, {result}, {0, 0, 0}, {1.0}), TK_OK);
  EXPECT_EQ(result.values, (std::vector<float>{5, 3}));
  batches.values[1] = 2;
  EXPECT_EQ(call(tk_lib_roi_align, {image, rois, batches}, {result}, {0, 0, 0}, {1.0}),
            TK_INDEX_OUT_OF_RANGE);
  Array<float> noRois({0, 4}), nothing({0, 1, 1, 1});
  Array<int64_t> noBatches({0});
  EXPECT_EQ(call(tk_lib_roi_align, {image, noRois, noBatches}, {nothing}, {0, 0, 0}, {1.0}), TK_OK);
}

} // namespace
