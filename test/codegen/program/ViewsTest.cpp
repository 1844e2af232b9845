//===- ViewsTest.cpp - concatenations and slices that move nothing ----------------------------------===//
#include "ProgramHarness.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace tokamak;
using tokamak::test::ProgramCase;

namespace {

/// The case is right on both vector lengths; returns the kernels that it takes natively, unfused.
size_t kernelsOf(ProgramCase test) {
  test.exact = true;
  test.fusion = FusionMode::None;
  for (const char *cpu : {"native", "x86-64-v3"}) {
    test.cpu = cpu;
    EXPECT_EQ(differenceFromReference(test), "") << cpu;
  }
  auto context = test::makeContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(test.text, context.get());
  auto program = test::TestProgram::compile(*module, FusionMode::None, "native");
  return (*program)->code().kernelCount;
}

/// Two pointwise convolutions of `x`, of `a` and `b` channels, for the text in `rest`.
std::string twoConvolutions(int batch, int a, int b, const std::string &results, const std::string &rest) {
  std::string n = std::to_string(batch), ca = std::to_string(a), cb = std::to_string(b);
  std::string x = "tensor<" + n + "x8x5x3xf32>", ya = "tensor<" + n + "x" + ca + "x5x3xf32>",
              yb = "tensor<" + n + "x" + cb + "x5x3xf32>";
  std::string attributes =
      "{strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, "
      "pads_high = array<i64: 0, 0>, group = 1 : i64}";
  return "func.func @main(%x: " + x + ") -> " + results + " {\n%wa = tk.constant dense<2.0> : tensor<" + ca +
         "x8x1x1xf32>\n%wb = tk.constant dense<-1.0> : tensor<" + cb + "x8x1x1xf32>\n%a = tk.conv %x, %wa " +
         attributes + " : (" + x + ", tensor<" + ca + "x8x1x1xf32>) -> " + ya + "\n%b = tk.conv %x, %wb " +
         attributes + " : (" + x + ", tensor<" + cb + "x8x1x1xf32>) -> " + yb + "\n" + rest + "}";
}

const char *const joined = R"(
  %c = tk.concat %a, %b {axis = 1 : i64} : (tensor<2x32x5x3xf32>, tensor<2x20x5x3xf32>) -> tensor<2x52x5x3xf32>
  %w = tk.constant dense<1.0> : tensor<16x52x3x3xf32>
  %d = tk.conv %c, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<2x52x5x3xf32>, tensor<16x52x3x3xf32>) -> tensor<2x16x5x3xf32>
)";

TEST(Views, ConcatOfConvolutionsIsWrittenInPlace) {
  std::string rest = std::string(joined) + "return %d : tensor<2x16x5x3xf32>";
  EXPECT_EQ(kernelsOf({.text = twoConvolutions(2, 32, 20, "tensor<2x16x5x3xf32>", rest)}), 3U);
}

TEST(Views, APartThatIsReadOnItsOwnToo) {
  std::string rest = std::string(joined) + R"(
    %n = tk.neg %b : (tensor<2x20x5x3xf32>) -> tensor<2x20x5x3xf32>
    return %d, %n : tensor<2x16x5x3xf32>, tensor<2x20x5x3xf32>)";
  EXPECT_EQ(
      kernelsOf({.text = twoConvolutions(2, 32, 20, "(tensor<2x16x5x3xf32>, tensor<2x20x5x3xf32>)", rest)}),
      4U);
}

TEST(Views, APartThatIsReturnedHasItsOwnMemory) {
  std::string rest = std::string(joined) + "return %d, %b : tensor<2x16x5x3xf32>, tensor<2x20x5x3xf32>";
  EXPECT_EQ(
      kernelsOf({.text = twoConvolutions(2, 32, 20, "(tensor<2x16x5x3xf32>, tensor<2x20x5x3xf32>)", rest)}),
      4U);
}

