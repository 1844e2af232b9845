//===- SamplingTest.cpp - reading images between their pixels --------------------------------===//
#include "Testing.h"

namespace tokamak::reference::test {
namespace {

struct Roi {
  std::string mode = "false", halfPixel = "false";
  int64_t height = 1, width = 1, ratio = 1;
  double scale = 1;
};

std::string attributes(const Roi &roi) {
  return "max_mode = " + roi.mode + ", half_pixel = " + roi.halfPixel +
         ", height = " + std::to_string(roi.height) + " : i64, width = " + std::to_string(roi.width) +
         " : i64, sampling_ratio = " + std::to_string(roi.ratio) +
         " : i64, spatial_scale = " + std::to_string(roi.scale) + " : f64";
}

const Tensor image = f32({1, 1, 2, 4}, {0, 1, 2, 3, 10, 11, 12, 13});

TEST(RoiAlign, SamplesBetweenPixels) {
  // One sample in the middle of the region: at (1, 0.5) in x and y.
  EXPECT_TRUE(same(apply("roi_align", {image, f32({1, 4}, {0, 0, 2, 1}), i64({1}, {0})},
                         "tensor<1x1x1x1xf32>", attributes({})),
                   f32({1, 1, 1, 1}, {6})));
  // Half pixels move it by half a pixel in both; scale applies first.
  Roi scaled{.halfPixel = "true", .scale = 0.5};
  EXPECT_TRUE(same(apply("roi_align", {image, f32({1, 4}, {0, 0, 6, 4}), i64({1}, {0})},
                         "tensor<1x1x1x1xf32>", attributes(scaled)),
                   f32({1, 1, 1, 1}, {6})));
  // Two bins in x, each one sample: x = 0.75 and 2.25.
  Roi wide{.width = 2};
  EXPECT_TRUE(same(apply("roi_align", {image, f32({1, 4}, {0, 0, 3, 1}), i64({1}, {0})},
                         "tensor<1x1x1x2xf32>", attributes(wide)),
                   f32({1, 1, 1, 2}, {5.75, 7.25})));
}

TEST(RoiAlign, AdaptiveSamplesAndBorders) {
  // ceil(3 / 1) samples in x at 0.5, 1.5, 2.5; one in y at 0.5.
  Roi adaptive{.ratio = 0};
  EXPECT_TRUE(same(apply("roi_align", {image, f32({1, 4}, {0, 0, 3, 1}), i64({1}, {0})},
                         "tensor<1x1x1x1xf32>", attributes(adaptive)),
                   f32({1, 1, 1, 1}, {6.5})));
  // A region smaller than a pixel grows to one without half pixels, and has no samples with them.
  Tensor point = f32({1, 4}, {1, 0, 1, 0});
  EXPECT_TRUE(
      same(apply("roi_align", {image, point, i64({1}, {0})}, "tensor<1x1x1x1xf32>", attributes(adaptive)),
           f32({1, 1, 1, 1}, {6.5})));
  adaptive.halfPixel = "true";
  for (const char *mode : {"false", "true"}) {
    adaptive.mode = mode;
    EXPECT_TRUE(
        same(apply("roi_align", {image, point, i64({1}, {0})}, "tensor<1x1x1x1xf32>", attributes(adaptive)),
             f32({1, 1, 1, 1}, {0})));
  }
  // More than a pixel outside: zero. Up to a pixel: the border.
  EXPECT_TRUE(
      same(apply("roi_align", {image, f32({2, 4}, {10, 0, 11, 1, -1.5, 0, -0.5, 1}), i64({2}, {0, 0})},
                 "tensor<2x1x1x1xf32>", attributes({})),
           f32({2, 1, 1, 1}, {0, 5})));
  // A region of 10^9 pixels costs no more than the image; NaN is outside.
  Roi large{.ratio = 0};
  EXPECT_TRUE(same(apply("roi_align", {image, f32({2, 4}, {0, 0, 1e9, 1, nan, 0, 1, 1}), i64({2}, {0, 0})},
                         "tensor<2x1x1x1xf32>", attributes(large)),
                   f32({2, 1, 1, 1}, {0, 0}), 1e-6));
}

TEST(RoiAlign, MaximumOfWeightedPixels) {
  // At (1, 0.5): the corners weigh one half each; the largest of them is 11 / 2.
  Roi max{.mode = "true"};
  EXPECT_TRUE(same(apply("roi_align", {image, f32({1, 4}, {0, 0, 2, 1}), i64({1}, {0})},
                         "tensor<1x1x1x1xf32>", attributes(max)),
                   f32({1, 1, 1, 1}, {5.5})));
  Tensor negative = f32({1, 1, 2, 2}, {-1, -2, -3, -4});
  Roi samples{.mode = "true", .ratio = 2};
  // Samples outside are zeros, larger than what is inside.
  EXPECT_TRUE(same(apply("roi_align", {negative, f32({1, 4}, {0, 0, 8, 8}), i64({1}, {0})},
                         "tensor<1x1x1x1xf32>", attributes(samples)),
                   f32({1, 1, 1, 1}, {0})));
}

TEST(RoiAlign, BatchesChannelsAndErrors) {
  Tensor two = f32({2, 2, 1, 1}, {1, 2, 3, 4});
  EXPECT_TRUE(same(apply("roi_align",
                         {two, f32({2, 4}, {0, 0, 1, 1, 0, 0, 1, 1}), ints(DataType::Int32, {2}, {1, 0})},
                         "tensor<2x2x1x1xf32>", attributes({})),
                   f32({2, 2, 1, 1}, {3, 4, 1, 2})));
  EXPECT_TRUE(
      same(apply("roi_align", {two, f32({0, 4}, {}), i64({0}, {})}, "tensor<0x2x1x1xf32>", attributes({})),
           f32({0, 2, 1, 1}, {})));
  for (int64_t index : {2, -1})
    EXPECT_EQ(evaluateOp("roi_align", {two, f32({1, 4}, {0, 0, 1, 1}), i64({1}, {index})},
                         "tensor<1x2x1x1xf32>", attributes({}))
                  .error,
              "'tk.roi_align' op batch index " + std::to_string(index) + " is out of range for 2 images");
}

/// Samples the row 1, 2, 4, 8 at the coordinates given.
Tensor sampleRow(const std::vector<double> &coordinates, const std::string &mode, const std::string &padding,
                 bool alignCorners) {
  const auto count = static_cast<int64_t>(coordinates.size());
  Tensor points(DataType::Float32, {1, 1, count, 2});
  for (int64_t i = 0; i < count; ++i)
    points.setDouble(2 * i, coordinates[static_cast<size_t>(i)]);
  return apply("grid_sample", {f32({1, 1, 1, 4}, {1, 2, 4, 8}), points},
               typeOf(DataType::Float32, {1, 1, 1, count}),
               "mode = #tk.grid_mode<" + mode + ">, padding = #tk.grid_padding<" + padding +
                   ">, align_corners = " + (alignCorners ? "true" : "false"));
}
Tensor row(const std::vector<double> &values) {
  return f32({1, 1, 1, static_cast<int64_t>(values.size())}, values);
}

TEST(GridSample, Linear) {
  // Pixel positions -0.5, 0, 1.5, 3, 3.5 and far away.
  const std::vector<double> x = {-1, -0.75, 0, 0.75, 1, 9};
  EXPECT_TRUE(same(sampleRow(x, "linear", "zeros", false), row({0.5, 1, 3, 8, 4, 0})));
  EXPECT_TRUE(same(sampleRow(x, "linear", "border", false), row({1, 1, 3, 8, 8, 8})));
  // Positions -1.5, 0, 1.5, 3, 4.5.
  const std::vector<double> aligned = {-2, -1, 0, 1, 2};
  EXPECT_TRUE(same(sampleRow(aligned, "linear", "zeros", true), row({0, 1, 3, 8, 0})));
  EXPECT_TRUE(same(sampleRow(aligned, "linear", "reflection", true), row({3, 1, 3, 8, 3})));
  // -1.5 and 4.5 mirrored at -0.5 and 3.5; -4.5 is -0.5 - 4, mirrored at the far side.
  EXPECT_TRUE(same(sampleRow({-1.5, 1.5, -3, 3}, "linear", "reflection", false), row({1.5, 6, 8, 1})));
}

TEST(GridSample, NearestTakesTheEvenPixel) {
  // Positions -0.5, 0.5, 1.5, 2.5, 3.5, 4.
  const std::vector<double> x = {-1, -0.5, 0, 0.5, 1, 1.25};
  EXPECT_TRUE(same(sampleRow(x, "nearest", "zeros", false), row({1, 1, 4, 4, 0, 0})));
  EXPECT_TRUE(same(sampleRow(x, "nearest", "border", false), row({1, 1, 4, 4, 8, 8})));
  EXPECT_TRUE(same(sampleRow(x, "nearest", "reflection", false), row({1, 1, 4, 4, 8, 8})));
}

TEST(GridSample, Cubic) {
  // Padding acts on each pixel that is read, not on the point, so that the result stays continuous across the
  // border.
  const std::vector<double> x = {-1.6, -1.3, -1.1, -0.95, 0.1, 1.05, 1.2, 1.7};
  EXPECT_TRUE(same(sampleRow(x, "cubic", "zeros", false),
                   row({-0.04725, -0.06075, 0.23175, 0.504, 3.04825, 3.392, 0.683, -0.054}), 1e-6));
  EXPECT_TRUE(same(sampleRow(x, "cubic", "border", false),
                   row({1, 1, 0.95275, 0.892, 3.04825, 8.288, 8.027, 8}), 1e-6));
  EXPECT_TRUE(same(sampleRow(x, "cubic", "reflection", false),
                   row({1.5005, 1.0685, 0.8425, 0.82, 3.04825, 8.72, 8.27, 4.4495}), 1e-6));
  EXPECT_TRUE(same(
      sampleRow(x, "cubic", "zeros", true),
      row({0.07525, 0.45409375, 0.79103125, 1.10058203, 2.95021875, 7.71045312, 6.209, -0.27075}), 1e-6));
  EXPECT_TRUE(same(sampleRow(x, "cubic", "border", true),
                   row({0.99325, 0.89790625, 0.91871875, 1.05245312, 2.95021875, 8.19251563, 8.441, 8}),
                   1e-6));
  EXPECT_TRUE(same(
      sampleRow(x, "cubic", "reflection", true),
      row({1.78975, 1.17465625, 1.01771875, 1.00432422, 2.95021875, 7.95928906, 7.4195, 3.78778125}), 1e-6));
}

TEST(GridSample, StrangeCoordinates) {
  EXPECT_TRUE(same(sampleRow({nan, inf, -inf}, "linear", "zeros", false), row({0.5, 0, 0})));
  EXPECT_TRUE(same(sampleRow({nan, inf, -inf}, "nearest", "border", true), row({1, 8, 1})));
  // An axis of one pixel with aligned corners has nothing to reflect about.
  EXPECT_TRUE(same(
      apply("grid_sample", {f32({1, 1, 1, 1}, {7}), f32({1, 1, 2, 2}, {0.5, 0, -9, 3})},
            "tensor<1x1x1x2xf32>",
            "mode = #tk.grid_mode<linear>, padding = #tk.grid_padding<reflection>, align_corners = true"),
      f32({1, 1, 1, 2}, {7, 7})));
}

TEST(GridSample, AxesBatchesChannels) {
  // The grid names the last axis first; corners of each image.
  Tensor two = f32({2, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  Tensor corners = f32({2, 2, 1, 2}, {1, -1, -1, 1, -1, -1, 1, 1});
  EXPECT_TRUE(
      same(apply("grid_sample", {two, corners}, "tensor<2x2x2x1xf32>",
                 "mode = #tk.grid_mode<linear>, padding = #tk.grid_padding<zeros>, align_corners = true"),
           f32({2, 2, 2, 1}, {2, 3, 6, 7, 9, 12, 13, 16})));
  Tensor volume = f32({1, 1, 2, 1, 2}, {1, 2, 3, 4});
  EXPECT_TRUE(
      same(apply("grid_sample", {volume, f32({1, 1, 1, 2, 3}, {1, 0, -1, 0, 0, 0})}, "tensor<1x1x1x1x2xf32>",
                 "mode = #tk.grid_mode<linear>, padding = #tk.grid_padding<zeros>, align_corners = true"),
           f32({1, 1, 1, 1, 2}, {2, 2.5})));
  EXPECT_TRUE(same(
      apply("grid_sample", {f32({1, 1, 2, 2}, {1, 2, 3, 4}), f32({1, 0, 3, 2}, {})}, "tensor<1x1x0x3xf32>",
            "mode = #tk.grid_mode<nearest>, padding = #tk.grid_padding<zeros>, align_corners = false"),
      f32({1, 1, 0, 3}, {})));
}

} // namespace
} // namespace tokamak::reference::test
