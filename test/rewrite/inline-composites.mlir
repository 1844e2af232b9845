// RUN: tokamak-opt %s --inline-composites --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// Each operator carries the name of the node.
// CHECK-LABEL: func.func @elementwise
// CHECK-NEXT: %[[C:.*]] = tk.constant
// CHECK-NEXT: %[[N:.*]] = tk.min %arg0, %[[C]] {{.*}} loc("clip:Clip")
// CHECK-NEXT: %[[M:.*]] = tk.max %[[N]], %[[C]] {{.*}} loc("clip:Clip")
// CHECK-NEXT: return %[[M]], %[[N]]
func.func @elementwise(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0:2 = tk.composite "Clip"(%x) {
  ^bb0(%i: tensor<8xf32>):
    %c = tk.constant dense<0.0> : tensor<f32>
    %1 = tk.min %i, %c : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %2 = tk.max %1, %c : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    tk.yield %2, %1 : tensor<8xf32>, tensor<8xf32>
  } : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) loc("clip:Clip")
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @gemm
// CHECK-NOT: tk.composite
// CHECK: tk.matmul
// CHECK: tk.add
func.func @gemm(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>, %b: tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = tk.composite "Gemm"(%x, %w, %b) {
  ^bb0(%i: tensor<2x3xf32>, %j: tensor<3x4xf32>, %k: tensor<4xf32>):
    %1 = tk.matmul %i, %j : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %2 = tk.add %1, %k : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    tk.yield %2 : tensor<2x4xf32>
  } : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// What reduces stays whole.
// CHECK-LABEL: func.func @mean
// CHECK: tk.composite "ReduceMean"
func.func @mean(%x: tensor<2x4xf32>) -> tensor<2x1xf32> {
  %0 = tk.composite "ReduceMean"(%x) {
  ^bb0(%i: tensor<2x4xf32>):
    %c = tk.constant dense<0.25> : tensor<f32>
    %1 = tk.reduce %i {axes = array<i64: 1>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (tensor<2x4xf32>) -> tensor<2x1xf32>
    %2 = tk.mul %1, %c : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
    tk.yield %2 : tensor<2x1xf32>
  } : (tensor<2x4xf32>) -> tensor<2x1xf32>
  return %0 : tensor<2x1xf32>
}

// A function: nothing in it could be rewritten.
// CHECK-LABEL: func.func @function
// CHECK: tk.composite "Softsign"
func.func @function(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = tk.composite "Softsign"(%x) {
  ^bb0(%i: tensor<8xf32>):
    %c = tk.constant dense<1.0> : tensor<f32>
    %1 = tk.abs %i : (tensor<8xf32>) -> tensor<8xf32>
    %2 = tk.add %1, %c : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %3 = tk.div %i, %2 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    tk.yield %3 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
