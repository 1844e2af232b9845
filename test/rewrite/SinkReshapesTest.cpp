//===- SinkReshapesTest.cpp - reshapes behind elementwise operators, by value -------------------===//
#include "PassTest.h"

using namespace tokamak;

namespace {
struct SinkReshapesTest : PassTest {};
} // namespace

TEST_F(SinkReshapesTest, ReadsTheSameElements) {
  rewrite(
      R"(func.func @main(%x: tensor<2x3x4xf32>, %m: tensor<6x5xf32>, %w: tensor<5x4xf32>, %s: tensor<1x1xf32>)
      -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>) {
    %bias = tk.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %residual = tk.neg %x : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %0 = tk.matmul %m, %w : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
    %1 = tk.reshape %0 {shape = array<i64: 2, 3, 4>} : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
    %2 = tk.sub %bias, %1 : (tensor<4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %3 = tk.compare %2, %residual {predicate = #tk.predicate<lt>} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xi1>
    %4 = tk.select %3, %2, %residual : (tensor<2x3x4xi1>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %5 = tk.matmul %m, %w : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
    %6 = tk.reshape %5 {shape = array<i64: 2, 3, 4>} : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
    %7 = tk.mul %6, %s : (tensor<2x3x4xf32>, tensor<1x1xf32>) -> tensor<2x3x4xf32>
    return %4, %7 : tensor<2x3x4xf32>, tensor<2x3x4xf32>
  })",
      {createSinkReshapesPass});
  expectEqualOnIntegers();
  expectClose(0);
  expectSameOnSpecialValues();
}
