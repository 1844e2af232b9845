// Values are checked by TransposedToPointwiseTest.cpp; here is what is rewritten and what is not.
// RUN: tokamak-opt %s --transposed-to-pointwise | FileCheck %s

// CHECK-LABEL: func.func @one_channel
// CHECK: %[[T:.*]] = tk.transpose %arg1 {permutation = array<i64: 1, 2, 3, 0>} : (tensor<24x1x2x2xf32>) -> tensor<1x2x2x24xf32>
// CHECK: %[[W:.*]] = tk.reshape %[[T]] {{.*}} -> tensor<4x24x1x1xf32>
// CHECK: %[[B:.*]] = tk.broadcast {{.*}} -> tensor<1x4xf32>
// CHECK: %[[C:.*]] = tk.reshape %[[B]] {{.*}} -> tensor<4xf32>
// CHECK: %[[R:.*]] = tk.conv %arg0, %[[W]], %[[C]] {{.*}} -> tensor<2x4x5x7xf32>
// CHECK: %[[A:.*]] = tk.reshape %[[R]] {{.*}} -> tensor<2x1x2x2x5x7xf32>
// CHECK: %[[S:.*]] = tk.transpose %[[A]] {permutation = array<i64: 0, 1, 4, 2, 5, 3>}
// CHECK: tk.reshape %[[S]] {{.*}} -> tensor<2x1x10x14xf32>
// CHECK-NOT: conv_transpose
func.func @one_channel(%x: tensor<2x24x5x7xf32>, %w: tensor<24x1x2x2xf32>, %b: tensor<1xf32>) -> tensor<2x1x10x14xf32> {
  %y = tk.conv_transpose %x, %w, %b {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, output_padding = array<i64: 0, 0>, group = 1 : i64} : (tensor<2x24x5x7xf32>, tensor<24x1x2x2xf32>, tensor<1xf32>) -> tensor<2x1x10x14xf32>
  return %y : tensor<2x1x10x14xf32>
}

// CHECK-LABEL: func.func @one_axis
// CHECK: tk.conv {{.*}} -> tensor<1x6x9xf32>
// CHECK-NOT: conv_transpose
func.func @one_axis(%x: tensor<1x8x9xf32>, %w: tensor<8x2x3xf32>) -> tensor<1x2x27xf32> {
  %y = tk.conv_transpose %x, %w {strides = array<i64: 3>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, output_padding = array<i64: 0>, group = 1 : i64} : (tensor<1x8x9xf32>, tensor<8x2x3xf32>) -> tensor<1x2x27xf32>
  return %y : tensor<1x2x27xf32>
}

// Taps that overlap, gaps between them, results that are cut off or added, groups, many channels, one tap.
// CHECK-LABEL: func.func @stays
// CHECK-COUNT-8: tk.conv_transpose
// CHECK-NOT: tk.conv {{.*}}
func.func @stays(%x: tensor<1x8x9xf32>, %two: tensor<8x1x2xf32>, %three: tensor<8x1x3xf32>, %groups: tensor<8x1x2xf32>, %many: tensor<8x5x2xf32>, %one: tensor<8x1x1xf32>) -> (tensor<1x1x19xf32>, tensor<1x1x26xf32>, tensor<1x1x17xf32>, tensor<1x1x17xf32>, tensor<1x1x19xf32>, tensor<1x2x18xf32>, tensor<1x5x18xf32>, tensor<1x1x9xf32>) {
  %0 = tk.conv_transpose %x, %three {strides = array<i64: 2>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, output_padding = array<i64: 0>, group = 1 : i64} : (tensor<1x8x9xf32>, tensor<8x1x3xf32>) -> tensor<1x1x19xf32>
  %1 = tk.conv_transpose %x, %two {strides = array<i64: 3>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, output_padding = array<i64: 0>, group = 1 : i64} : (tensor<1x8x9xf32>, tensor<8x1x2xf32>) -> tensor<1x1x26xf32>
  %2 = tk.conv_transpose %x, %two {strides = array<i64: 2>, dilations = array<i64: 1>, pads_low = array<i64: 1>, pads_high = array<i64: 0>, output_padding = array<i64: 0>, group = 1 : i64} : (tensor<1x8x9xf32>, tensor<8x1x2xf32>) -> tensor<1x1x17xf32>
  %3 = tk.conv_transpose %x, %two {strides = array<i64: 2>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 1>, output_padding = array<i64: 0>, group = 1 : i64} : (tensor<1x8x9xf32>, tensor<8x1x2xf32>) -> tensor<1x1x17xf32>
  %4 = tk.conv_transpose %x, %two {strides = array<i64: 2>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, output_padding = array<i64: 1>, group = 1 : i64} : (tensor<1x8x9xf32>, tensor<8x1x2xf32>) -> tensor<1x1x19xf32>
  %5 = tk.conv_transpose %x, %groups {strides = array<i64: 2>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, output_padding = array<i64: 0>, group = 2 : i64} : (tensor<1x8x9xf32>, tensor<8x1x2xf32>) -> tensor<1x2x18xf32>
  %6 = tk.conv_transpose %x, %many {strides = array<i64: 2>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, output_padding = array<i64: 0>, group = 1 : i64} : (tensor<1x8x9xf32>, tensor<8x5x2xf32>) -> tensor<1x5x18xf32>
  %7 = tk.conv_transpose %x, %one {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, output_padding = array<i64: 0>, group = 1 : i64} : (tensor<1x8x9xf32>, tensor<8x1x1xf32>) -> tensor<1x1x9xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<1x1x19xf32>, tensor<1x1x26xf32>, tensor<1x1x17xf32>, tensor<1x1x17xf32>, tensor<1x1x19xf32>, tensor<1x2x18xf32>, tensor<1x5x18xf32>, tensor<1x1x9xf32>
}
