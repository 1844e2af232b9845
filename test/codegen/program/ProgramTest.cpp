//===- ProgramTest.cpp - every kind of kernel, and the host program, against the evaluator -----------===//
#include "ProgramHarness.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using tokamak::FusionMode;
using tokamak::test::ProgramCase;

namespace {

/// Unfused and fused in both ways, for both vector lengths.
void expectSame(ProgramCase test) {
  for (const char *cpu : {"native", "x86-64-v3"})
    for (FusionMode fusion : {FusionMode::None, FusionMode::Dominator, FusionMode::Full}) {
      test.cpu = cpu;
      test.fusion = fusion;
      EXPECT_EQ(differenceFromReference(test), "") << cpu << ", fusion " << static_cast<int>(fusion);
    }
}

TEST(Program, ElementwiseChain) {
  expectSame({.text = R"(
    func.func @main(%x: tensor<2x5x7xf32>, %y: tensor<5x1xf32>) -> tensor<2x5x7xf32> {
      %a = tk.add %x, %y : (tensor<2x5x7xf32>, tensor<5x1xf32>) -> tensor<2x5x7xf32>
      %b = tk.exp %a : (tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
      %c = tk.tanh %b : (tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
      return %c : tensor<2x5x7xf32>
    })"});
}

TEST(Program, RankZeroAndEmpty) {
  expectSame({.text = R"(
    func.func @main(%x: tensor<f32>, %y: tensor<0x3xf32>) -> (tensor<f32>, tensor<0x3xf32>) {
      %a = tk.neg %x : (tensor<f32>) -> tensor<f32>
      %b = tk.exp %y : (tensor<0x3xf32>) -> tensor<0x3xf32>
      return %a, %b : tensor<f32>, tensor<0x3xf32>
    })"});
}

// Of as many as a vector has lanes the code generator made a dot product of bytes that lost most of the sum.
TEST(Program, SumsOfProductsOfBytes) {
  for (const char *n : {"8", "16", "17", "32", "64"}) {
    std::string text = R"(
    func.func @main(%a: tensor<5xNxui8>, %b: tensor<5xNxi8>, %c: tensor<5xNxi1>) -> (tensor<5xi32>, tensor<5xi32>) {
      %u = tk.cast %a {to = i32} : (tensor<5xNxui8>) -> tensor<5xNxi32>
      %v = tk.cast %b {to = i32} : (tensor<5xNxi8>) -> tensor<5xNxi32>
      %w = tk.cast %c {to = i32} : (tensor<5xNxi1>) -> tensor<5xNxi32>
      %p = tk.mul %u, %v : (tensor<5xNxi32>, tensor<5xNxi32>) -> tensor<5xNxi32>
      %q = tk.mul %w, %w : (tensor<5xNxi32>, tensor<5xNxi32>) -> tensor<5xNxi32>
      %s = tk.reduce %p {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = false} : (tensor<5xNxi32>) -> tensor<5xi32>
      %t = tk.reduce %q {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = false} : (tensor<5xNxi32>) -> tensor<5xi32>
      return %s, %t : tensor<5xi32>, tensor<5xi32>
    })";
    for (size_t at; (at = text.find("xN")) != std::string::npos;)
      text.replace(at + 1, 1, n);
    expectSame({.text = text, .exact = true});
  }
}

TEST(Program, SoftmaxInPieces) {
  expectSame({.text = R"(
    func.func @main(%x: tensor<3x4x37xf32>) -> tensor<3x4x37xf32> {
      %r = tk.composite "Softmax"(%x) {
      ^bb0(%a: tensor<3x4x37xf32>):
        %m = tk.reduce %a {kind = #tk.reduce_kind<max>, axes = array<i64: 2>, keep_dims = true} : (tensor<3x4x37xf32>) -> tensor<3x4x1xf32>
        %d = tk.sub %a, %m : (tensor<3x4x37xf32>, tensor<3x4x1xf32>) -> tensor<3x4x37xf32>
        %e = tk.exp %d : (tensor<3x4x37xf32>) -> tensor<3x4x37xf32>
        %s = tk.reduce %e {kind = #tk.reduce_kind<sum>, axes = array<i64: 2>, keep_dims = true} : (tensor<3x4x37xf32>) -> tensor<3x4x1xf32>
        %q = tk.div %e, %s : (tensor<3x4x37xf32>, tensor<3x4x1xf32>) -> tensor<3x4x37xf32>
        tk.yield %q : tensor<3x4x37xf32>
      } : (tensor<3x4x37xf32>) -> tensor<3x4x37xf32>
      return %r : tensor<3x4x37xf32>
    })"});
}

TEST(Program, SoftmaxOverChannels) {
  expectSame({.text = R"(
    func.func @main(%x: tensor<2x5x19xf32>) -> tensor<2x5x19xf32> {
      %r = tk.composite "Softmax"(%x) {
      ^bb0(%a: tensor<2x5x19xf32>):
        %m = tk.reduce %a {kind = #tk.reduce_kind<max>, axes = array<i64: 1>, keep_dims = true} : (tensor<2x5x19xf32>) -> tensor<2x1x19xf32>
        %d = tk.sub %a, %m : (tensor<2x5x19xf32>, tensor<2x1x19xf32>) -> tensor<2x5x19xf32>
        %e = tk.exp %d : (tensor<2x5x19xf32>) -> tensor<2x5x19xf32>
        %s = tk.reduce %e {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<2x5x19xf32>) -> tensor<2x1x19xf32>
        %q = tk.div %e, %s : (tensor<2x5x19xf32>, tensor<2x1x19xf32>) -> tensor<2x5x19xf32>
        tk.yield %q : tensor<2x5x19xf32>
      } : (tensor<2x5x19xf32>) -> tensor<2x5x19xf32>
      return %r : tensor<2x5x19xf32>
    })"});
}

TEST(Program, ReductionsOfEveryShape) {
  expectSame({.text = R"(
    func.func @main(%x: tensor<3x4x5xf32>) -> (tensor<f32>, tensor<4xf32>, tensor<3x5xf32>, tensor<3x4xi64>) {
      %a = tk.reduce %x {kind = #tk.reduce_kind<sum>, axes = array<i64: 0, 1, 2>, keep_dims = false} : (tensor<3x4x5xf32>) -> tensor<f32>
      %b = tk.reduce %x {kind = #tk.reduce_kind<max>, axes = array<i64: 0, 2>, keep_dims = false} : (tensor<3x4x5xf32>) -> tensor<4xf32>
      %c = tk.reduce %x {kind = #tk.reduce_kind<product>, axes = array<i64: 1>, keep_dims = false} : (tensor<3x4x5xf32>) -> tensor<3x5xf32>
      %d = tk.arg_reduce %x {kind = #tk.reduce_kind<min>, axis = 2 : i64, keep_dims = false} : (tensor<3x4x5xf32>) -> tensor<3x4xi64>
      return %a, %b, %c, %d : tensor<f32>, tensor<4xf32>, tensor<3x5xf32>, tensor<3x4xi64>
    })",
              .exact = true});
}

TEST(Program, MovementMix) {
  expectSame({.text = R"(
    func.func @main(%x: tensor<2x6x4xf32>, %y: tensor<2x6x3xf32>) -> tensor<7x6x3xf32> {
      %z = tk.constant dense<1.5> : tensor<f32>
      %c = tk.concat %x, %y {axis = 2 : i64} : (tensor<2x6x4xf32>, tensor<2x6x3xf32>) -> tensor<2x6x7xf32>
      %t = tk.transpose %c {permutation = array<i64: 2, 1, 0>} : (tensor<2x6x7xf32>) -> tensor<7x6x2xf32>
      %p = tk.pad %t, %z {low = array<i64: 0, 0, 1>, high = array<i64: 0, 0, 1>} : (tensor<7x6x2xf32>, tensor<f32>) -> tensor<7x6x4xf32>
      %s = tk.slice %p {starts = array<i64: 0, 5, 0>, sizes = array<i64: 7, 6, 3>, steps = array<i64: 1, -1, 1>} : (tensor<7x6x4xf32>) -> tensor<7x6x3xf32>
      return %s : tensor<7x6x3xf32>
    })",
              .exact = true});
}

// Fused into one kernel, the position in %x goes through all of them: coefficients that grow, quotients of
// quotients.
TEST(Program, ManyTranspositions) {
  std::string text = "func.func @main(%x: tensor<105xf32>) -> tensor<105xf32> {\n%y0 = tk.abs %x : "
                     "(tensor<105xf32>) -> tensor<105xf32>\n";
  for (int i = 0; i < 40; ++i) {
    std::string n = std::to_string(i);
    text += "%n" + n + " = tk.neg %y" + n + " : (tensor<105xf32>) -> tensor<105xf32>\n%r" + n +
            " = tk.reshape %n" + n +
            " {shape = array<i64: 3, 5, 7>} : (tensor<105xf32>) -> tensor<3x5x7xf32>\n%t" + n +
            " = tk.transpose %r" + n +
            " {permutation = array<i64: 2, 0, 1>} : (tensor<3x5x7xf32>) -> tensor<7x3x5xf32>\n%y" +
            std::to_string(i + 1) + " = tk.reshape %t" + n +
            " {shape = array<i64: 105>} : (tensor<7x3x5xf32>) -> tensor<105xf32>\n";
  }
  expectSame({.text = text + "return %y40 : tensor<105xf32>\n}", .exact = true});
}

TEST(Program, ConvolutionsInARow) {
  expectSame({.text = R"(
    func.func @main(%x: tensor<2x3x17x13xf32>, %r: tensor<2x24x9x7xf32>) -> (tensor<2x24x9x7xf32>, tensor<2x24x1x1xf32>) {
      %zero = tk.constant dense<0.0> : tensor<f32>
      %w = tk.constant dense<0.5> : tensor<24x3x3x3xf32>
      %b = tk.constant dense<-1.0> : tensor<24xf32>
      %wd = tk.constant dense<2.0> : tensor<24x1x3x3xf32>
      %c = tk.conv %x, %w, %b {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<2x3x17x13xf32>, tensor<24x3x3x3xf32>, tensor<24xf32>) -> tensor<2x24x9x7xf32>
      %a = tk.max %c, %zero : (tensor<2x24x9x7xf32>, tensor<f32>) -> tensor<2x24x9x7xf32>
      %d = tk.conv %a, %wd {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 24 : i64} : (tensor<2x24x9x7xf32>, tensor<24x1x3x3xf32>) -> tensor<2x24x9x7xf32>
      %s = tk.add %d, %r : (tensor<2x24x9x7xf32>, tensor<2x24x9x7xf32>) -> tensor<2x24x9x7xf32>
      %p = tk.window %s {kind = #tk.reduce_kind<max>, kernel = array<i64: 9, 7>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>} : (tensor<2x24x9x7xf32>) -> tensor<2x24x1x1xf32>
      return %s, %p : tensor<2x24x9x7xf32>, tensor<2x24x1x1xf32>
    })",
              .exact = true});
}

TEST(Program, MatMulWithEpilogue) {
  expectSame({.text = R"(
    func.func @main(%x: tensor<2x5x33xf32>, %y: tensor<2x33x21xf32>) -> tensor<2x5x21xf32> {
      %b = tk.constant dense<0.25> : tensor<21xf32>
      %m = tk.matmul %x, %y : (tensor<2x5x33xf32>, tensor<2x33x21xf32>) -> tensor<2x5x21xf32>
      %s = tk.add %m, %b : (tensor<2x5x21xf32>, tensor<21xf32>) -> tensor<2x5x21xf32>
      return %s : tensor<2x5x21xf32>
    })",
              .exact = true});
}

TEST(Program, HalfPrecisionRoundsEveryTensor) {
  expectSame({.text = R"(
    func.func @main(%x: tensor<50xf16>, %y: tensor<50xbf16>) -> (tensor<50xf16>, tensor<50xbf16>) {
      %a = tk.mul %x, %x : (tensor<50xf16>, tensor<50xf16>) -> tensor<50xf16>
      %b = tk.add %a, %x : (tensor<50xf16>, tensor<50xf16>) -> tensor<50xf16>
      %c = tk.mul %y, %y : (tensor<50xbf16>, tensor<50xbf16>) -> tensor<50xbf16>
      %d = tk.sub %c, %y : (tensor<50xbf16>, tensor<50xbf16>) -> tensor<50xbf16>
      return %b, %d : tensor<50xf16>, tensor<50xbf16>
    })",
              .tolerance = 0});
}

TEST(Program, ControlFlow) {
  expectSame({.text = R"(
    func.func @main(%x: tensor<3xf32>, %c: tensor<i1>) -> (tensor<3xf32>, tensor<3xf32>, tensor<4x3xf32>) {
      %limit = tk.constant dense<4> : tensor<i64>
      %yes = tk.constant dense<true> : tensor<i1>
      %r = tk.if %c {
        %a = tk.neg %x : (tensor<3xf32>) -> tensor<3xf32>
        tk.yield %a : tensor<3xf32>
      } else {
        tk.yield %x : tensor<3xf32>
      } : (tensor<i1>) -> tensor<3xf32>
      %l:3 = tk.loop limit(%limit : tensor<i64>) carry(%x, %r) trips 4 {
      ^bb0(%i: tensor<i64>, %go: tensor<i1>, %p: tensor<3xf32>, %q: tensor<3xf32>):
        %s = tk.add %p, %q : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
        tk.yield %yes, %q, %s, %p : tensor<i1>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
      } : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<4x3xf32>)
      return %l#0, %l#1, %l#2 : tensor<3xf32>, tensor<3xf32>, tensor<4x3xf32>
    })",
              .exact = true});
}

TEST(Program, ConstantPlacesBeyond28Bits) {
  auto context = tokamak::test::makeContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    func.func @main(%x: tensor<268435457xi8>) -> tensor<1xi8> {
      %a = tk.slice %x {starts = array<i64: 268435456>, sizes = array<i64: 1>, steps = array<i64: 1>} : (tensor<268435457xi8>) -> tensor<1xi8>
      return %a : tensor<1xi8>
    })",
                                                        context.get());
  ASSERT_TRUE(module);
  auto program = tokamak::test::TestProgram::compile(*module, tokamak::FusionMode::None, "native");
  ASSERT_TRUE(static_cast<bool>(program)) << llvm::toString(program.takeError());
  tokamak::Tensor x(tokamak::DataType::Int8, {268435457});
  x.setInt(268435456, 42);
  auto results = (*program)->run({x}, nullptr, tokamak::test::GuardedMemory::Guard::Behind);
  ASSERT_TRUE(static_cast<bool>(results)) << llvm::toString(results.takeError());
  EXPECT_EQ(results->front().intAt(0), 42);
}

} // namespace
