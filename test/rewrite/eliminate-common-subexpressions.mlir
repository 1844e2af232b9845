// RUN: tokamak-opt %s --eliminate-common-subexpressions --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// Equal operators become one, which keeps the names of both nodes; operands of commutative ones may be swapped only
// where they are the same values.
// CHECK-LABEL: func.func @equal
// CHECK: %[[E:.*]] = tk.exp %arg0 {{.*}} loc(fused["first:Exp", "second:Exp"])
// CHECK-NEXT: tk.neg %arg0
// CHECK-NEXT: tk.add %[[E]], %[[E]]
func.func @equal(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = tk.exp %x : (tensor<4xf32>) -> tensor<4xf32> loc("first:Exp")
  %1 = tk.exp %x : (tensor<4xf32>) -> tensor<4xf32> loc("second:Exp")
  %2 = tk.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %3 = tk.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3, %2 : tensor<4xf32>, tensor<4xf32>
}

// Other attributes, other operators.
// CHECK-LABEL: func.func @attributes
// CHECK: tk.transpose
// CHECK: tk.transpose
func.func @attributes(%x: tensor<4x4x4xf32>) -> (tensor<4x4x4xf32>, tensor<4x4x4xf32>) {
  %0 = tk.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<4x4x4xf32>) -> tensor<4x4x4xf32>
  %1 = tk.transpose %x {permutation = array<i64: 2, 1, 0>} : (tensor<4x4x4xf32>) -> tensor<4x4x4xf32>
  return %0, %1 : tensor<4x4x4xf32>, tensor<4x4x4xf32>
}

// Constants of one value but of two types, and zeros of two signs, stay apart.
// CHECK-LABEL: func.func @constants
// CHECK-COUNT-4: tk.constant
func.func @constants() -> (tensor<f32>, tensor<1xf32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %0 = tk.constant dense<1.0> : tensor<f32>
  %1 = tk.constant dense<1.0> : tensor<1xf32>
  %2 = tk.constant dense<0.0> : tensor<f32>
  %3 = tk.constant dense<-0.0> : tensor<f32>
  %4 = tk.constant dense<1.0> : tensor<f32>
  return %0, %1, %2, %3, %4 : tensor<f32>, tensor<1xf32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// A region knows what is outside of it; the branches of an if do not know each other.
// CHECK-LABEL: func.func @regions
// CHECK: %[[E:.*]] = tk.exp
// CHECK: tk.if
// CHECK-NEXT: %[[N:.*]] = tk.neg %[[E]]
// CHECK-NEXT: tk.yield %[[N]]
// CHECK: else
// CHECK-NEXT: %[[M:.*]] = tk.neg %[[E]]
// CHECK-NEXT: tk.yield %[[M]]
func.func @regions(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %0 = tk.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tk.if %c {
    %2 = tk.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    %3 = tk.neg %2 : (tensor<4xf32>) -> tensor<4xf32>
    tk.yield %3 : tensor<4xf32>
  } else {
    %3 = tk.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
    tk.yield %3 : tensor<4xf32>
  } : (tensor<i1>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Composites are equal if their bodies are.
// CHECK-LABEL: func.func @composites
// CHECK: %[[A:.*]] = tk.composite "Relu"
// CHECK: %[[B:.*]] = tk.composite "Relu"
// CHECK-NOT: tk.composite
// CHECK: return %[[A]], %[[A]], %[[B]]
func.func @composites(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = tk.composite "Relu"(%x) {
  ^bb0(%i: tensor<4xf32>):
    %zero = tk.constant dense<0.0> : tensor<f32>
    %m = tk.max %i, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    tk.yield %m : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tk.composite "Relu"(%x) {
  ^bb0(%i: tensor<4xf32>):
    %zero = tk.constant dense<0.0> : tensor<f32>
    %m = tk.max %i, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    tk.yield %m : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tk.composite "Relu"(%x) {
  ^bb0(%i: tensor<4xf32>):
    %zero = tk.constant dense<0.0> : tensor<f32>
    %m = tk.min %i, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    tk.yield %m : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
