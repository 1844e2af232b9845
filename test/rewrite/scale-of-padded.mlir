// A scale between padding and its convolution, or before both, goes into the weights, and the padding into the
// convolution.
// RUN: tokamak-opt %s --pass-pipeline='builtin.module(tokamak-pipeline{fusion=full})' | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-NOT: tk.pad
// CHECK-NOT: tk.mul
// CHECK: tk.conv {{.*}}pads_high = array<i64: 1, 1>, pads_low = array<i64: 1, 1>
// CHECK-NOT: tk.mul
// CHECK: return
func.func @main(%x: tensor<1x2x6x6xf32>) -> tensor<1x3x6x6xf32> {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %c = tk.constant dense<[[[2.0]], [[0.5]]]> : tensor<2x1x1xf32>
  %w = tk.constant dense<0.25> : tensor<3x2x3x3xf32>
  %p = tk.pad %x, %zero {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>} : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x8x8xf32>
  %m = tk.mul %p, %c : (tensor<1x2x8x8xf32>, tensor<2x1x1xf32>) -> tensor<1x2x8x8xf32>
  %y = tk.conv %m, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x2x8x8xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x6x6xf32>
  return %y : tensor<1x3x6x6xf32>
}

// CHECK-LABEL: func.func @before
// CHECK-NOT: tk.pad
// CHECK-NOT: tk.mul
// CHECK: tk.conv {{.*}}pads_high = array<i64: 1, 1>, pads_low = array<i64: 1, 1>
// CHECK-NOT: tk.mul
// CHECK: return
func.func @before(%x: tensor<1x2x6x6xf32>) -> tensor<1x3x6x6xf32> {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %c = tk.constant dense<[[[2.0]], [[0.5]]]> : tensor<2x1x1xf32>
  %w = tk.constant dense<0.25> : tensor<3x2x3x3xf32>
  %m = tk.mul %x, %c : (tensor<1x2x6x6xf32>, tensor<2x1x1xf32>) -> tensor<1x2x6x6xf32>
  %p = tk.pad %m, %zero {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>} : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x8x8xf32>
  %y = tk.conv %p, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x2x8x8xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x6x6xf32>
  return %y : tensor<1x3x6x6xf32>
}

// Never: a shift before padding is not what the border has.
// CHECK-LABEL: func.func @shift_before
// CHECK: tk.add
// CHECK: tk.conv {{.*}}pads_high = array<i64: 1, 1>, pads_low = array<i64: 1, 1>
func.func @shift_before(%x: tensor<1x2x6x6xf32>) -> tensor<1x3x6x6xf32> {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %c = tk.constant dense<[[[2.0]], [[0.5]]]> : tensor<2x1x1xf32>
  %w = tk.constant dense<0.25> : tensor<3x2x3x3xf32>
  %a = tk.add %x, %c : (tensor<1x2x6x6xf32>, tensor<2x1x1xf32>) -> tensor<1x2x6x6xf32>
  %p = tk.pad %a, %zero {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>} : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x8x8xf32>
  %y = tk.conv %p, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x2x8x8xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x6x6xf32>
  return %y : tensor<1x3x6x6xf32>
}
