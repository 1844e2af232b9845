// RUN: tokamak-opt %s --eliminate-dead-code | FileCheck %s

// Whole chains go, in regions too, control flow with them.
// CHECK-LABEL: func.func @dead
// CHECK-NEXT: %[[R:.*]] = tk.if %arg1
// CHECK-NEXT: tk.yield %arg0
// CHECK-NEXT: } else {
// CHECK-NEXT: %[[N:.*]] = tk.neg %arg0
// CHECK-NEXT: tk.yield %[[N]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]
func.func @dead(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %w = tk.constant dense<1.0> : tensor<4xf32>
  %0 = tk.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tk.add %0, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = tk.if %c {
    tk.yield %1 : tensor<4xf32>
  } else {
    tk.yield %x : tensor<4xf32>
  } : (tensor<i1>) -> tensor<4xf32>
  %3 = tk.if %c {
    %4 = tk.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
    tk.yield %x : tensor<4xf32>
  } else {
    %5 = tk.neg %x : (tensor<4xf32>) -> tensor<4xf32>
    tk.yield %5 : tensor<4xf32>
  } : (tensor<i1>) -> tensor<4xf32>
  %v, %i = tk.top_k %x {axis = 0 : i64, k = 2 : i64, largest = true, sorted = true} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi64>)
  return %3 : tensor<4xf32>
}
