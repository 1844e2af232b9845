// What is added to a convolution of the other half of a split becomes an identity convolution. Values are checked by
// CostedRewriteTest.cpp.
// RUN: tokamak-opt %s --residual-to-convolution --fold-constants --eliminate-dead-code | FileCheck %s

// CHECK-LABEL: func.func @split_conv_add
// CHECK-DAG: %[[I:.*]] = tk.constant {{.*}} : tensor<4x4x3x3xf32>
// CHECK-DAG: %[[A:.*]] = tk.slice %arg0 {{.*}}starts = array<i64: 0, 0, 0, 0>
// CHECK-DAG: %[[B:.*]] = tk.slice %arg0 {{.*}}starts = array<i64: 0, 4, 0, 0>
// CHECK-DAG: %[[C:.*]] = tk.conv %[[B]]
// CHECK-DAG: %[[D:.*]] = tk.conv %[[A]], %{{.*}} {dilations = array<i64: 1, 1>, group = 1 : i64, pads_high = array<i64: 1, 1>
// CHECK: tk.add %[[C]], %[[D]]
func.func @split_conv_add(%s: tensor<1x8x6x6xf32>) -> (tensor<1x4x6x6xf32>) {
  %a = tk.slice %s {starts = array<i64: 0, 0, 0, 0>, sizes = array<i64: 1, 4, 6, 6>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x8x6x6xf32>) -> tensor<1x4x6x6xf32>
  %b = tk.slice %s {starts = array<i64: 0, 4, 0, 0>, sizes = array<i64: 1, 4, 6, 6>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x8x6x6xf32>) -> tensor<1x4x6x6xf32>
  %w = tk.constant dense<2.0> : tensor<4x4x3x3xf32>
  %0 = tk.conv %b, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  %1 = tk.add %a, %0 : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  return %1 : tensor<1x4x6x6xf32>
}

// Never: a kernel whose middle lies elsewhere.
// CHECK-LABEL: func.func @off_centre
// CHECK-COUNT-1: tk.conv
// CHECK-NOT: tk.conv
// CHECK: return
func.func @off_centre(%s: tensor<1x8x6x6xf32>) -> (tensor<1x4x6x6xf32>) {
  %a = tk.slice %s {starts = array<i64: 0, 0, 0, 0>, sizes = array<i64: 1, 4, 6, 6>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x8x6x6xf32>) -> tensor<1x4x6x6xf32>
  %b = tk.slice %s {starts = array<i64: 0, 4, 0, 0>, sizes = array<i64: 1, 4, 6, 6>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x8x6x6xf32>) -> tensor<1x4x6x6xf32>
  %w = tk.constant dense<2.0> : tensor<4x4x3x3xf32>
  %0 = tk.conv %b, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 2, 2>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  %1 = tk.add %a, %0 : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  return %1 : tensor<1x4x6x6xf32>
}

// Never: an even kernel.
// CHECK-LABEL: func.func @even_kernel
// CHECK-COUNT-1: tk.conv
// CHECK-NOT: tk.conv
// CHECK: return
func.func @even_kernel(%s: tensor<1x8x6x6xf32>) -> (tensor<1x4x6x6xf32>) {
  %a = tk.slice %s {starts = array<i64: 0, 0, 0, 0>, sizes = array<i64: 1, 4, 6, 6>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x8x6x6xf32>) -> tensor<1x4x6x6xf32>
  %b = tk.slice %s {starts = array<i64: 0, 4, 0, 0>, sizes = array<i64: 1, 4, 6, 6>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x8x6x6xf32>) -> tensor<1x4x6x6xf32>
  %w = tk.constant dense<2.0> : tensor<4x4x2x2xf32>
  %0 = tk.conv %b, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<4x4x2x2xf32>) -> tensor<1x4x6x6xf32>
  %1 = tk.add %a, %0 : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  return %1 : tensor<1x4x6x6xf32>
}

// Never: groups.
// CHECK-LABEL: func.func @grouped
// CHECK-COUNT-1: tk.conv
// CHECK-NOT: tk.conv
// CHECK: return
func.func @grouped(%s: tensor<1x8x6x6xf32>) -> (tensor<1x4x6x6xf32>) {
  %a = tk.slice %s {starts = array<i64: 0, 0, 0, 0>, sizes = array<i64: 1, 4, 6, 6>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x8x6x6xf32>) -> tensor<1x4x6x6xf32>
  %b = tk.slice %s {starts = array<i64: 0, 4, 0, 0>, sizes = array<i64: 1, 4, 6, 6>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x8x6x6xf32>) -> tensor<1x4x6x6xf32>
  %w = tk.constant dense<2.0> : tensor<4x2x3x3xf32>
  %0 = tk.conv %b, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 2 : i64} : (tensor<1x4x6x6xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x6x6xf32>
  %1 = tk.add %a, %0 : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  return %1 : tensor<1x4x6x6xf32>
}

// Never: a convolution whose own value is needed.
// CHECK-LABEL: func.func @visible_convolution
// CHECK-COUNT-1: tk.conv
// CHECK-NOT: tk.conv
// CHECK: return
func.func @visible_convolution(%s: tensor<1x8x6x6xf32>) -> (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) {
  %a = tk.slice %s {starts = array<i64: 0, 0, 0, 0>, sizes = array<i64: 1, 4, 6, 6>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x8x6x6xf32>) -> tensor<1x4x6x6xf32>
  %b = tk.slice %s {starts = array<i64: 0, 4, 0, 0>, sizes = array<i64: 1, 4, 6, 6>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x8x6x6xf32>) -> tensor<1x4x6x6xf32>
  %w = tk.constant dense<2.0> : tensor<4x4x3x3xf32>
  %0 = tk.conv %b, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  %1 = tk.add %a, %0 : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  return %0, %1 : tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>
}

// Never: an addend that is no part of what the convolution reads.
// CHECK-LABEL: func.func @another_value
// CHECK-COUNT-1: tk.conv
// CHECK-NOT: tk.conv
// CHECK: return
func.func @another_value(%s: tensor<1x8x6x6xf32>, %a: tensor<1x4x6x6xf32>) -> (tensor<1x4x6x6xf32>) {
  %b = tk.slice %s {starts = array<i64: 0, 4, 0, 0>, sizes = array<i64: 1, 4, 6, 6>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x8x6x6xf32>) -> tensor<1x4x6x6xf32>
  %w = tk.constant dense<2.0> : tensor<4x4x3x3xf32>
  %0 = tk.conv %b, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x6x6xf32>
  %1 = tk.add %a, %0 : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  return %1 : tensor<1x4x6x6xf32>
}
