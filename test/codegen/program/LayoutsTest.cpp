//===- LayoutsTest.cpp - values between kernels lie as their readers want them --------------------===//
#include "ProgramHarness.h"
#include "RowsOf.h"
#include "gtest/gtest.h"

using namespace tokamak;
using namespace tokamak::test;

namespace {

/// Two convolutions, the result of the second one pixel, which two products and their gates read.
std::string cellBehindConvolutions() {
  const std::string line = "tensor<1x128x4xf32>", pair = "tensor<1x128x2xf32>", pixel = "tensor<1x128x1xf32>",
                    row = "tensor<1x128xf32>", wide = "tensor<1x256xf32>", weight = "tensor<256x128xf32>",
                    kernel = "tensor<128x128x3xf32>";
  auto conv = [&](const std::string &to, const std::string &x, const std::string &from,
                  const std::string &type) {
    return to + " = tk.conv " + x +
           ", %k {strides = array<i64: 2>, dilations = array<i64: 1>, pads_low = array<i64: 1>, "
           "pads_high = array<i64: 1>, group = 1 : i64} : (" +
           from + ", " + kernel + ") -> " + type + "\n";
  };
  auto slice = [&](const std::string &to, int from) {
    return to + " = tk.slice %s {starts = array<i64: 0, " + std::to_string(from) +
           ">, sizes = array<i64: 1, 128>, steps = array<i64: 1, 1>} : (" + wide + ") -> " + row + "\n";
  };
  auto product = [&](const std::string &to, const std::string &x, const std::string &w) {
    return to + " = tk.matmul " + x + ", " + w + " {transpose_rhs = true} : (" + row + ", " + weight +
           ") -> " + wide + "\n";
  };
  auto group = [](const std::string &to, const std::string &outside, const std::string &inside,
                  const std::string &body, const std::string &value, const std::string &operands,
                  const std::string &type) {
    return to + " = tk.fusion(" + outside + ") {\n^bb0(" + inside + "):\n" + body + "tk.yield " + value +
           " : " + type + "\n} : (" + operands + ") -> " + type + "\n";
  };
  const std::string cell = "%z = tk.reshape %c {shape = array<i64: 1, 128>} : (" + pixel + ") -> " + row +
                           "\n" + product("%xw", "%z", "%w") + product("%hu", "%h", "%u") +
                           "%s = tk.add %xw, %hu : (" + wide + ", " + wide + ") -> " + wide + "\n" +
                           slice("%a", 0) + slice("%b", 128) + "%t = tk.tanh %a : (" + row + ") -> " + row +
                           "\n%y = tk.mul %t, %b : (" + row + ", " + row + ") -> " + row + "\n";
  return "func.func @main(%x0: " + line + ", %h0: " + row + ") -> " + row +
         " {\n%k0 = tk.constant dense<0.01> : " + kernel + "\n%w0 = tk.constant dense<0.02> : " + weight +
         "\n%u0 = tk.constant dense<-0.03> : " + weight + "\n" +
         group("%p0", "%x0, %k0", "%x: " + line + ", %k: " + kernel, conv("%p", "%x", line, pair), "%p",
               line + ", " + kernel, pair) +
         group("%c0", "%p0, %k0", "%p: " + pair + ", %k: " + kernel, conv("%c", "%p", pair, pixel), "%c",
               pair + ", " + kernel, pixel) +
         group("%y0", "%c0, %h0, %w0, %u0",
               "%c: " + pixel + ", %h: " + row + ", %w: " + weight + ", %u: " + weight, cell, "%y",
               pixel + ", " + row + ", " + weight + ", " + weight, row) +
         "return %y0 : " + row + "\n}";
}

TEST(Layouts, ProductsWithGatesReadRows) {
  const std::string text = cellBehindConvolutions();
  for (const char *cpu : {"native", "x86-64-v3"})
    EXPECT_EQ(differenceFromReference({.text = text, .cpu = cpu}), "") << cpu;
  const std::string kernels = codeOf(text, llvm::cantFail(TargetDescription::forCpu("x86-64-v3")), "kernels");
  EXPECT_NE(kernels.find("vector.fma"), std::string::npos);
  EXPECT_EQ(kernels.find("masked.gather"), std::string::npos); // weights by element
}

} // namespace
