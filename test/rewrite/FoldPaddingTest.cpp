//===- FoldPaddingTest.cpp - padded convolutions and windows before and after, by value ---------===//
#include "PassTest.h"

using namespace tokamak;

namespace {
struct FoldPaddingTest : PassTest {
  /// y = `op` of %p, which is %z padded, by `low` and `high`, with `value`; %z comes from `make`.
  void fold(const std::string &make, const std::string &value, const std::string &op) {
    rewrite("func.func @main(%x: tensor<2x3x5x4xf32>) -> tensor<2x3x4x4xf32> {\n" + make +
                "\n%v = tk.constant dense<" + value +
                "> : tensor<f32>\n%p = tk.pad %z, %v {low = array<i64: 0, 0, 1, 0>, high = array<i64: 0, 0, "
                "0, 2>} : "
                "(tensor<2x3x5x4xf32>, tensor<f32>) -> tensor<2x3x6x6xf32>\n%w = tk.constant dense<[[[[1.0, "
                "-2.0, 0.0], "
                "[3.0, 1.0, 2.0], [0.0, -1.0, 4.0]]], [[[0.0, 1.0, 1.0], [2.0, -3.0, 1.0], [1.0, 1.0, "
                "1.0]]], [[[-1.0, "
                "0.0, 2.0], [1.0, 5.0, 0.0], [2.0, 2.0, -2.0]]]]> : tensor<3x1x3x3xf32>\n" +
                op + "\nreturn %y : tensor<2x3x4x4xf32>\n}",
            {createFoldPaddingPass});
  }
  void expectSame() {
    expectEqualOnIntegers();
    expectClose(0);
    expectSameOnSpecialValues();
  }
};

const char *const plain = "%z = tk.reshape %x {shape = array<i64: 2, 3, 5, 4>} : (tensor<2x3x5x4xf32>) -> "
                          "tensor<2x3x5x4xf32>";
const char *const relu =
    "%c = tk.constant dense<0.0> : tensor<f32>\n%z = tk.max %x, %c : (tensor<2x3x5x4xf32>, "
    "tensor<f32>) -> tensor<2x3x5x4xf32>";
const char *const conv =
    "%y = tk.conv %p, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, "
    "0>, "
    "pads_high = array<i64: 0, 0>, group = 3 : i64} : (tensor<2x3x6x6xf32>, tensor<3x1x3x3xf32>) -> "
    "tensor<2x3x4x4xf32>";
std::string window(const std::string &kind) {
  return "%y = tk.window %p {kind = #tk.reduce_kind<" + kind +
         ">, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = "
         "array<i64: 0, 0>, pads_high = array<i64: 0, 0>} : (tensor<2x3x6x6xf32>) -> tensor<2x3x4x4xf32>";
}
} // namespace

TEST_F(FoldPaddingTest, Convolution) {
  for (const char *zero : {"0.0", "-0.0"}) {
    fold(plain, zero, conv);
    EXPECT_EQ(count("pad"), 0);
    expectSame();
  }
}

TEST_F(FoldPaddingTest, Windows) {
  fold(plain, "0.0", window("sum"));
  EXPECT_EQ(count("pad"), 0);
  expectSame();
  fold(plain, "0xFF800000", window("max"));
  EXPECT_EQ(count("pad"), 0);
  expectSame();
  fold(relu, "0.0", window("max"));
  EXPECT_EQ(count("pad"), 0);
  expectSame();
  fold(plain, "0.0", window("max"));
  EXPECT_EQ(count("pad"), 1);
}
