// RUN: tokamak-opt %s --sink-transposes | FileCheck %s

// Channels last: the bias runs along the last axis there, along axis 1 at the convolution.
// CHECK-LABEL: func.func @channels_last
// CHECK: %[[C:.*]] = tk.conv
// CHECK-NEXT: %[[T:.*]] = tk.constant dense<{{\[\[\[\[}}1.0{{.*}}]], {{\[\[}}2.0{{.*}}]]]]> : tensor<1x2x1x1xf32>
// CHECK-NEXT: %[[A:.*]] = tk.add %[[C]], %[[T]]
// CHECK-NEXT: tk.constant dense<0.0
// CHECK-NEXT: %[[R:.*]] = tk.max %[[A]]
// CHECK-NEXT: return %[[R]]
func.func @channels_last(%x: tensor<1x2x4x5xf32>) -> tensor<1x2x4x5xf32> {
  %w = tk.constant dense<1.0> : tensor<2x2x1x1xf32>
  %bias = tk.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %zero = tk.constant dense<0.0> : tensor<f32>
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x2x4x5xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x5xf32>
  %1 = tk.transpose %0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x2x4x5xf32>) -> tensor<1x4x5x2xf32>
  %2 = tk.add %1, %bias : (tensor<1x4x5x2xf32>, tensor<2xf32>) -> tensor<1x4x5x2xf32>
  %3 = tk.max %2, %zero : (tensor<1x4x5x2xf32>, tensor<f32>) -> tensor<1x4x5x2xf32>
  %4 = tk.transpose %3 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x5x2xf32>) -> tensor<1x2x4x5xf32>
  return %4 : tensor<1x2x4x5xf32>
}

// A sum of two, transposed alike.
// CHECK-LABEL: func.func @sum
// CHECK-NEXT: %[[A:.*]] = tk.add %arg0, %arg1
// CHECK-NEXT: return %[[A]]
func.func @sum(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = tk.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = tk.transpose %y {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = tk.add %0, %1 : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %3 = tk.transpose %2 {permutation = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  return %3 : tensor<2x3xf32>
}

// No transpose follows; another value is not transposed; the transposed value has another reader.
// CHECK-LABEL: func.func @stay
// CHECK-NEXT: %[[A:.*]] = tk.transpose %arg0
// CHECK-NEXT: tk.exp %[[A]]
// CHECK-NEXT: %[[B:.*]] = tk.transpose %arg0
// CHECK-NEXT: tk.add %[[B]]
// CHECK-NEXT: tk.transpose
// CHECK-NEXT: %[[C:.*]] = tk.transpose %arg0
// CHECK-NEXT: tk.neg %[[C]]
// CHECK-NEXT: tk.transpose
func.func @stay(%x: tensor<2x3xf32>, %y: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x3xf32>) {
  %0 = tk.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = tk.exp %0 : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %2 = tk.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %3 = tk.add %2, %y : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %4 = tk.transpose %3 {permutation = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %5 = tk.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %6 = tk.neg %5 : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %7 = tk.transpose %6 {permutation = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  return %1, %4, %5, %7 : tensor<3x2xf32>, tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x3xf32>
}

// -----

// Never: a composite, whose body is written for its shapes.
// CHECK-LABEL: func.func @composite
// CHECK: tk.transpose
// CHECK: tk.composite
// CHECK: tk.transpose
// CHECK: return
func.func @composite(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %n = tk.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %c = tk.composite "Abs"(%n) {
  ^bb0(%a: tensor<3x2xf32>):
    %b = tk.abs %a : (tensor<3x2xf32>) -> tensor<3x2xf32>
    tk.yield %b : tensor<3x2xf32>
  } : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %t = tk.transpose %c {permutation = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  return %t : tensor<2x3xf32>
}
