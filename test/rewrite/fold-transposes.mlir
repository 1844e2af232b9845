// RUN: tokamak-opt %s --fold-transposes | FileCheck %s

// CHECK-LABEL: func.func @both
// CHECK-NEXT: tk.matmul %arg0, %arg1 {transpose_lhs = true} : (tensor<2x5x3xf32>, tensor<2x5x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: return
func.func @both(%x: tensor<2x5x3xf32>, %y: tensor<2x5x4xf32>) -> tensor<2x3x4xf32> {
  %0 = tk.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<2x5x3xf32>) -> tensor<2x3x5xf32>
  %1 = tk.transpose %y {permutation = array<i64: 0, 2, 1>} : (tensor<2x5x4xf32>) -> tensor<2x4x5xf32>
  %2 = tk.matmul %0, %1 {transpose_rhs = true} : (tensor<2x3x5xf32>, tensor<2x4x5xf32>) -> tensor<2x3x4xf32>
  return %2 : tensor<2x3x4xf32>
}

// Others may read the transpose: the product does not.
// CHECK-LABEL: func.func @shared
// CHECK: tk.transpose
// CHECK: tk.matmul %arg0, %arg0 {transpose_rhs = true}
func.func @shared(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = tk.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = tk.matmul %x, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// A batch axis moves.
// CHECK-LABEL: func.func @batch_axis
// CHECK: tk.transpose
// CHECK: tk.matmul %arg0, %{{.*}} : (tensor<2x3x5xf32>, tensor<2x5x4xf32>)
func.func @batch_axis(%x: tensor<2x3x5xf32>, %y: tensor<4x2x5xf32>) -> tensor<2x3x4xf32> {
  %0 = tk.transpose %y {permutation = array<i64: 1, 2, 0>} : (tensor<4x2x5xf32>) -> tensor<2x5x4xf32>
  %1 = tk.matmul %x, %0 : (tensor<2x3x5xf32>, tensor<2x5x4xf32>) -> tensor<2x3x4xf32>
  return %1 : tensor<2x3x4xf32>
}
