//===- LinearTest.cpp - matrix products, convolutions, windows ------------------------------===//
#include "Testing.h"
#include "reference/RandomTensor.h"

namespace tokamak::reference::test {
namespace {

TEST(MatMul, EveryNumberType) {
  for (DataType type : numberTypes) {
    Tensor a = ints(type, {2, 3}, {1, 2, 3, 4, 5, 6}), b = ints(type, {3, 2}, {1, 0, 2, 1, 0, 3});
    EXPECT_TRUE(same(apply("matmul", {a, b}, typeOf(type, {2, 2})), ints(type, {2, 2}, {5, 11, 14, 23})));
  }
  Tensor wide = ints(DataType::Int8, {1, 2}, {100, 100});
  EXPECT_TRUE(same(apply("matmul", {wide, ints(DataType::Int8, {2, 1}, {1, 1})}, "tensor<1x1xi8>"),
                   ints(DataType::Int8, {1, 1}, {-56})));
}

TEST(MatMul, Transposed) {
  Tensor a = f32({3, 2}, {1, 4, 2, 5, 3, 6}), b = f32({2, 3}, {1, 2, 0, 0, 1, 3}),
         expected = f32({2, 2}, {5, 11, 14, 23});
  EXPECT_TRUE(same(apply("matmul", {a, b}, "tensor<2x2xf32>", "transpose_lhs = true, transpose_rhs = true"),
                   expected));
  EXPECT_TRUE(
      same(apply("matmul", {a, f32({3, 2}, {1, 0, 2, 1, 0, 3})}, "tensor<2x2xf32>", "transpose_lhs = true"),
           expected));
  // Batches of transposed matrices that are not square.
  EXPECT_TRUE(
      same(apply("matmul",
                 {f32({2, 1, 3}, {1, 2, 3, 4, 5, 6}), f32({2, 2, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1})},
                 "tensor<2x1x2xf32>", "transpose_rhs = true"),
           f32({2, 1, 2}, {1, 2, 6, 15})));
}

TEST(MatMul, BatchesBroadcast) {
  Tensor a = f32({2, 1, 1, 2}, {1, 2, 3, 4}), b = f32({3, 2, 1}, {1, 0, 0, 1, 1, 1});
  EXPECT_TRUE(same(apply("matmul", {a, b}, "tensor<2x3x1x1xf32>"), f32({2, 3, 1, 1}, {1, 2, 3, 3, 4, 7})));
}

TEST(MatMul, Empty) {
  EXPECT_TRUE(same(apply("matmul", {f32({2, 0}, {}), f32({0, 3}, {})}, "tensor<2x3xf32>"),
                   f32({2, 3}, {0, 0, 0, 0, 0, 0})));
  EXPECT_TRUE(same(apply("matmul", {f32({0, 2}, {}), f32({2, 3}, {1, 2, 3, 4, 5, 6})}, "tensor<0x3xf32>"),
                   f32({0, 3}, {})));
  EXPECT_TRUE(
      same(apply("matmul", {f32({0, 1, 1}, {}), f32({1, 1}, {1})}, "tensor<0x1x1xf32>"), f32({0, 1, 1}, {})));
}

TEST(MatMul, ZeroTimesInfinity) {
  EXPECT_TRUE(same(apply("matmul", {f32({1, 2}, {0, 1}), f32({2, 2}, {inf, 1, 1, 1})}, "tensor<1x2xf32>"),
                   f32({1, 2}, {nan, 1})));
}

TEST(MatMul, MoreRowsThanABlock) {
  Tensor a = randomTensor(DataType::Int32, {37, 5}, 1), b = randomTensor(DataType::Int32, {5, 4}, 2);
  Tensor expected(DataType::Int32, {37, 4});
  for (int64_t i = 0; i < 37; ++i)
    for (int64_t j = 0; j < 4; ++j) {
      int64_t sum = 0;
      for (int64_t k = 0; k < 5; ++k)
        sum += a.intAt(i * 5 + k) * b.intAt(k * 4 + j);
      expected.setInt(i * 4 + j, sum);
    }
  EXPECT_TRUE(same(apply("matmul", {a, b}, "tensor<37x4xi32>"), expected));
}

std::string spatial(const std::string &strides, const std::string &dilations, const std::string &low,
                    const std::string &high) {
  return "strides = array<i64: " + strides + ">, dilations = array<i64: " + dilations +
         ">, pads_low = array<i64: " + low + ">, pads_high = array<i64: " + high + ">";
}
const std::string plain1 = spatial("1", "1", "0", "0");

TEST(Conv, OneAxis) {
  for (DataType type : numberTypes) {
    Tensor x = ints(type, {1, 1, 5}, {1, 2, 3, 4, 5}), w = ints(type, {1, 1, 3}, {1, 0, 2}),
           bias = ints(type, {1}, {10});
    EXPECT_TRUE(same(apply("conv", {x, w}, typeOf(type, {1, 1, 3}), plain1 + ", group = 1 : i64"),
                     ints(type, {1, 1, 3}, {7, 10, 13})));
    EXPECT_TRUE(same(apply("conv", {x, w, bias}, typeOf(type, {1, 1, 3}),
                           spatial("2", "1", "1", "1") + ", group = 1 : i64"),
                     ints(type, {1, 1, 3}, {14, 20, 14})));
    EXPECT_TRUE(same(
        apply("conv", {x, w}, typeOf(type, {1, 1, 3}), spatial("1", "2", "2", "0") + ", group = 1 : i64"),
        ints(type, {1, 1, 3}, {6, 8, 11})));
  }
}

TEST(Conv, WindowsInPaddingOnlyAndEmptyBatches) {
  Tensor w = f32({1, 1, 2}, {1, 1}), bias = f32({1}, {5});
  EXPECT_TRUE(same(apply("conv", {f32({1, 1, 1}, {2}), w, bias}, "tensor<1x1x6xf32>",
                         spatial("1", "1", "3", "3") + ", group = 1 : i64"),
                   f32({1, 1, 6}, {5, 5, 7, 7, 5, 5})));
  EXPECT_TRUE(same(apply("conv", {Tensor(DataType::Float32, {0, 1, 4}), w, bias}, "tensor<0x1x3xf32>",
                         plain1 + ", group = 1 : i64"),
                   Tensor(DataType::Float32, {0, 1, 3})));
  // No input channels: the bias alone.
  EXPECT_TRUE(
      same(apply("conv", {Tensor(DataType::Float32, {1, 0, 3}), Tensor(DataType::Float32, {1, 0, 2}), bias},
                 "tensor<1x1x2xf32>", plain1 + ", group = 1 : i64"),
           f32({1, 1, 2}, {5, 5})));
}

/// Convolution by its definition, one output element at a time, in two dimensions.
Tensor directConv2D(const Tensor &x, const Tensor &w, const Tensor &result, int64_t group,
                    const Shape &strides, const Shape &dilations, const Shape &low) {
  Tensor y(result.type(), result.shape());
  auto in = x.shape(), kernel = w.shape(), out = y.shape();
  int64_t i = 0;
  for (int64_t n = 0; n < out[0]; ++n)
    for (int64_t m = 0; m < out[1]; ++m)
      for (int64_t oy = 0; oy < out[2]; ++oy)
        for (int64_t ox = 0; ox < out[3]; ++ox) {
          double sum = 0;
          for (int64_t c = 0; c < kernel[1]; ++c)
            for (int64_t ky = 0; ky < kernel[2]; ++ky)
              for (int64_t kx = 0; kx < kernel[3]; ++kx) {
                const int64_t iy = oy * strides[0] - low[0] + ky * dilations[0];
                const int64_t ix = ox * strides[1] - low[1] + kx * dilations[1];
                if (iy < 0 || iy >= in[2] || ix < 0 || ix >= in[3])
                  continue;
                const int64_t channel = m / (kernel[0] / group) * kernel[1] + c;
                sum += x.doubleAt(((n * in[1] + channel) * in[2] + iy) * in[3] + ix) *
                       w.doubleAt(((m * kernel[1] + c) * kernel[2] + ky) * kernel[3] + kx);
              }
          y.setDouble(i++, sum);
        }
  return y;
}

TEST(Conv, TwoAxesAgainstTheDefinition) {
  struct Case {
    int64_t group;
    Shape strides, dilations, low, high;
  };
  const Case cases[] = {{1, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
                        {2, {2, 1}, {1, 2}, {1, 2}, {0, 1}},
                        {4, {1, 3}, {2, 1}, {2, 0}, {2, 3}},
                        {1, {3, 2}, {1, 1}, {4, 5}, {3, 2}}};
  auto list = [](const Shape &s) { return std::to_string(s[0]) + ", " + std::to_string(s[1]); };
  for (const Case &c : cases) {
    Tensor x = randomTensor(DataType::Float32, {2, 4, 7, 6}, 1, RandomValues::SmallIntegers);
    Tensor w = randomTensor(DataType::Float32, {8, 4 / c.group, 3, 2}, 2, RandomValues::SmallIntegers);
    Tensor y(DataType::Float32, {2, 8, (7 + c.low[0] + c.high[0] - 2 * c.dilations[0] - 1) / c.strides[0] + 1,
                                 (6 + c.low[1] + c.high[1] - c.dilations[1] - 1) / c.strides[1] + 1});
    EXPECT_TRUE(same(apply("conv", {x, w}, typeOf(y),
                           spatial(list(c.strides), list(c.dilations), list(c.low), list(c.high)) +
                               ", group = " + std::to_string(c.group) + " : i64"),
                     directConv2D(x, w, y, c.group, c.strides, c.dilations, c.low), 1e-9));
  }
}

TEST(Conv, ThreeAxes) {
  Tensor x = f32({1, 1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}),
         w = f32({1, 1, 2, 2, 2}, {1, 1, 1, 1, 1, 1, 1, 2});
  EXPECT_TRUE(same(apply("conv", {x, w}, "tensor<1x1x1x1x1xf32>",
                         spatial("1, 1, 1", "1, 1, 1", "0, 0, 0", "0, 0, 0") + ", group = 1 : i64"),
                   f32({1, 1, 1, 1, 1}, {44})));
}

TEST(ConvTranspose, OneAxis) {
  Tensor x = f32({1, 1, 3}, {1, 2, 3}), w = f32({1, 1, 3}, {1, 10, 100});
  auto run = [&](const std::string &attributes, const std::string &type) {
    return apply("conv_transpose", {x, w}, type, attributes + ", group = 1 : i64");
  };
  EXPECT_TRUE(same(run(plain1 + ", output_padding = array<i64: 0>", "tensor<1x1x5xf32>"),
                   f32({1, 1, 5}, {1, 12, 123, 230, 300})));
  EXPECT_TRUE(same(run(spatial("2", "1", "0", "0") + ", output_padding = array<i64: 1>", "tensor<1x1x8xf32>"),
                   f32({1, 1, 8}, {1, 10, 102, 20, 203, 30, 300, 0})));
  EXPECT_TRUE(same(run(spatial("2", "1", "1", "2") + ", output_padding = array<i64: 0>", "tensor<1x1x4xf32>"),
                   f32({1, 1, 4}, {10, 102, 20, 203})));
  EXPECT_TRUE(
      same(run(spatial("1", "2", "-1", "0") + ", output_padding = array<i64: 0>", "tensor<1x1x8xf32>"),
           f32({1, 1, 8}, {0, 1, 2, 13, 20, 130, 200, 300})));
}

TEST(ConvTranspose, GroupsAndBias) {
  Tensor x = f32({1, 2, 1}, {2, 3}), bias = f32({4}, {1, 2, 3, 4});
  Tensor w = f32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_TRUE(same(apply("conv_transpose", {x, w, bias}, "tensor<1x4x2xf32>",
                         plain1 + ", output_padding = array<i64: 0>, group = 2 : i64"),
                   f32({1, 4, 2}, {3, 5, 8, 10, 18, 21, 25, 28})));
  EXPECT_TRUE(same(apply("conv_transpose", {x, w}, "tensor<1x2x2xf32>",
                         plain1 + ", output_padding = array<i64: 0>, group = 1 : i64"),
                   f32({1, 2, 2}, {17, 22, 27, 32})));
}

TEST(ConvTranspose, IsTheAdjointOfConv) {
  // <conv(x), y> = <x, conv_transpose(y)> with the same weight.
  Tensor x = randomTensor(DataType::Float64, {1, 4, 5, 6}, 1, RandomValues::SmallIntegers);
  Tensor w = randomTensor(DataType::Float64, {6, 2, 3, 2}, 2, RandomValues::SmallIntegers);
  const std::string window = spatial("2, 1", "1, 2", "1, 1", "1, 2");
  Tensor convolved = apply("conv", {x, w}, "tensor<1x6x3x7xf64>", window + ", group = 2 : i64");
  Tensor y = randomTensor(DataType::Float64, convolved.shape(), 3, RandomValues::SmallIntegers);
  Tensor back = apply("conv_transpose", {y, w}, "tensor<1x4x5x6xf64>",
                      window + ", output_padding = array<i64: 0, 0>, group = 2 : i64");
  double left = 0, right = 0;
  for (int64_t i = 0; i < y.size(); ++i)
    left += convolved.doubleAt(i) * y.doubleAt(i);
  for (int64_t i = 0; i < x.size(); ++i)
    right += x.doubleAt(i) * back.doubleAt(i);
  EXPECT_EQ(left, right);
}

Tensor window(const Tensor &x, const std::string &kind, const std::string &kernel,
              const std::string &attributes, const Shape &shape) {
  return apply("window", {x}, typeOf(x.type(), shape),
               "kind = #tk.reduce_kind<" + kind + ">, kernel = array<i64: " + kernel + ">, " + attributes);
}

TEST(Window, SumAndMax) {
  for (DataType type : numberTypes) {
    Tensor x = ints(type, {1, 2, 4}, {1, 3, 2, 5, 4, 0, 6, 1});
    EXPECT_TRUE(same(window(x, "sum", "2", plain1, {1, 2, 3}), ints(type, {1, 2, 3}, {4, 5, 7, 4, 6, 7})));
    EXPECT_TRUE(same(window(x, "max", "2", spatial("2", "1", "1", "1"), {1, 2, 3}),
                     ints(type, {1, 2, 3}, {1, 3, 5, 4, 6, 1})));
    EXPECT_TRUE(same(window(x, "max", "2", spatial("1", "2", "0", "0"), {1, 2, 2}),
                     ints(type, {1, 2, 2}, {2, 5, 6, 1})));
  }
  Tensor image = f32({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_TRUE(same(window(image, "sum", "2, 2", spatial("1, 1", "1, 1", "0, 0", "0, 0"), {1, 1, 2, 2}),
                   f32({1, 1, 2, 2}, {12, 16, 24, 28})));
  EXPECT_TRUE(same(window(image, "max", "3, 3", spatial("2, 2", "1, 1", "1, 1", "1, 1"), {1, 1, 2, 2}),
                   f32({1, 1, 2, 2}, {5, 6, 8, 9})));
}

TEST(Window, PaddingIsTheIdentity) {
  // As ceil mode pads: the last window lies outside the input altogether.
  Tensor x = f32({1, 1, 2}, {-1, -2});
  EXPECT_TRUE(
      same(window(x, "max", "1", spatial("2", "1", "0", "3"), {1, 1, 3}), f32({1, 1, 3}, {-1, -inf, -inf})));
  EXPECT_TRUE(
      same(window(x, "sum", "1", spatial("2", "1", "0", "3"), {1, 1, 3}), f32({1, 1, 3}, {-1, 0, 0})));
  EXPECT_TRUE(same(
      window(ints(DataType::Int8, {1, 1, 1}, {-100}), "max", "1", spatial("1", "1", "0", "1"), {1, 1, 2}),
      ints(DataType::Int8, {1, 1, 2}, {-100, -128})));
  EXPECT_TRUE(
      same(window(ints(DataType::UInt8, {1, 1, 1}, {3}), "max", "2", spatial("1", "1", "1", "0"), {1, 1, 1}),
           ints(DataType::UInt8, {1, 1, 1}, {3})));
}

TEST(Window, MaxKeepsNaN) {
  EXPECT_TRUE(same(window(f32({1, 1, 4}, {1, nan, 3, 4}), "max", "2", plain1, {1, 1, 3}),
                   f32({1, 1, 3}, {nan, nan, 4})));
}

TEST(Window, KernelFarLargerThanTheInput) {
  EXPECT_TRUE(same(window(f32({1, 1, 2}, {3, 4}), "sum", "2000000000",
                          spatial("1", "1", "1000000000", "999999999"), {1, 1, 2}),
                   f32({1, 1, 2}, {7, 7})));
}

} // namespace
} // namespace tokamak::reference::test
