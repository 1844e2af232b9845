//===- TileStoreTest.cpp - convolutions that write row-major images
//---------------------------------------===//
// Lanes are channels, and channels lie a plane apart: the vectors of a register tile are stored transposed.
#include "ProgramHarness.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace tokamak;
using namespace tokamak::test;

namespace {

std::string image(int64_t channels, int64_t rows, int64_t columns) {
  return "tensor<1x" + std::to_string(channels) + "x" + std::to_string(rows) + "x" + std::to_string(columns) +
         "xf32>";
}

/// y = conv(x) of a square kernel that keeps the extents, with `behind` as the rest of the function, which
/// names the convolution %c and its type $C.
std::string convolution(int64_t in, int64_t out, int64_t rows, int64_t columns, int64_t kernel, int64_t group,
                        const std::string &arguments, const std::string &results, const std::string &behind) {
  const std::string x = image(in, rows, columns), c = image(out, rows, columns),
                    w = "tensor<" + std::to_string(out) + "x" + std::to_string(in / group) + "x" +
                        std::to_string(kernel) + "x" + std::to_string(kernel) + "xf32>",
                    pad = std::to_string(kernel / 2);
  std::string text =
      "func.func @main(%x: " + x + arguments + ") -> (" + results +
      ") {\n%w = tk.constant dense<0.5> : " + w +
      "\n%c = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = "
      "array<i64: " +
      pad + ", " + pad + ">, pads_high = array<i64: " + pad + ", " + pad +
      ">, group = " + std::to_string(group) + " : i64} : (" + x + ", " + w + ") -> " + c + "\n" + behind +
      "}";
  for (size_t at = 0; (at = text.find("$C", at)) != std::string::npos;)
    text.replace(at, 2, c);
  return text;
}

void expectSame(const std::string &text) {
  for (const char *cpu : {"native", "x86-64-v3"})
    EXPECT_EQ(differenceFromReference({.text = text, .exact = true, .cpu = cpu, .fusion = FusionMode::Full}),
              "")
        << cpu << "\n"
        << text;
}

TEST(TileStore, ColumnsAndChannelsThatFillNoVector) {
  for (int64_t columns : {1, 2, 5, 14, 16, 17, 33})
    for (int64_t channels : {8, 16, 20, 33})
      expectSame(convolution(12, channels, 3, columns, 1, 1, "", "$C", "return %c : $C\n"));
}

TEST(TileStore, KernelsAndGroups) {
  for (int64_t kernel : {1, 3})
    for (int64_t group : {1, 2, 32})
      expectSame(convolution(32, 32, 9, 19, kernel, group, "", "$C", "return %c : $C\n"));
}

/// Sums that are known to be nothing when compiling, as only padding is read.
TEST(TileStore, OnlyPadding) {
  expectSame(
      "func.func @main(%x: tensor<1x8x0xf32>) -> tensor<1x16x3xf32> {\n"
      "%w = tk.constant dense<0.5> : tensor<16x8x1xf32>\n"
      "%c = tk.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 2>, "
      "pads_high = array<i64: 1>, group = 1 : i64} : (tensor<1x8x0xf32>, tensor<16x8x1xf32>) -> "
      "tensor<1x16x3xf32>\nreturn %c : tensor<1x16x3xf32>\n}");
}

TEST(TileStore, WhatFollows) {
  // A residual in the same image, a second result, a view of other axes, another element type.
  expectSame(
      convolution(16, 24, 7, 21, 1, 1, ", %r: $C", "$C, $C",
                  "%s = tk.add %c, %r : ($C, $C) -> $C\n%n = tk.neg %s : ($C) -> $C\nreturn %s, %n : $C, "
                  "$C\n"));
  expectSame(
      convolution(16, 24, 7, 21, 1, 1, "", "tensor<1x24x147xf32>",
                  "%n = tk.neg %c : ($C) -> $C\n%v = tk.reshape %n {shape = array<i64: 1, 24, 147>} : ($C) "
                  "-> tensor<1x24x147xf32>\nreturn %v : tensor<1x24x147xf32>\n"));
  expectSame(convolution(16, 24, 7, 21, 1, 1, "", "tensor<1x7x21x24xf32>",
                         "%v = tk.transpose %c {permutation = array<i64: 0, 2, 3, 1>} : ($C) -> "
                         "tensor<1x7x21x24xf32>\nreturn %v : tensor<1x7x21x24xf32>\n"));
  for (const char *type : {"f16", "i32", "i64", "i1"}) {
    std::string t = std::string("tensor<1x24x7x21x") + type + ">";
    expectSame(convolution(16, 24, 7, 21, 1, 1, "", t,
                           std::string("%v = tk.cast %c {to = ") + type + "} : ($C) -> " + t +
                               "\nreturn %v : " + t + "\n"));
  }
}

TEST(TileStore, NoScatter) {
  std::string text = convolution(16, 32, 28, 28, 1, 1, "", "$C", "return %c : $C\n");
  auto context = makeContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
  PipelineOptions options;
  options.target = llvm::cantFail(TargetDescription::forCpu("x86-64-v4"));
  ASSERT_TRUE(succeeded(runPipeline(*module, options)));
  std::string assembly;
  llvm::cantFail(codegen::compileProgram(*module, *options.target, {.emit = "asm", .emitted = &assembly}));
  EXPECT_NE(assembly.find("vfmadd"), std::string::npos);
  EXPECT_EQ(assembly.find("vscatter"), std::string::npos);
}

} // namespace
