//===- SeveralResultsTest.cpp - kernels with more than one result ---------------------------------------===//
#include "ProgramHarness.h"
#include "gtest/gtest.h"

using tokamak::FusionMode;
using tokamak::test::ProgramCase;

namespace {

void expectSame(ProgramCase test) {
  for (const char *cpu : {"native", "x86-64-v3"}) {
    test.cpu = cpu;
    test.fusion = FusionMode::Full;
    EXPECT_EQ(differenceFromReference(test), "") << cpu;
  }
}

TEST(SeveralResults, ElementwiseOfOneShape) {
  for (const char *shape : {"3x5x7", "1", "16", "0x4"}) {
    std::string type = std::string("tensor<") + shape + "xf32>";
    expectSame({.text = "func.func @main(%x: " + type + ") -> (" + type + ", " + type + ", " + type +
                        ") {\n%a = tk.abs %x : (" + type + ") -> " + type + "\n%b = tk.exp %a : (" + type +
                        ") -> " + type + "\n%c = tk.tanh %a : (" + type + ") -> " + type +
                        "\nreturn %b, %c, %a : " + type + ", " + type + ", " + type + "\n}"});
  }
}

TEST(SeveralResults, RankZeroAndOtherTypes) {
  expectSame({.text = R"(
    func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<i1>, tensor<i32>) {
      %z = tk.constant dense<0.0> : tensor<f32>
      %a = tk.neg %x : (tensor<f32>) -> tensor<f32>
      %b = tk.compare %a, %z {predicate = #tk.predicate<lt>} : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %c = tk.cast %b {to = i32} : (tensor<i1>) -> tensor<i32>
      return %a, %b, %c : tensor<f32>, tensor<i1>, tensor<i32>
    })"});
}

TEST(SeveralResults, ConvolutionBeforeAndAfterActivation) {
  // The blocked result is read by a kernel, the row-major one leaves the program; 20 channels leave a ragged
  // block.
  expectSame({.text = R"(
    func.func @main(%x: tensor<2x16x9x11xf32>) -> (tensor<2x20x9x11xf32>, tensor<2x20x9x11xf32>) {
      %w = tk.constant dense<0.5> : tensor<20x16x3x3xf32>
      %z = tk.constant dense<0.0> : tensor<f32>
      %c = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<2x16x9x11xf32>, tensor<20x16x3x3xf32>) -> tensor<2x20x9x11xf32>
      %m = tk.max %c, %z : (tensor<2x20x9x11xf32>, tensor<f32>) -> tensor<2x20x9x11xf32>
      %n = tk.neg %m : (tensor<2x20x9x11xf32>) -> tensor<2x20x9x11xf32>
      return %c, %n : tensor<2x20x9x11xf32>, tensor<2x20x9x11xf32>
    })"});
}

TEST(SeveralResults, BlockedAndRowMajorResultsOfOneLoop) {
  expectSame({.text = R"(
    func.func @main(%x: tensor<1x16x9x9xf32>) -> (tensor<1x20x9x9xf32>, tensor<1x20x9x9xf32>) {
      %w = tk.constant dense<0.5> : tensor<20x16x1x1xf32>
      %v = tk.constant dense<0.25> : tensor<20x20x3x3xf32>
      %c = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x16x9x9xf32>, tensor<20x16x1x1xf32>) -> tensor<1x20x9x9xf32>
      %p = tk.window %c {kind = #tk.reduce_kind<max>, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>} : (tensor<1x20x9x9xf32>) -> tensor<1x20x9x9xf32>
      %a = tk.abs %p : (tensor<1x20x9x9xf32>) -> tensor<1x20x9x9xf32>
      %e = tk.exp %a : (tensor<1x20x9x9xf32>) -> tensor<1x20x9x9xf32>
      %d = tk.conv %e, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x20x9x9xf32>, tensor<20x20x3x3xf32>) -> tensor<1x20x9x9xf32>
      return %a, %d : tensor<1x20x9x9xf32>, tensor<1x20x9x9xf32>
    })"});
}

TEST(SeveralResults, ResidualAddAndLayerNorm) {
  expectSame({.text = R"(
    func.func @main(%x: tensor<40x65xf32>, %y: tensor<40x65xf32>) -> (tensor<40x65xf32>, tensor<40x65xf32>) {
      %n = tk.constant dense<65.0> : tensor<f32>
      %e = tk.constant dense<1.0e-5> : tensor<f32>
      %h = tk.add %x, %y : (tensor<40x65xf32>, tensor<40x65xf32>) -> tensor<40x65xf32>
      %s = tk.reduce %h {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<40x65xf32>) -> tensor<40x1xf32>
      %m = tk.div %s, %n : (tensor<40x1xf32>, tensor<f32>) -> tensor<40x1xf32>
      %d = tk.sub %h, %m : (tensor<40x65xf32>, tensor<40x1xf32>) -> tensor<40x65xf32>
      %q = tk.mul %d, %d : (tensor<40x65xf32>, tensor<40x65xf32>) -> tensor<40x65xf32>
      %t = tk.reduce %q {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<40x65xf32>) -> tensor<40x1xf32>
      %v = tk.div %t, %n : (tensor<40x1xf32>, tensor<f32>) -> tensor<40x1xf32>
      %w = tk.add %v, %e : (tensor<40x1xf32>, tensor<f32>) -> tensor<40x1xf32>
      %u = tk.sqrt %w : (tensor<40x1xf32>) -> tensor<40x1xf32>
      %r = tk.div %d, %u : (tensor<40x65xf32>, tensor<40x1xf32>) -> tensor<40x65xf32>
      return %r, %h : tensor<40x65xf32>, tensor<40x65xf32>
    })"});
}

} // namespace
