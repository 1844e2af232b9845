//===- BoundsTest.cpp - no access reaches beyond its buffer ----------------------------------------===//
// Every buffer ends, or begins, at a guard page.
#include "ProgramHarness.h"
#include "gtest/gtest.h"

using namespace tokamak;
using namespace tokamak::test;

namespace {

void expectSame(const std::string &text) {
  for (const char *cpu : {"native", "x86-64-v3"})
    for (FusionMode fusion : {FusionMode::None, FusionMode::Full})
      EXPECT_EQ(differenceFromReference({.text = text, .exact = true, .cpu = cpu, .fusion = fusion}), "")
          << cpu << ", fusion " << static_cast<int>(fusion) << "\n"
          << text;
}

TEST(Bounds, LanesOfSeveralRegistersUnderTheMaskOfARow) {
  // Indices of 64 bits: without mask registers eight lanes are two registers, and the second has none of the
  // three columns.
  expectSame(R"(
    func.func @main(%x: tensor<12x33xi32>, %i: tensor<12x3xi64>, %c: tensor<i32>) -> tensor<27x7xi32> {
      %g = tk.gather_elements %x, %i {axis = 1 : i64} : (tensor<12x33xi32>, tensor<12x3xi64>) -> tensor<12x3xi32>
      %p = tk.pad %g, %c {low = array<i64: 0, 0>, high = array<i64: 15, 4>} : (tensor<12x3xi32>, tensor<i32>) -> tensor<27x7xi32>
      return %p : tensor<27x7xi32>
    })");
  expectSame(R"(
    func.func @main(%x: tensor<12x3xf64>, %c: tensor<f64>) -> tensor<27x7xf64> {
      %n = tk.neg %x : (tensor<12x3xf64>) -> tensor<12x3xf64>
      %p = tk.pad %n, %c {low = array<i64: 2, 0>, high = array<i64: 13, 4>} : (tensor<12x3xf64>, tensor<f64>) -> tensor<27x7xf64>
      return %p : tensor<27x7xf64>
    })");
}

} // namespace
