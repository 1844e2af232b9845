//===- TransposedToPointwiseTest.cpp - transposed convolutions before and after, by value -------===//
#include "PassTest.h"

using namespace tokamak;

namespace {
struct TransposedToPointwiseTest : PassTest {
  /// The convolution %y of %x by %w, and by %b if there is one.
  void expectSame(const std::string &arguments, const std::string &convolution, const std::string &result) {
    rewrite("func.func @main(" + arguments + ") -> " + result + " {\n%y = tk.conv_transpose " + convolution +
                " -> " + result + "\nreturn %y : " + result + "\n}",
            {createTransposedToPointwisePass});
    EXPECT_EQ(count("conv_transpose"), 0);
    EXPECT_EQ(count("conv"), 1);
    expectEqualOnIntegers();
    expectClose(0);
    expectSameOnSpecialValues();
  }
};
} // namespace

TEST_F(TransposedToPointwiseTest, OneChannel) {
  expectSame(
      "%x: tensor<2x5x3x4xf32>, %w: tensor<5x1x2x2xf32>, %b: tensor<1xf32>",
      "%x, %w, %b {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, "
      "pads_high = array<i64: 0, 0>, output_padding = array<i64: 0, 0>, group = 1 : i64} : "
      "(tensor<2x5x3x4xf32>, tensor<5x1x2x2xf32>, tensor<1xf32>)",
      "tensor<2x1x6x8xf32>");
}

TEST_F(TransposedToPointwiseTest, SeveralChannelsUnequalTaps) {
  expectSame(
      "%x: tensor<2x5x3x4xf32>, %w: tensor<5x3x2x4xf32>, %b: tensor<3xf32>",
      "%x, %w, %b {strides = array<i64: 2, 4>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, "
      "pads_high = array<i64: 0, 0>, output_padding = array<i64: 0, 0>, group = 1 : i64} : "
      "(tensor<2x5x3x4xf32>, tensor<5x3x2x4xf32>, tensor<3xf32>)",
      "tensor<2x3x6x16xf32>");
}

TEST_F(TransposedToPointwiseTest, OneAxisAndThree) {
  expectSame(
      "%x: tensor<1x4x5xf32>, %w: tensor<4x2x3xf32>",
      "%x, %w {strides = array<i64: 3>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = "
      "array<i64: 0>, output_padding = array<i64: 0>, group = 1 : i64} : (tensor<1x4x5xf32>, "
      "tensor<4x2x3xf32>)",
      "tensor<1x2x15xf32>");
  expectSame(
      "%x: tensor<1x3x2x3x4xf32>, %w: tensor<3x1x2x1x3xf32>",
      "%x, %w {strides = array<i64: 2, 1, 3>, dilations = array<i64: 1, 1, 1>, pads_low = array<i64: 0, 0, "
      "0>, pads_high = array<i64: 0, 0, 0>, output_padding = array<i64: 0, 0, 0>, group = 1 : i64} : "
      "(tensor<1x3x2x3x4xf32>, tensor<3x1x2x1x3xf32>)",
      "tensor<1x1x4x3x12xf32>");
}

TEST_F(TransposedToPointwiseTest, NothingThere) {
  expectSame(
      "%x: tensor<0x4x5xf32>, %w: tensor<4x1x2xf32>",
      "%x, %w {strides = array<i64: 2>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = "
      "array<i64: 0>, output_padding = array<i64: 0>, group = 1 : i64} : (tensor<0x4x5xf32>, "
      "tensor<4x1x2xf32>)",
      "tensor<0x1x10xf32>");
  expectSame(
      "%x: tensor<1x4x0xf32>, %w: tensor<4x1x2xf32>",
      "%x, %w {strides = array<i64: 2>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = "
      "array<i64: 0>, output_padding = array<i64: 0>, group = 1 : i64} : (tensor<1x4x0xf32>, "
      "tensor<4x1x2xf32>)",
      "tensor<1x1x0xf32>");
}
