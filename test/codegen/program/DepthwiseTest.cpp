//===- DepthwiseTest.cpp - depthwise convolutions of row-major images ------------------------------===//
// As graph inputs are. Lanes run over columns; borders, ragged vectors and what has no such plan.
#include "ProgramHarness.h"
#include "ir/Tk.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace tokamak;
using namespace tokamak::test;

namespace {

/// One depthwise convolution with a bias, and an activation behind it.
struct Case {
  int64_t batch, channels, rows, columns;
  int64_t kernelRows, kernelColumns;
  int64_t padTop = 0, padLeft = 0, padBottom = 0, padRight = 0;
  int64_t rowStride = 1, columnStride = 1, rowDilation = 1, columnDilation = 1, multiplier = 1;
};

std::string programOf(const Case &c) {
  auto extent = [](int64_t in, int64_t kernel, int64_t pads, int64_t stride, int64_t dilation) {
    return (in + pads - (kernel - 1) * dilation - 1) / stride + 1;
  };
  const int64_t rows = extent(c.rows, c.kernelRows, c.padTop + c.padBottom, c.rowStride, c.rowDilation),
                columns = extent(c.columns, c.kernelColumns, c.padLeft + c.padRight, c.columnStride,
                                 c.columnDilation);
  auto tensor = [](std::initializer_list<int64_t> extents) {
    std::string text = "tensor<";
    for (int64_t n : extents)
      text += std::to_string(n) + "x";
    return text + "f32>";
  };
  auto pair = [](int64_t a, int64_t b) {
    return "array<i64: " + std::to_string(a) + ", " + std::to_string(b) + ">";
  };
  const int64_t outputs = c.channels * c.multiplier, weights = outputs * c.kernelRows * c.kernelColumns;
  const std::string x = tensor({c.batch, c.channels, c.rows, c.columns}),
                    w = tensor({outputs, 1, c.kernelRows, c.kernelColumns}), b = tensor({outputs}),
                    y = tensor({c.batch, outputs, rows, columns}), flat = tensor({weights});
  auto iota = [](int64_t count, const std::string &type) {
    return "tk.iota {shape = array<i64: " + std::to_string(count) + ">, axis = 0 : i64, to = f32} : () -> " +
           type + "\n";
  };
  std::string text = "func.func @main(%x: " + x + ") -> " + y + " {\n";
  text += "%one = tk.constant dense<1.0> : tensor<f32>\n%seven = tk.constant dense<7.0> : tensor<f32>\n";
  text += "%n = " + iota(weights, flat) + "%m = tk.mod %n, %seven : (" + flat + ", tensor<f32>) -> " + flat +
          "\n";
  text += "%w = tk.reshape %m {shape = array<i64: " + std::to_string(outputs) + ", 1, " +
          std::to_string(c.kernelRows) + ", " + std::to_string(c.kernelColumns) + ">} : (" + flat + ") -> " +
          w + "\n";
  text += "%b = " + iota(outputs, b);
  text += "%c = tk.conv %x, %w, %b {strides = " + pair(c.rowStride, c.columnStride) +
          ", dilations = " + pair(c.rowDilation, c.columnDilation) +
          ", pads_low = " + pair(c.padTop, c.padLeft) + ", pads_high = " + pair(c.padBottom, c.padRight) +
          ", group = " + std::to_string(c.channels) + " : i64} : (" + x + ", " + w + ", " + b + ") -> " + y +
          "\n";
  return text + "%r = tk.max %c, %one : (" + y + ", tensor<f32>) -> " + y + "\nreturn %r : " + y + "\n}";
}

void expectSame(const std::string &text) {
  for (FusionMode fusion : {FusionMode::None, FusionMode::Full})
    for (const char *cpu : {"native", "x86-64-v3"})
      EXPECT_EQ(differenceFromReference({.text = text, .exact = true, .cpu = cpu, .fusion = fusion}), "")
          << cpu << ", fusion " << static_cast<int>(fusion) << "\n"
          << text;
}

TEST(Depthwise, BordersAndRaggedVectors) {
  const Case cases[] = {
      {1, 20, 14, 14, 3, 3, 1, 1, 1, 1},              // one vector a row
      {2, 5, 9, 35, 3, 3, 1, 1, 1, 1},                // two and a part
      {1, 3, 7, 64, 5, 5, 2, 2, 2, 2},                // whole vectors, borders in the first and last
      {1, 3, 7, 33, 3, 3},                            // no padding
      {1, 2, 6, 40, 3, 3, 0, 2, 1, 0},                // sides of their own
      {1, 2, 20, 40, 3, 3, 2, 2, 2, 2, 1, 1, 2, 2},   // dilated
      {1, 4, 17, 30, 3, 3, 1, 1, 1, 1, 2, 1},         // every second row
      {2, 3, 5, 18, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 3}, // three results a channel
      {1, 2, 3, 50, 1, 7, 0, 3, 0, 3},                // a row of taps
      {1, 2, 30, 3, 7, 1, 3, 0, 3, 0},                // a column of taps, three columns
      {1, 2, 1, 1, 3, 3, 1, 1, 1, 1},                 // one pixel
      {1, 3, 29, 20, 3, 3, 1, 1, 1, 1},               // blocks of rows, the last one shorter
      {1, 3, 26, 20, 3, 3, 2, 1, 0, 1},               // the first block alone on the border
      {1, 2, 40, 17, 3, 3, 3, 1, 3, 1, 2, 1, 3, 1},   // every second row, dilated
      {1, 2, 20, 18, 7, 7, 3, 3, 3, 3},               // weights that are not kept
      {1, 2, 24, 18, 13, 3, 6, 1, 6, 1},              // most taps beyond what a block of rows is for
      {3, 70, 4, 4, 3, 3, 1, 1, 1, 1},                // more channels than a task takes
      {0, 4, 5, 5, 3, 3, 1, 1, 1, 1},                 // no image
  };
  for (const Case &c : cases)
    expectSame(programOf(c));
}

TEST(Depthwise, WithoutSuchAPlan) {
  expectSame(programOf({1, 3, 9, 21, 3, 3, 1, 1, 1, 1, 1, 2}));           // every second column
  expectSame(programOf({1, 2, 9, 21, 11, 3, 5, 1, 5, 1}));                // all rows on the border
  expectSame(programOf({1, 2, 4, 150, 1, 3, 0, 70, 0, 70, 1, 1, 1, 70})); // taps far apart
}

TEST(Depthwise, ManyTapsAreLoops) {
  expectSame(programOf({1, 2, 40, 44, 36, 40})); // written out, they would take a minute to compile
}

TEST(Depthwise, OneSpatialAxis) {
  expectSame(R"(
    func.func @main(%x: tensor<2x6x37xf32>) -> tensor<2x6x37xf32> {
      %w = tk.constant dense<2.0> : tensor<6x1x5xf32>
      %c = tk.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 2>, pads_high = array<i64: 2>, group = 6 : i64} : (tensor<2x6x37xf32>, tensor<6x1x5xf32>) -> tensor<2x6x37xf32>
      %r = tk.sub %c, %x : (tensor<2x6x37xf32>, tensor<2x6x37xf32>) -> tensor<2x6x37xf32>
      return %r : tensor<2x6x37xf32>
    })");
}

TEST(Depthwise, BetweenOtherConvolutions) {
  // The result is read by a 1x1 convolution, and by one that wants blocks.
  expectSame(R"(
    func.func @main(%x: tensor<1x32x9x19xf32>) -> (tensor<1x16x9x19xf32>, tensor<1x32x9x19xf32>) {
      %w = tk.constant dense<1.0> : tensor<32x1x3x3xf32>
      %p = tk.constant dense<2.0> : tensor<16x32x1x1xf32>
      %one = tk.constant dense<1.0> : tensor<f32>
      %c = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 32 : i64} : (tensor<1x32x9x19xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x9x19xf32>
      %r = tk.max %c, %one : (tensor<1x32x9x19xf32>, tensor<f32>) -> tensor<1x32x9x19xf32>
      %d = tk.conv %r, %p {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x32x9x19xf32>, tensor<16x32x1x1xf32>) -> tensor<1x16x9x19xf32>
      %e = tk.conv %r, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 32 : i64} : (tensor<1x32x9x19xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x9x19xf32>
      return %d, %e : tensor<1x16x9x19xf32>, tensor<1x32x9x19xf32>
    })");
}

} // namespace
