//===- PrologueTest.cpp - work in front of anchors, computed in their tasks -----------------------------===//
// Under `full`, what feeds a convolution or matrix product is computed where it is read. Each case says how
// many kernels that leaves.
#include "ProgramHarness.h"
#include "gtest/gtest.h"

using tokamak::FusionMode;
using tokamak::test::ProgramCase;

namespace {

/// Equal on small integers, close on reals, for both vector lengths.
void expectSame(ProgramCase test) {
  for (const char *cpu : {"native", "x86-64-v3"})
    for (bool exact : {true, false}) {
      test.cpu = cpu;
      test.exact = exact;
      test.fusion = FusionMode::Full;
      EXPECT_EQ(differenceFromReference(test), "") << cpu << (exact ? ", integers" : ", reals");
    }
}

std::string convolution(const std::string &name, const std::string &input, const std::string &weight,
                        const std::string &attributes, const std::string &types) {
  return name + " = tk.conv " + input + ", " + weight + " {" + attributes + "} : " + types + "\n";
}

/// The attributes of a convolution over two axes.
std::string geometry(int stride, int dilation, int low, int high, int group) {
  auto pair = [](int n) { return "array<i64: " + std::to_string(n) + ", " + std::to_string(n) + ">"; };
  return "strides = " + pair(stride) + ", dilations = " + pair(dilation) + ", pads_low = " + pair(low) +
         ", pads_high = " + pair(high) + ", group = " + std::to_string(group) + " : i64";
}

TEST(Prologue, ScaleBeforePointwiseConvolution) {
  // Channels that are no multiple of the block, and rows enough for many bands.
  expectSame(
      {.text = "func.func @main(%x: tensor<2x40x30x23xf32>, %s: tensor<2x40x1x1xf32>) -> "
               "tensor<2x24x30x23xf32> {\n"
               "%w = tk.constant dense<2.0> : tensor<24x40x1x1xf32>\n"
               "%m = tk.mul %x, %s : (tensor<2x40x30x23xf32>, tensor<2x40x1x1xf32>) -> "
               "tensor<2x40x30x23xf32>\n" +
               convolution("%c", "%m", "%w", geometry(1, 1, 0, 0, 1),
                           "(tensor<2x40x30x23xf32>, tensor<24x40x1x1xf32>) -> tensor<2x24x30x23xf32>") +
               "return %c : tensor<2x24x30x23xf32>\n}"});
}

TEST(Prologue, PaddingIsNotSentThroughTheActivation) {
  // x + 3 is not zero at zero: a border computed on padding would show.
  for (int stride : {1, 2})
    for (int dilation : {1, 2}) {
      int rows = (17 + 2 * dilation - (2 * dilation + 1)) / stride + 1;
      std::string out = "tensor<1x16x" + std::to_string(rows) + "x" + std::to_string(rows) + "xf32>";
      expectSame({.text = "func.func @main(%x: tensor<1x32x17x17xf32>) -> " + out +
                          " {\n"
                          "%w = tk.constant dense<1.0> : tensor<16x32x3x3xf32>\n"
                          "%three = tk.constant dense<3.0> : tensor<f32>\n"
                          "%m = tk.add %x, %three : (tensor<1x32x17x17xf32>, tensor<f32>) -> "
                          "tensor<1x32x17x17xf32>\n" +
                          convolution("%c", "%m", "%w", geometry(stride, dilation, dilation, dilation, 1),
                                      "(tensor<1x32x17x17xf32>, tensor<16x32x3x3xf32>) -> " + out) +
                          "return %c : " + out + "\n}"});
    }
}

TEST(Prologue, DepthwiseConvolution) {
  expectSame(
      {.text = "func.func @main(%x: tensor<1x24x19x21xf32>) -> tensor<1x24x19x21xf32> {\n"
               "%w = tk.constant dense<1.0> : tensor<24x1x3x3xf32>\n"
               "%three = tk.constant dense<3.0> : tensor<f32>\n"
               "%m = tk.add %x, %three : (tensor<1x24x19x21xf32>, tensor<f32>) -> "
               "tensor<1x24x19x21xf32>\n" +
               convolution("%c", "%m", "%w", geometry(1, 1, 1, 1, 24),
                           "(tensor<1x24x19x21xf32>, tensor<24x1x3x3xf32>) -> tensor<1x24x19x21xf32>") +
               "return %c : tensor<1x24x19x21xf32>\n}"});
}

TEST(Prologue, ConcatenationBeforeConvolution) {
  // Pieces at block boundaries and within a block.
  for (int split : {16, 32, 20, 5}) {
    std::string a = "tensor<1x" + std::to_string(split) + "x14x14xf32>",
                b = "tensor<1x" + std::to_string(48 - split) + "x14x14xf32>";
    expectSame(
        {.text = "func.func @main(%a: " + a + ", %b: " + b +
                 ") -> tensor<1x32x14x14xf32> {\n"
                 "%w = tk.constant dense<1.0> : tensor<32x48x1x1xf32>\n"
                 "%zero = tk.constant dense<0.0> : tensor<f32>\n"
                 "%m = tk.concat %a, %b {axis = 1 : i64} : (" +
                 a + ", " + b +
                 ") -> tensor<1x48x14x14xf32>\n"
                 "%r = tk.max %m, %zero : (tensor<1x48x14x14xf32>, tensor<f32>) -> "
                 "tensor<1x48x14x14xf32>\n" +
                 convolution("%c", "%r", "%w", geometry(1, 1, 0, 0, 1),
                             "(tensor<1x48x14x14xf32>, tensor<32x48x1x1xf32>) -> tensor<1x32x14x14xf32>") +
                 "return %c : tensor<1x32x14x14xf32>\n}"});
  }
}

TEST(Prologue, ChannelsLastBeforeConvolution) {
  expectSame(
      {.text = "func.func @main(%x: tensor<1x15x13x24xf32>) -> tensor<1x32x15x13xf32> {\n"
               "%w = tk.constant dense<1.0> : tensor<32x24x3x3xf32>\n"
               "%m = tk.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x15x13x24xf32>) -> "
               "tensor<1x24x15x13xf32>\n" +
               convolution("%c", "%m", "%w", geometry(1, 1, 1, 1, 1),
                           "(tensor<1x24x15x13xf32>, tensor<32x24x3x3xf32>) -> tensor<1x32x15x13xf32>") +
               "return %c : tensor<1x32x15x13xf32>\n}"});
}

TEST(Prologue, OneSpatialAxis) {
  expectSame({.text = R"(
    func.func @main(%x: tensor<3x16x50xf32>) -> tensor<3x16x25xf32> {
      %w = tk.constant dense<1.0> : tensor<16x16x4xf32>
      %n = tk.neg %x : (tensor<3x16x50xf32>) -> tensor<3x16x50xf32>
      %c = tk.conv %n, %w {strides = array<i64: 2>, dilations = array<i64: 1>, pads_low = array<i64: 1>, pads_high = array<i64: 1>, group = 1 : i64} : (tensor<3x16x50xf32>, tensor<16x16x4xf32>) -> tensor<3x16x25xf32>
      return %c : tensor<3x16x25xf32>
    })"});
}

TEST(Prologue, TransposedConvolution) {
  expectSame({.text = R"(
    func.func @main(%x: tensor<1x16x9x9xf32>) -> tensor<1x16x18x18xf32> {
      %w = tk.constant dense<1.0> : tensor<16x16x2x2xf32>
      %three = tk.constant dense<3.0> : tensor<f32>
      %n = tk.add %x, %three : (tensor<1x16x9x9xf32>, tensor<f32>) -> tensor<1x16x9x9xf32>
      %c = tk.conv_transpose %n, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, output_padding = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x16x9x9xf32>, tensor<16x16x2x2xf32>) -> tensor<1x16x18x18xf32>
      return %c : tensor<1x16x18x18xf32>
    })"});
}

TEST(Prologue, HeadsBeforeMatrixProduct) {
  expectSame({.text = R"(
    func.func @main(%q: tensor<37x4x20xf32>, %k: tensor<37x4x20xf32>) -> tensor<4x37x37xf32> {
      %a = tk.transpose %q {permutation = array<i64: 1, 0, 2>} : (tensor<37x4x20xf32>) -> tensor<4x37x20xf32>
      %b = tk.transpose %k {permutation = array<i64: 1, 2, 0>} : (tensor<37x4x20xf32>) -> tensor<4x20x37xf32>
      %r = tk.matmul %a, %b : (tensor<4x37x20xf32>, tensor<4x20x37xf32>) -> tensor<4x37x37xf32>
      return %r : tensor<4x37x37xf32>
    })"});
}

TEST(Prologue, TransposedOperandsAndBroadcastBatches) {
  expectSame({.text = R"(
    func.func @main(%x: tensor<3x1x21x35xf32>, %y: tensor<2x50x21xf32>) -> tensor<3x2x35x50xf32> {
      %a = tk.neg %x : (tensor<3x1x21x35xf32>) -> tensor<3x1x21x35xf32>
      %b = tk.abs %y : (tensor<2x50x21xf32>) -> tensor<2x50x21xf32>
      %r = tk.matmul %a, %b {transpose_lhs = true, transpose_rhs = true} : (tensor<3x1x21x35xf32>, tensor<2x50x21xf32>) -> tensor<3x2x35x50xf32>
      return %r : tensor<3x2x35x50xf32>
    })"});
}

TEST(Prologue, FoldedBatchesAndPackedWeights) {
  // More rows than a band has, and a left operand whose batches are rows.
  expectSame({.text = R"(
    func.func @main(%x: tensor<6x64x70xf32>) -> tensor<6x70x33xf32> {
      %w = tk.constant dense<1.0> : tensor<64x33xf32>
      %a = tk.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<6x64x70xf32>) -> tensor<6x70x64xf32>
      %r = tk.matmul %a, %w : (tensor<6x70x64xf32>, tensor<64x33xf32>) -> tensor<6x70x33xf32>
      return %r : tensor<6x70x33xf32>
    })"});
}

TEST(Prologue, CastBeforeMatrixProduct) {
  expectSame({.text = R"(
    func.func @main(%x: tensor<40x48xi32>, %y: tensor<48x40xf32>) -> tensor<40x40xf32> {
      %a = tk.cast %x {to = f32} : (tensor<40x48xi32>) -> tensor<40x48xf32>
      %r = tk.matmul %a, %y : (tensor<40x48xf32>, tensor<48x40xf32>) -> tensor<40x40xf32>
      return %r : tensor<40x40xf32>
    })"});
}

} // namespace