TEST(Views, ConcatThatIsReturnedIsPlainMemory) {
  std::string rest = R"(
    %c = tk.concat %a, %b {axis = 1 : i64} : (tensor<1x32x5x3xf32>, tensor<1x20x5x3xf32>) -> tensor<1x52x5x3xf32>
    return %c : tensor<1x52x5x3xf32>)";
  // Results are row-major. So are, then, values that only a concatenation reads.
  EXPECT_EQ(kernelsOf({.text = twoConvolutions(1, 32, 20, "tensor<1x52x5x3xf32>", rest)}), 2U);
}

TEST(Views, ConcatThatIsReturnedOfBlocks) {
  // The convolutions read channel blocks, and write plain memory nevertheless; images of two are apart in it.
  auto rest = [](const std::string &n) {
    const std::string attributes =
        "{strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, "
        "pads_high = array<i64: 0, 0>, group = 1 : i64}";
    return R"(
    %v = tk.constant dense<0.5> : tensor<32x32x1x1xf32>
    %u = tk.constant dense<0.25> : tensor<20x32x1x1xf32>
    %p = tk.conv %a, %v )" +
           attributes + " : (tensor<" + n + "x32x5x3xf32>, tensor<32x32x1x1xf32>) -> tensor<" + n +
           "x32x5x3xf32>\n%q = tk.conv %a, %u " + attributes + " : (tensor<" + n +
           "x32x5x3xf32>, tensor<20x32x1x1xf32>) -> tensor<" + n +
           "x20x5x3xf32>\n%c = tk.concat %p, %q {axis = 1 : i64} : (tensor<" + n + "x32x5x3xf32>, tensor<" +
           n + "x20x5x3xf32>) -> tensor<" + n + "x52x5x3xf32>\nreturn %c : tensor<" + n + "x52x5x3xf32>";
  };
  EXPECT_EQ(kernelsOf({.text = twoConvolutions(1, 32, 20, "tensor<1x52x5x3xf32>", rest("1"))}), 3U);
  EXPECT_EQ(kernelsOf({.text = twoConvolutions(2, 32, 20, "tensor<2x52x5x3xf32>", rest("2"))}), 4U);
}

TEST(Views, PartsThatSplitABlockAreCopied) {
  std::string rest = R"(
    %c = tk.concat %a, %b {axis = 1 : i64} : (tensor<2x20x5x3xf32>, tensor<2x32x5x3xf32>) -> tensor<2x52x5x3xf32>
    %w = tk.constant dense<1.0> : tensor<16x52x1x1xf32>
    %d = tk.conv %c, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<2x52x5x3xf32>, tensor<16x52x1x1xf32>) -> tensor<2x16x5x3xf32>
    return %d : tensor<2x16x5x3xf32>)";
  EXPECT_EQ(kernelsOf({.text = twoConvolutions(2, 20, 32, "tensor<2x16x5x3xf32>", rest)}), 4U);
}

TEST(Views, ConcatOfTheSameValueTwice) {
  std::string rest = R"(
    %c = tk.concat %a, %a {axis = 1 : i64} : (tensor<2x32x5x3xf32>, tensor<2x32x5x3xf32>) -> tensor<2x64x5x3xf32>
    %n = tk.neg %c : (tensor<2x64x5x3xf32>) -> tensor<2x64x5x3xf32>
    return %n : tensor<2x64x5x3xf32>)";
  kernelsOf({.text = twoConvolutions(2, 32, 20, "tensor<2x64x5x3xf32>", rest)});
}

TEST(Views, NestedConcatsAndOneInTwo) {
  std::string rest = R"(
    %c = tk.concat %a, %b {axis = 1 : i64} : (tensor<2x32x5x3xf32>, tensor<2x16x5x3xf32>) -> tensor<2x48x5x3xf32>
    %n = tk.neg %c : (tensor<2x48x5x3xf32>) -> tensor<2x48x5x3xf32>
    %e = tk.concat %c, %n, %a {axis = 1 : i64} : (tensor<2x48x5x3xf32>, tensor<2x48x5x3xf32>, tensor<2x32x5x3xf32>) -> tensor<2x128x5x3xf32>
    %d = tk.abs %e : (tensor<2x128x5x3xf32>) -> tensor<2x128x5x3xf32>
    return %d : tensor<2x128x5x3xf32>)";
  kernelsOf({.text = twoConvolutions(2, 32, 16, "tensor<2x128x5x3xf32>", rest)});
}

