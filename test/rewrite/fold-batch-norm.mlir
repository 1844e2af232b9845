// Values are checked by BatchNormTest.cpp; here is what folds and what does not.
// RUN: tokamak-opt %s --fold-batch-norm --eliminate-dead-code --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// scale = 2 / sqrt(4) = 1 and -3 / sqrt(1) = -3, shift = 1 - 1 * 1 = 0 and 2 - (-1) * -3 = -1. A convolution without a
// bias gets one; the merged operator carries both names.
// CHECK-LABEL: func.func @no_bias
// CHECK-DAG: %[[W:.*]] = tk.constant dense<{{\[\[\[\[}}2.0{{.*}}-9.0{{.*}} : tensor<2x1x1x1xf32>
// CHECK-DAG: %[[B:.*]] = tk.constant dense<[0.0{{.*}}, -1.0{{.*}}]> : tensor<2xf32>
// CHECK: %[[R:.*]] = tk.conv %arg0, %[[W]], %[[B]] {{.*}} loc(fused["conv:Conv", "bn:BatchNormalization"])
// CHECK-NOT: tk.batch_norm
// CHECK: return %[[R]]
func.func @no_bias(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = tk.constant dense<[[[[2.0]]], [[[3.0]]]]> : tensor<2x1x1x1xf32>
  %g = tk.constant dense<[2.0, -3.0]> : tensor<2xf32>
  %b = tk.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %m = tk.constant dense<[1.0, -1.0]> : tensor<2xf32>
  %v = tk.constant dense<[4.0, 1.0]> : tensor<2xf32>
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32> loc("conv:Conv")
  %1 = tk.batch_norm %0, %g, %b, %m, %v {epsilon = 0.0} : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32> loc("bn:BatchNormalization")
  return %1 : tensor<1x2x4x4xf32>
}

