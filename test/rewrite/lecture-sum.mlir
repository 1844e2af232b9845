// The lecture's example with a convolution behind each half: conv(a) + conv(b) is one convolution of both halves, which
// are one value once their producers are one.
// RUN: tokamak-opt %s --pass-pipeline='builtin.module(tokamak-pipeline{force-rewrite=enlarge-kernels})' | FileCheck %s

// CHECK: tk.fusion "conv"
// CHECK: tk.conv {{.*}} : (tensor<1x256x7x7xf32>, tensor<512x256x3x3xf32>) -> tensor<1x512x7x7xf32>
// CHECK: tk.fusion "conv_max"
// CHECK: tk.conv {{.*}} : (tensor<1x512x7x7xf32>, tensor<256x512x3x3xf32>) -> tensor<1x256x7x7xf32>
// CHECK-NEXT: tk.max
// CHECK-NOT: tk.fusion
func.func @main(%x: tensor<1x256x7x7xf32>) -> (tensor<1x256x7x7xf32>) {
  %wa = tk.constant dense<2.0> : tensor<256x256x1x1xf32>
  %wb = tk.constant dense<3.0> : tensor<256x256x3x3xf32>
  %wc = tk.constant dense<4.0> : tensor<256x256x3x3xf32>
  %wd = tk.constant dense<5.0> : tensor<256x256x3x3xf32>
  %zero = tk.constant dense<0.0> : tensor<f32>
  %a = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x256x7x7xf32>, tensor<256x256x1x1xf32>) -> tensor<1x256x7x7xf32>
  %b = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x256x7x7xf32>, tensor<256x256x3x3xf32>) -> tensor<1x256x7x7xf32>
  %c = tk.conv %a, %wc {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x256x7x7xf32>, tensor<256x256x3x3xf32>) -> tensor<1x256x7x7xf32>
  %d = tk.conv %b, %wd {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x256x7x7xf32>, tensor<256x256x3x3xf32>) -> tensor<1x256x7x7xf32>
  %e = tk.add %c, %d : (tensor<1x256x7x7xf32>, tensor<1x256x7x7xf32>) -> tensor<1x256x7x7xf32>
  %y = tk.max %e, %zero : (tensor<1x256x7x7xf32>, tensor<f32>) -> tensor<1x256x7x7xf32>
  return %y : tensor<1x256x7x7xf32>
}
