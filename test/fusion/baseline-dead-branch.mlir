// A dead branch beside a live one is dropped and does not hinder fusion.
// RUN: tokamak-opt %s --pass-pipeline='builtin.module(tokamak-pipeline{fusion=dominator})' | FileCheck %s

// CHECK-LABEL: func.func @dead_linear
// CHECK-NEXT: %[[R:.*]] = tk.fusion "matmul_add"(%arg0, %arg1, %arg2)
// CHECK-NOT: tk.fusion
// CHECK: return %[[R]]
func.func @dead_linear(%x: tensor<2x8xf32>, %w: tensor<8x4xf32>, %b: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %d = tk.matmul %x, %w : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  %r = tk.max %d, %zero : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %m = tk.matmul %x, %w : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  %a = tk.add %m, %b : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %a : tensor<2x4xf32>
}