TEST(Views, SlicesOfAConvolution) {
  std::string rest = R"(
    %p = tk.slice %a {starts = array<i64: 0, 0, 0, 0>, sizes = array<i64: 2, 32, 5, 3>, steps = array<i64: 1, 1, 1, 1>} : (tensor<2x64x5x3xf32>) -> tensor<2x32x5x3xf32>
    %q = tk.slice %a {starts = array<i64: 0, 32, 0, 0>, sizes = array<i64: 2, 24, 5, 3>, steps = array<i64: 1, 1, 1, 1>} : (tensor<2x64x5x3xf32>) -> tensor<2x24x5x3xf32>
    %w = tk.constant dense<1.0> : tensor<16x32x3x3xf32>
    %v = tk.constant dense<2.0> : tensor<16x24x1x1xf32>
    %d = tk.conv %p, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<2x32x5x3xf32>, tensor<16x32x3x3xf32>) -> tensor<2x16x5x3xf32>
    %e = tk.conv %q, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<2x24x5x3xf32>, tensor<16x24x1x1xf32>) -> tensor<2x16x5x3xf32>
    return %d, %e : tensor<2x16x5x3xf32>, tensor<2x16x5x3xf32>)";
  EXPECT_EQ(
      kernelsOf({.text = twoConvolutions(2, 64, 16, "(tensor<2x16x5x3xf32>, tensor<2x16x5x3xf32>)", rest)}),
      3U);
}

TEST(Views, RowMajorSlicesAndConcats) {
  EXPECT_EQ(kernelsOf({.text = R"(
    func.func @main(%x: tensor<6x4xf32>) -> (tensor<5x4xf32>, tensor<3x4xf32>) {
      %p = tk.slice %x {starts = array<i64: 2, 0>, sizes = array<i64: 3, 4>, steps = array<i64: 1, 1>} : (tensor<6x4xf32>) -> tensor<3x4xf32>
      %q = tk.neg %p : (tensor<3x4xf32>) -> tensor<3x4xf32>
      %r = tk.slice %q {starts = array<i64: 1, 0>, sizes = array<i64: 2, 4>, steps = array<i64: 1, 1>} : (tensor<3x4xf32>) -> tensor<2x4xf32>
      %s = tk.abs %r : (tensor<2x4xf32>) -> tensor<2x4xf32>
      %t = tk.concat %q, %s {axis = 0 : i64} : (tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<5x4xf32>
      %u = tk.neg %t : (tensor<5x4xf32>) -> tensor<5x4xf32>
      %v = tk.sub %q, %p : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
      return %u, %v : tensor<5x4xf32>, tensor<3x4xf32>
    })"}),
            4U);
}

TEST(Views, SlicesAcrossRowsAreCopied) {
  EXPECT_EQ(kernelsOf({.text = R"(
    func.func @main(%x: tensor<6x4xf32>) -> tensor<6x2xf32> {
      %p = tk.slice %x {starts = array<i64: 0, 1>, sizes = array<i64: 6, 2>, steps = array<i64: 1, 1>} : (tensor<6x4xf32>) -> tensor<6x2xf32>
      %q = tk.neg %p : (tensor<6x2xf32>) -> tensor<6x2xf32>
      return %q : tensor<6x2xf32>
    })"}),
            2U);
}

TEST(Views, ReversedSliceIsCopied) {
  EXPECT_EQ(kernelsOf({.text = R"(
    func.func @main(%x: tensor<6x4xf32>) -> tensor<6x4xf32> {
      %p = tk.slice %x {starts = array<i64: 5, 0>, sizes = array<i64: 6, 4>, steps = array<i64: -1, 1>} : (tensor<6x4xf32>) -> tensor<6x4xf32>
      %q = tk.neg %p : (tensor<6x4xf32>) -> tensor<6x4xf32>
      return %q : tensor<6x4xf32>
    })"}),
            2U);
}

} // namespace
