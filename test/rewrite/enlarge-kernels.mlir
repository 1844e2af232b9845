// A centred kernel gets the extents of its sibling's. Values are checked by CostedRewriteTest.cpp.
// RUN: tokamak-opt %s --enlarge-kernels --fold-constants --eliminate-dead-code | FileCheck %s

// CHECK-LABEL: func.func @one_by_one
// CHECK-DAG: %[[W:.*]] = tk.constant dense<{{\[\[\[\[}}0.0{{[^,]*}}, 0.0{{[^,]*}}, 0.0{{[^,]*}}], [0.0{{[^,]*}}, 2.0{{[^,]*}}, 0.0{{[^,]*}}], [0.0{{[^,]*}}, 0.0{{[^,]*}}, 0.0{{[^,]*}}]]]]> : tensor<1x1x3x3xf32>
// CHECK: tk.conv %arg0, %[[W]], %{{.*}} {dilations = array<i64: 1, 1>, group = 1 : i64, pads_high = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x1x6x6xf32>, tensor<1x1x3x3xf32>, tensor<1xf32>)
func.func @one_by_one(%x: tensor<1x1x6x6xf32>) -> (tensor<1x1x6x6xf32>, tensor<1x1x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<1x1x1x1xf32>
  %b = tk.constant dense<1.0> : tensor<1xf32>
  %wb = tk.constant dense<3.0> : tensor<1x1x3x3xf32>
  %0 = tk.conv %x, %wa, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x1x6x6xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>) -> tensor<1x1x6x6xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x1x6x6xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x6x6xf32>
  return %0, %1 : tensor<1x1x6x6xf32>, tensor<1x1x6x6xf32>
}

// A dilated sibling: its taps are further apart, the middle one stays.
// CHECK-LABEL: func.func @dilated_sibling
// CHECK-COUNT-2: pads_low = array<i64: 2, 2>
func.func @dilated_sibling(%x: tensor<1x4x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x4x1x1xf32>
  %wb = tk.constant dense<3.0> : tensor<8x4x3x3xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x6x6xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 2, 2>, pads_low = array<i64: 2, 2>, pads_high = array<i64: 2, 2>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32>
  return %0, %1 : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}

// Never: an even kernel has no centre.
// CHECK-LABEL: func.func @even_sibling
// CHECK: tensor<8x4x1x1xf32>) ->
func.func @even_sibling(%x: tensor<1x4x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x4x1x1xf32>
  %wb = tk.constant dense<3.0> : tensor<8x4x2x2xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x6x6xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x2x2xf32>) -> tensor<1x8x6x6xf32>
  return %0, %1 : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}

// Never: nor has the smaller one.
// CHECK-LABEL: func.func @even_kernel
// CHECK: tensor<8x4x2x2xf32>) ->
func.func @even_kernel(%x: tensor<1x4x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x4x2x2xf32>
  %wb = tk.constant dense<3.0> : tensor<8x4x3x3xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x2x2xf32>) -> tensor<1x8x6x6xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32>
  return %0, %1 : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}

// Never: strides.
// CHECK-LABEL: func.func @strided
// CHECK: tensor<8x4x1x1xf32>) ->
func.func @strided(%x: tensor<1x4x6x6xf32>) -> (tensor<1x8x3x3xf32>, tensor<1x8x3x3xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x4x1x1xf32>
  %wb = tk.constant dense<3.0> : tensor<8x4x3x3xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x3x3xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x3x3xf32>
  return %0, %1 : tensor<1x8x3x3xf32>, tensor<1x8x3x3xf32>
}

// Never: padding that puts the centre elsewhere.
// CHECK-LABEL: func.func @off_centre
// CHECK: tensor<8x4x1x1xf32>) ->
func.func @off_centre(%x: tensor<1x4x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x4x1x1xf32>
  %wb = tk.constant dense<3.0> : tensor<8x4x3x3xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x6x6xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 2, 2>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32>
  return %0, %1 : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}

// Never: a 1x1 kernel with a border.
// CHECK-LABEL: func.func @padded
// CHECK: tensor<8x4x1x1xf32>) ->
func.func @padded(%x: tensor<1x4x6x6xf32>) -> (tensor<1x8x8x8xf32>, tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x4x1x1xf32>
  %wb = tk.constant dense<3.0> : tensor<8x4x3x3xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x8x8xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32>
  return %0, %1 : tensor<1x8x8x8xf32>, tensor<1x8x6x6xf32>
}

// Never: a sibling without padding.
// CHECK-LABEL: func.func @valid_sibling
// CHECK: tensor<8x4x1x1xf32>) ->
func.func @valid_sibling(%x: tensor<1x4x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x4x4xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x4x1x1xf32>
  %wb = tk.constant dense<3.0> : tensor<8x4x3x3xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x6x6xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x4x4xf32>
  return %0, %1 : tensor<1x8x6x6xf32>, tensor<1x8x4x4xf32>
}

// Never: groups.
// CHECK-LABEL: func.func @grouped_sibling
// CHECK: tensor<8x4x1x1xf32>) ->
func.func @grouped_sibling(%x: tensor<1x4x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x4x1x1xf32>
  %wb = tk.constant dense<3.0> : tensor<8x2x3x3xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x6x6xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 2 : i64} : (tensor<1x4x6x6xf32>, tensor<8x2x3x3xf32>) -> tensor<1x8x6x6xf32>
  return %0, %1 : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}

// Never: nor has one whose padding is the same on both sides.
// CHECK-LABEL: func.func @even_sibling_padded_evenly
// CHECK: tensor<8x4x1x1xf32>) ->
func.func @even_sibling_padded_evenly(%x: tensor<1x4x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x7x7xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x4x1x1xf32>
  %wb = tk.constant dense<3.0> : tensor<8x4x2x2xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x6x6xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x2x2xf32>) -> tensor<1x8x7x7xf32>
  return %0, %1 : tensor<1x8x6x6xf32>, tensor<1x8x7x7xf32>
}

// Never: a low border alone; the taps would lie beside their places.
// CHECK-LABEL: func.func @padded_below
// CHECK: tensor<8x4x1x1xf32>) ->
func.func @padded_below(%x: tensor<1x4x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x5x5xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x4x1x1xf32>
  %wb = tk.constant dense<3.0> : tensor<8x4x3x3xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x6x6xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x5x5xf32>
  return %0, %1 : tensor<1x8x6x6xf32>, tensor<1x8x5x5xf32>
}

// Never: taps that lie at other distances than the sibling's.
// CHECK-LABEL: func.func @other_dilation
// CHECK: tensor<8x4x3x3xf32>) ->
// CHECK: tensor<8x4x5x5xf32>) ->
func.func @other_dilation(%x: tensor<1x4x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x4x3x3xf32>
  %wb = tk.constant dense<3.0> : tensor<8x4x5x5xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 2, 2>, pads_low = array<i64: 2, 2>, pads_high = array<i64: 2, 2>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 2, 2>, pads_high = array<i64: 2, 2>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x5x5xf32>) -> tensor<1x8x6x6xf32>
  return %0, %1 : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}
