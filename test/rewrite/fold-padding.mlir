// Values are checked by FoldPaddingTest.cpp; here is what folds and what does not.
// RUN: tokamak-opt %s --fold-padding --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// Pads add up, each side for itself.
// CHECK-LABEL: func.func @convolution
// CHECK: tk.conv %arg0, %{{.*}} {{.*}}pads_high = array<i64: 2, 1>, pads_low = array<i64: 1, 1>{{.*}} loc(fused["conv:Conv", "pad:Pad"])
// CHECK-NEXT: return
func.func @convolution(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x7x6xf32> {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %w = tk.constant dense<[[[[1.0]], [[0.0]]], [[[0.0]], [[3.0]]]]> : tensor<2x2x1x1xf32>
  %0 = tk.pad %x, %zero {low = array<i64: 0, 0, 0, 1>, high = array<i64: 0, 0, 1, 1>} : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x5x6xf32> loc("pad:Pad")
  %1 = tk.conv %0, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 0>, pads_high = array<i64: 1, 0>, group = 1 : i64} : (tensor<1x2x5x6xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x7x6xf32> loc("conv:Conv")
  return %1 : tensor<1x2x7x6xf32>
}

// Another value than zero, channels padded, weights that are an input or not finite, and what others read.
// CHECK-LABEL: func.func @convolutions_that_stay
// CHECK-COUNT-5: tk.pad
func.func @convolutions_that_stay(%x: tensor<1x2x4x4xf32>, %v: tensor<2x2x1x1xf32>) -> (tensor<1x2x6x6xf32>, tensor<1x2x4x4xf32>, tensor<1x2x6x6xf32>, tensor<1x2x6x6xf32>, tensor<1x2x6x6xf32>, tensor<1x2x6x6xf32>) {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %one = tk.constant dense<1.0> : tensor<f32>
  %w = tk.constant dense<[[[[1.0]], [[0.0]]], [[[0.0]], [[3.0]]]]> : tensor<2x2x1x1xf32>
  %i = tk.constant dense<0x7F800000> : tensor<2x2x1x1xf32>
  %0 = tk.pad %x, %one {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>} : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x6x6xf32>
  %1 = tk.conv %0, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x2x6x6xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x6x6xf32>
  %w3 = tk.constant dense<1.0> : tensor<2x3x1x1xf32>
  %2 = tk.pad %x, %zero {low = array<i64: 0, 1, 0, 0>, high = array<i64: 0, 0, 0, 0>} : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x3x4x4xf32>
  %3 = tk.conv %2, %w3 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x4x4xf32>
  %4 = tk.pad %x, %zero {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>} : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x6x6xf32>
  %5 = tk.conv %4, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x2x6x6xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x6x6xf32>
  %6 = tk.pad %x, %zero {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>} : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x6x6xf32>
  %7 = tk.conv %6, %i {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x2x6x6xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x6x6xf32>
  %8 = tk.pad %x, %zero {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>} : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x6x6xf32>
  %9 = tk.conv %8, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x2x6x6xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x6x6xf32>
  return %1, %3, %5, %7, %8, %9 : tensor<1x2x6x6xf32>, tensor<1x2x4x4xf32>, tensor<1x2x6x6xf32>, tensor<1x2x6x6xf32>, tensor<1x2x6x6xf32>, tensor<1x2x6x6xf32>
}

// Padding that a tensor can have and a convolution cannot.
// CHECK-LABEL: func.func @long_padding
// CHECK: tk.pad
func.func @long_padding(%x: tensor<1x1x4xf32>) -> tensor<1x1x2147483653xf32> {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %w = tk.constant dense<2.0> : tensor<1x1x1xf32>
  %0 = tk.pad %x, %zero {low = array<i64: 0, 0, 2147483647>, high = array<i64: 0, 0, 0>} : (tensor<1x1x4xf32>, tensor<f32>) -> tensor<1x1x2147483651xf32>
  %1 = tk.conv %0, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 1>, pads_high = array<i64: 1>, group = 1 : i64} : (tensor<1x1x2147483651xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2147483653xf32>
  return %1 : tensor<1x1x2147483653xf32>
}

// The pads of a transposed convolution crop its result.
// CHECK-LABEL: func.func @transposed
// CHECK: tk.pad
func.func @transposed(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x6x6xf32> {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %w = tk.constant dense<1.0> : tensor<2x2x1x1xf32>
  %0 = tk.pad %x, %zero {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>} : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x6x6xf32>
  %1 = tk.conv_transpose %0, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, output_padding = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x2x6x6xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x6x6xf32>
  return %1 : tensor<1x2x6x6xf32>
}

// A sum over zeros; a maximum over -inf, and over zeros of what is never negative.
// CHECK-LABEL: func.func @windows
// CHECK-NOT: tk.pad
func.func @windows(%x: tensor<1x2x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %low = tk.constant dense<0xFF800000> : tensor<f32>
  %0 = tk.pad %x, %zero {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>} : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x6x6xf32>
  %1 = tk.window %0 {kind = #tk.reduce_kind<sum>, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>} : (tensor<1x2x6x6xf32>) -> tensor<1x2x4x4xf32>
  %2 = tk.pad %x, %low {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>} : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x6x6xf32>
  %3 = tk.window %2 {kind = #tk.reduce_kind<max>, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>} : (tensor<1x2x6x6xf32>) -> tensor<1x2x4x4xf32>
  %4 = tk.max %x, %zero : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %5 = tk.pad %4, %zero {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>} : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x6x6xf32>
  %6 = tk.window %5 {kind = #tk.reduce_kind<max>, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>} : (tensor<1x2x6x6xf32>) -> tensor<1x2x4x4xf32>
  return %1, %3, %6 : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}

// A maximum over zeros of what may be negative; a window that sees nothing but padding; the wrong value.
// CHECK-LABEL: func.func @windows_that_stay
// CHECK-COUNT-3: tk.pad
func.func @windows_that_stay(%x: tensor<1x2x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x10x10xf32>, tensor<1x2x4x4xf32>) {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %one = tk.constant dense<1.0> : tensor<f32>
  %0 = tk.pad %x, %zero {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>} : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x6x6xf32>
  %1 = tk.window %0 {kind = #tk.reduce_kind<max>, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>} : (tensor<1x2x6x6xf32>) -> tensor<1x2x4x4xf32>
  %2 = tk.max %x, %zero : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %3 = tk.pad %2, %zero {low = array<i64: 0, 0, 4, 4>, high = array<i64: 0, 0, 4, 4>} : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x12x12xf32>
  %4 = tk.window %3 {kind = #tk.reduce_kind<max>, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>} : (tensor<1x2x12x12xf32>) -> tensor<1x2x10x10xf32>
  %5 = tk.pad %x, %one {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>} : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x6x6xf32>
  %6 = tk.window %5 {kind = #tk.reduce_kind<sum>, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>} : (tensor<1x2x6x6xf32>) -> tensor<1x2x4x4xf32>
  return %1, %4, %6 : tensor<1x2x4x4xf32>, tensor<1x2x10x10xf32>, tensor<1x2x4x4xf32>
}
