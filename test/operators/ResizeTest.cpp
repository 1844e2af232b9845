//===- ResizeTest.cpp - Resize of opset 18 and 19, Upsample --------------------------------===//
#include "RunNode.h"

using namespace tokamak;
using namespace tokamak::test;
using testing::HasSubstr;

/// 1 to 16 as an image of 4 x 4.
static Tensor image() { return counting({1, 1, 4, 4}, DataType::Float32, 1); }

static Node resize(const std::optional<Tensor> &scales, const std::optional<Tensor> &sizes,
                   const Attributes &attributes, const Tensor &x = image(), int64_t opset = 19) {
  return {"Resize", opset, {x, std::nullopt, scales, sizes}, attributes};
}

TEST(Resize, AntialiasStretchesTheLinearKernel) {
  auto linear = [](onnx::NodeProto &n) {
    addAttr(n, "mode", std::string("linear"));
    addAttr(n, "antialias", int64_t(1));
  };
  expectTensor(run1(resize(floats({4}, {1, 1, 0.6, 0.6}), std::nullopt, linear)), {1, 1, 2, 2},
               {2.875, 4.5, 9.375, 11});
  expectTensor(run1(resize(std::nullopt, ints({1, 1, 3, 3}), linear)), {1, 1, 3, 3},
               {2.3636363, 3.590909, 4.818182, 7.2727275, 8.5, 9.727273, 12.181818, 13.409091, 14.636364});
  // Enlarging has nothing to smooth.
  auto plain = [](onnx::NodeProto &n) { addAttr(n, "mode", std::string("linear")); };
  Tensor smoothed = run1(resize(std::nullopt, ints({1, 1, 7, 4}), linear));
  Tensor expected = run1(resize(std::nullopt, ints({1, 1, 7, 4}), plain));
  for (int64_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(smoothed.doubleAt(i), expected.doubleAt(i), 1e-6);
}

TEST(Resize, AntialiasStretchesTheCubicKernel) {
  auto cubic = [](onnx::NodeProto &n) {
    addAttr(n, "mode", std::string("cubic"));
    addAttr(n, "antialias", int64_t(1));
  };
  expectTensor(run1(resize(floats({4}, {1, 1, 0.6, 0.6}), std::nullopt, cubic)), {1, 1, 2, 2},
               {2.5180721, 4.2858863, 9.589329, 11.357142});
  expectTensor(run1(resize(std::nullopt, ints({1, 1, 3, 3}), cubic)), {1, 1, 3, 3},
               {1.7750092, 3.1200073, 4.4650054, 7.1550016, 8.5, 9.844998, 12.534994, 13.8799925, 15.224991});
}

TEST(Resize, HalfPixelSymmetricKeepsTheCentre) {
  auto symmetric = [](onnx::NodeProto &n) {
    addAttr(n, "mode", std::string("linear"));
    addAttr(n, "coordinate_transformation_mode", std::string("half_pixel_symmetric"));
  };
  expectTensor(
      run1(resize(floats({4}, {1, 1, 1, 0.6}), std::nullopt, symmetric, floats({1, 1, 1, 4}, {1, 2, 3, 4}))),
      {1, 1, 1, 2}, {1.6666667, 3.3333333});
}

TEST(Resize, AxesAndAspectRatioPolicy) {
  auto notLarger = [](onnx::NodeProto &n) {
    addAttr(n, "axes", std::vector<int64_t>{3, 2});
    addAttr(n, "keep_aspect_ratio_policy", std::string("not_larger"));
  };
  // Axis 3 asks for factor 2, axis 2 for 1.5: the smaller one holds for both.
  Tensor small = run1(resize(std::nullopt, ints({8, 6}), notLarger));
  EXPECT_EQ(small.shape(), (llvm::ArrayRef<int64_t>{1, 1, 6, 6}));
  auto notSmaller = [](onnx::NodeProto &n) {
    addAttr(n, "axes", std::vector<int64_t>{-1, -2});
    addAttr(n, "keep_aspect_ratio_policy", std::string("not_smaller"));
  };
  EXPECT_EQ(run1(resize(std::nullopt, ints({8, 6}), notSmaller)).shape(),
            (llvm::ArrayRef<int64_t>{1, 1, 8, 8}));
}

TEST(Resize, WholeFactorsRepeat) {
  auto nearest = [](onnx::NodeProto &n) {
    addAttr(n, "coordinate_transformation_mode", std::string("asymmetric"));
    addAttr(n, "nearest_mode", std::string("floor"));
  };
  Tensor x = typed(DataType::UInt8, {1, 1, 1, 2}, {3, 200});
  expectTensor(run1(resize(floats({4}, {1, 1, 2, 3}), std::nullopt, nearest, x)), {1, 1, 2, 6},
               {3, 3, 3, 200, 200, 200, 3, 3, 3, 200, 200, 200});
}

TEST(Resize, IntegersInterpolateInRealNumbers) {
  auto linear = [](onnx::NodeProto &n) { addAttr(n, "mode", std::string("linear")); };
  Tensor x = typed(DataType::UInt8, {1, 1, 1, 2}, {0, 255});
  expectTensor(run1(resize(std::nullopt, ints({1, 1, 1, 4}), linear, x)), {1, 1, 1, 4}, {0, 63, 191, 255});
}

TEST(Resize, EmptyExtents) {
  Tensor x(DataType::Float32, {0, 1, 2, 2});
  EXPECT_EQ(run1(resize(std::nullopt, ints({0, 1, 4, 4}), noAttributes, x)).shape(),
            (llvm::ArrayRef<int64_t>{0, 1, 4, 4}));
  EXPECT_EQ(run1(resize(floats({4}, {1, 1, 0.1, 1}), std::nullopt, noAttributes)).shape(),
            (llvm::ArrayRef<int64_t>{1, 1, 0, 4}));
  EXPECT_THAT(refusal(resize(std::nullopt, ints({1, 1, 4, 4}), noAttributes, x)),
              HasSubstr("cannot be resized"));
}

TEST(Resize, Faults) {
  auto attribute = [](const std::string &name, const std::string &value) {
    return [=](onnx::NodeProto &n) { addAttr(n, name, value); };
  };
  Tensor scales = floats({4}, {1, 1, 2, 2});
  EXPECT_THAT(refusal(resize(scales, std::nullopt, attribute("mode", "area"))),
              HasSubstr("mode 'area' is unknown; use nearest, linear or cubic"));
  EXPECT_THAT(refusal(resize(scales, std::nullopt, attribute("nearest_mode", "up"))),
              HasSubstr("nearest_mode 'up'"));
  EXPECT_THAT(refusal(resize(scales, std::nullopt, attribute("coordinate_transformation_mode", "x"))),
              HasSubstr("coordinate_transformation_mode 'x'"));
  EXPECT_THAT(refusal(resize(floats({2}, {1, 1}), std::nullopt, noAttributes)), HasSubstr("4 entries"));
  EXPECT_THAT(refusal(resize(floats({4}, {1, 1, -1, 1}), std::nullopt, noAttributes)),
              HasSubstr("out of range"));
  EXPECT_THAT(refusal(resize(floats({4}, {1, 1, NaN, 1}), std::nullopt, noAttributes)),
              HasSubstr("out of range"));
  EXPECT_THAT(refusal(resize(std::nullopt, std::nullopt, noAttributes)), HasSubstr("4 entries"));
}

TEST(Upsample, ScalesAreAnAttributeThenAnInput) {
  Tensor x = floats({1, 1, 1, 2}, {1, 2});
  auto scales = [](onnx::NodeProto &n) { addAttr(n, "scales", std::vector<double>{1, 1, 1, 2}); };
  expectTensor(run1({"Upsample", 7, {x}, scales}), {1, 1, 1, 4}, {1, 1, 2, 2});
  expectTensor(run1({"Upsample", 9, {x, floats({4}, {1, 1, 1, 2})}}), {1, 1, 1, 4}, {1, 1, 2, 2});
}