// Two norms in a row fold one after the other, each once.
// CHECK-LABEL: func.func @two_norms
// CHECK-DAG: tk.constant dense<1.2{{.*}} : tensor<1x1x1x1xf32>
// CHECK-DAG: tk.constant dense<8.0{{.*}}> : tensor<1xf32>
// CHECK: tk.conv
// CHECK-NOT: tk.batch_norm
func.func @two_norms(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %w = tk.constant dense<[[[[3.0]]]]> : tensor<1x1x1x1xf32>
  %two = tk.constant dense<2.0> : tensor<1xf32>
  %one = tk.constant dense<1.0> : tensor<1xf32>
  %zero = tk.constant dense<0.0> : tensor<1xf32>
  %0 = tk.conv %x, %w, %one {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %1 = tk.batch_norm %0, %two, %two, %zero, %one {epsilon = 0.0} : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %2 = tk.batch_norm %1, %two, %zero, %zero, %one {epsilon = 0.0} : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  return %2 : tensor<1x1x4x4xf32>
}

// Two convolutions share weights: each keeps its own, the one without a norm the old ones.
// CHECK-LABEL: func.func @shared_weights
// CHECK-DAG: %[[OLD:.*]] = tk.constant dense<3.0{{.*}} : tensor<1x1x1x1xf32>
// CHECK-DAG: %[[NEW:.*]] = tk.constant dense<6.0{{.*}} : tensor<1x1x1x1xf32>
// CHECK-DAG: tk.conv %arg0, %[[NEW]]
// CHECK-DAG: tk.conv %arg0, %[[OLD]] {
func.func @shared_weights(%x: tensor<1x1x4x4xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) {
  %w = tk.constant dense<[[[[3.0]]]]> : tensor<1x1x1x1xf32>
  %two = tk.constant dense<2.0> : tensor<1xf32>
  %one = tk.constant dense<1.0> : tensor<1xf32>
  %zero = tk.constant dense<0.0> : tensor<1xf32>
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %1 = tk.batch_norm %0, %two, %two, %zero, %one {epsilon = 0.0} : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %2 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  return %1, %2 : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
}

// The convolution's result is a graph output, or another operator reads it: nothing folds.
// CHECK-LABEL: func.func @conv_is_output
// CHECK: tk.batch_norm
func.func @conv_is_output(%x: tensor<1x1x4x4xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) {
  %w = tk.constant dense<[[[[3.0]]]]> : tensor<1x1x1x1xf32>
  %one = tk.constant dense<1.0> : tensor<1xf32>
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %1 = tk.batch_norm %0, %one, %one, %one, %one {epsilon = 0.0} : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  return %1, %0 : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
}

// CHECK-LABEL: func.func @two_norms_of_one_conv
// CHECK: tk.batch_norm
// CHECK: tk.batch_norm
func.func @two_norms_of_one_conv(%x: tensor<1x1x4x4xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) {
  %w = tk.constant dense<[[[[3.0]]]]> : tensor<1x1x1x1xf32>
  %one = tk.constant dense<1.0> : tensor<1xf32>
  %two = tk.constant dense<2.0> : tensor<1xf32>
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %1 = tk.batch_norm %0, %one, %one, %one, %one {epsilon = 0.0} : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %2 = tk.batch_norm %0, %two, %one, %one, %one {epsilon = 0.0} : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  return %1, %2 : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
}

// Weights or statistics that are inputs.
// CHECK-LABEL: func.func @not_constant
// CHECK: tk.batch_norm
// CHECK: tk.batch_norm
// CHECK: tk.batch_norm
func.func @not_constant(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x1x1xf32>, %g: tensor<1xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) {
  %c = tk.constant dense<[[[[3.0]]]]> : tensor<1x1x1x1xf32>
  %one = tk.constant dense<1.0> : tensor<1xf32>
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %1 = tk.batch_norm %0, %one, %one, %one, %one {epsilon = 0.0} : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %2 = tk.conv %x, %c {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %3 = tk.batch_norm %2, %one, %one, %g, %one {epsilon = 0.0} : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %4 = tk.conv %x, %c, %g {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %5 = tk.batch_norm %4, %one, %one, %one, %one {epsilon = 0.0} : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  return %1, %3, %5 : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
}

// Half precision: the convolution's result rounds and may overflow before the norm sees it. A variance below -epsilon
// gives NaN. (The dialect has no norm of mixed types: there is a cast between it and the convolution.)
// CHECK-LABEL: func.func @types_and_values
// CHECK: tk.batch_norm
// CHECK: tk.batch_norm
// CHECK: tk.batch_norm
func.func @types_and_values(%h: tensor<1x1x4x4xf16>, %x: tensor<1x1x4x4xf32>) -> (tensor<1x1x4x4xf16>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) {
  %wh = tk.constant dense<[[[[3.0]]]]> : tensor<1x1x1x1xf16>
  %oneh = tk.constant dense<1.0> : tensor<1xf16>
  %w = tk.constant dense<[[[[3.0]]]]> : tensor<1x1x1x1xf32>
  %one = tk.constant dense<1.0> : tensor<1xf32>
  %minus = tk.constant dense<-1.0> : tensor<1xf32>
  %0 = tk.conv %h, %wh {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x1x4x4xf16>, tensor<1x1x1x1xf16>) -> tensor<1x1x4x4xf16>
  %1 = tk.batch_norm %0, %oneh, %oneh, %oneh, %oneh {epsilon = 0.0} : (tensor<1x1x4x4xf16>, tensor<1xf16>, tensor<1xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<1x1x4x4xf16>
  %2 = tk.cast %0 {to = f32} : (tensor<1x1x4x4xf16>) -> tensor<1x1x4x4xf32>
  %3 = tk.batch_norm %2, %one, %one, %one, %one {epsilon = 0.0} : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %4 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %5 = tk.batch_norm %4, %one, %one, %one, %minus {epsilon = 0.001} : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  return %1, %3, %5 : tensor<1x1x4x4xf16>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
}

// Weights, or a bias, that would overflow where the norm of a small result does not.
// CHECK-LABEL: func.func @weights_overflow
// CHECK: tk.batch_norm
func.func @weights_overflow(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %w = tk.constant dense<1.0e+37> : tensor<1x1x1x1xf32>
  %b = tk.constant dense<0.0> : tensor<1xf32>
  %g = tk.constant dense<1.0> : tensor<1xf32>
  %v = tk.constant dense<1.0e-06> : tensor<1xf32>
  %0 = tk.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %1 = tk.batch_norm %0, %g, %g, %g, %v {epsilon = 0.0} : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  return %1 : tensor<1x1x4x4xf32>
}

// CHECK-LABEL: func.func @bias_overflows
// CHECK: tk.batch_norm
func.func @bias_overflows(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
  %w = tk.constant dense<1.0> : tensor<1x1x1x1xf32>
  %b = tk.constant dense<1.0e+37> : tensor<1xf32>
  %g = tk.constant dense<1.0> : tensor<1xf32>
  %v = tk.constant dense<1.0e-06> : tensor<1xf32>
  %0 = tk.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %1 = tk.batch_norm %0, %g, %g, %g, %v {epsilon = 0.0} : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  return %1 : tensor<1x1x4x4xf32>
}
