// Values are checked by ReassociateProductsTest.cpp.
// RUN: tokamak-opt %s --reassociate-products | FileCheck %s

// Down to one column and up again: 4 + 4 multiplications a row become 16, and stay.
// CHECK-LABEL: func.func @bottleneck
// CHECK-COUNT-2: tk.matmul
func.func @bottleneck(%x: tensor<2x4xi32>) -> tensor<2x4xi32> {
  %a = tk.constant dense<[[1], [2], [3], [4]]> : tensor<4x1xi32>
  %b = tk.constant dense<[[1, 2, 3, 4]]> : tensor<1x4xi32>
  %0 = tk.matmul %x, %a : (tensor<2x4xi32>, tensor<4x1xi32>) -> tensor<2x1xi32>
  %1 = tk.matmul %0, %b : (tensor<2x1xi32>, tensor<1x4xi32>) -> tensor<2x4xi32>
  return %1 : tensor<2x4xi32>
}

// CHECK-LABEL: func.func @cheaper
// CHECK: %[[C:.*]] = tk.constant dense<{{\[\[}}3], [7{{\]\]}}> : tensor<2x1xi32>
// CHECK-NEXT: tk.matmul %arg0, %[[C]]
// CHECK-NEXT: return
func.func @cheaper(%x: tensor<2x2xi32>) -> tensor<2x1xi32> {
  %a = tk.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %b = tk.constant dense<1> : tensor<2x1xi32>
  %0 = tk.matmul %x, %a : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  %1 = tk.matmul %0, %b : (tensor<2x2xi32>, tensor<2x1xi32>) -> tensor<2x1xi32>
  return %1 : tensor<2x1xi32>
}

// From the left: 4 x 4 after 4 x 4 becomes one.
// CHECK-LABEL: func.func @left
// CHECK-COUNT-1: tk.matmul
// CHECK-NOT: tk.matmul
// CHECK: return
func.func @left(%x: tensor<5x4x3xi32>) -> tensor<5x4x3xi32> {
  %a = tk.constant dense<3> : tensor<4x4xi32>
  %b = tk.constant dense<2> : tensor<4x4xi32>
  %0 = tk.matmul %b, %x : (tensor<4x4xi32>, tensor<5x4x3xi32>) -> tensor<5x4x3xi32>
  %1 = tk.matmul %a, %0 : (tensor<4x4xi32>, tensor<5x4x3xi32>) -> tensor<5x4x3xi32>
  return %1 : tensor<5x4x3xi32>
}

// inf * 1 + inf * -1 is NaN, inf * (1 - 1) too, but inf * (2 - 1) is not: only of what is never infinite.
// CHECK-LABEL: func.func @floats
// CHECK: tk.tanh
// CHECK-NEXT: tk.constant
// CHECK-NEXT: tk.matmul
// CHECK-NEXT: tk.matmul %arg0
// CHECK-NEXT: tk.matmul
// CHECK-NEXT: return
func.func @floats(%x: tensor<2x2xf32>) -> (tensor<2x1xf32>, tensor<2x1xf32>) {
  %a = tk.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = tk.constant dense<[[2.0], [-1.0]]> : tensor<2x1xf32>
  %t = tk.tanh %x : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %0 = tk.matmul %t, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = tk.matmul %0, %b : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  %2 = tk.matmul %x, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = tk.matmul %2, %b : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  return %1, %3 : tensor<2x1xf32>, tensor<2x1xf32>
}
