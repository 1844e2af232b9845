// Kernels too small for threads, together large enough for two: what one kernel of both gains by the second thread,
// waking it costs, and one thread alone pays for the rows that bands share.
// RUN: tokamak-opt %s --split-input-file --pass-pipeline='builtin.module(tokamak-pipeline{target-cpu=x86-64-v4 target-description=%S/Inputs/two-cores.json})' | FileCheck %s
// RUN: tokamak-opt %s --split-input-file --pass-pipeline='builtin.module(tokamak-pipeline{target-cpu=x86-64-v4 target-description=%S/Inputs/slow-dispatch.json})' | FileCheck %s --check-prefix=SLOW

// CHECK-LABEL: func.func @wakes_a_thread
// CHECK: tk.fusion "conv_tanh_mul"(%arg0
// CHECK: tk.fusion "conv_max"
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @wakes_a_thread(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %v = tk.constant dense<0.5> : tensor<32x8x3x3xf32>
  %0 = tk.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x8x4x4xf32>, tensor<32x8x3x3xf32>) -> tensor<1x32x4x4xf32>
  %1 = tk.tanh %0 : (tensor<1x32x4x4xf32>) -> tensor<1x32x4x4xf32>
  %2 = tk.mul %0, %1 : (tensor<1x32x4x4xf32>, tensor<1x32x4x4xf32>) -> tensor<1x32x4x4xf32>
  %w = tk.constant dense<0.5> : tensor<8x32x3x3xf32>
  %3 = tk.conv %2, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x32x4x4xf32>, tensor<8x32x3x3xf32>) -> tensor<1x8x4x4xf32>
  %4 = tk.max %3, %zero : (tensor<1x8x4x4xf32>, tensor<f32>) -> tensor<1x8x4x4xf32>
  return %4 : tensor<1x8x4x4xf32>
}

// -----

// Nothing is computed twice between convolutions of 1x1: two threads gain more than one loses, unless
// waking them takes 20 us.
// CHECK-LABEL: func.func @pays_for_the_thread
// CHECK: tk.fusion "conv_tanh_mul_conv_max"(%arg0
// CHECK-NOT: tk.fusion
// CHECK: return
// SLOW-LABEL: func.func @pays_for_the_thread
// SLOW-COUNT-2: tk.fusion
// SLOW: return
func.func @pays_for_the_thread(%x: tensor<1x8x28x28xf32>) -> tensor<1x8x28x28xf32> {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %v = tk.constant dense<0.5> : tensor<32x8x1x1xf32>
  %0 = tk.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x28x28xf32>, tensor<32x8x1x1xf32>) -> tensor<1x32x28x28xf32>
  %1 = tk.tanh %0 : (tensor<1x32x28x28xf32>) -> tensor<1x32x28x28xf32>
  %2 = tk.mul %0, %1 : (tensor<1x32x28x28xf32>, tensor<1x32x28x28xf32>) -> tensor<1x32x28x28xf32>
  %w = tk.constant dense<0.5> : tensor<8x32x1x1xf32>
  %3 = tk.conv %2, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x32x28x28xf32>, tensor<8x32x1x1xf32>) -> tensor<1x8x28x28xf32>
  %4 = tk.max %3, %zero : (tensor<1x8x28x28xf32>, tensor<f32>) -> tensor<1x8x28x28xf32>
  return %4 : tensor<1x8x28x28xf32>
}

// -----

// A reader of what is a graph output as well, with which the loop is large enough for two threads.
// CHECK-LABEL: func.func @output_wakes_a_thread
// CHECK: tk.fusion "mul_x7_sub_x7"(%arg0
// CHECK-NOT: tk.fusion
// CHECK: return
// SLOW-LABEL: func.func @output_wakes_a_thread
// SLOW: %[[M:.*]] = tk.fusion "mul_x7"(%arg0
// SLOW: tk.fusion "sub_x7"(%[[M]]
// SLOW: return
func.func @output_wakes_a_thread(%x: tensor<2x4096xf32>) -> (tensor<2x4096xf32>, tensor<2x4096xf32>) {
  %a0 = tk.mul %x, %x : (tensor<2x4096xf32>, tensor<2x4096xf32>) -> tensor<2x4096xf32>
  %a1 = tk.mul %a0, %x : (tensor<2x4096xf32>, tensor<2x4096xf32>) -> tensor<2x4096xf32>
  %a2 = tk.mul %a1, %x : (tensor<2x4096xf32>, tensor<2x4096xf32>) -> tensor<2x4096xf32>
  %a3 = tk.mul %a2, %x : (tensor<2x4096xf32>, tensor<2x4096xf32>) -> tensor<2x4096xf32>
  %a4 = tk.mul %a3, %x : (tensor<2x4096xf32>, tensor<2x4096xf32>) -> tensor<2x4096xf32>
  %a5 = tk.mul %a4, %x : (tensor<2x4096xf32>, tensor<2x4096xf32>) -> tensor<2x4096xf32>
  %a6 = tk.mul %a5, %x : (tensor<2x4096xf32>, tensor<2x4096xf32>) -> tensor<2x4096xf32>
  %b0 = tk.sub %a6, %x : (tensor<2x4096xf32>, tensor<2x4096xf32>) -> tensor<2x4096xf32>
  %b1 = tk.sub %b0, %x : (tensor<2x4096xf32>, tensor<2x4096xf32>) -> tensor<2x4096xf32>
  %b2 = tk.sub %b1, %x : (tensor<2x4096xf32>, tensor<2x4096xf32>) -> tensor<2x4096xf32>
  %b3 = tk.sub %b2, %x : (tensor<2x4096xf32>, tensor<2x4096xf32>) -> tensor<2x4096xf32>
  %b4 = tk.sub %b3, %x : (tensor<2x4096xf32>, tensor<2x4096xf32>) -> tensor<2x4096xf32>
  %b5 = tk.sub %b4, %x : (tensor<2x4096xf32>, tensor<2x4096xf32>) -> tensor<2x4096xf32>
  %b6 = tk.sub %b5, %x : (tensor<2x4096xf32>, tensor<2x4096xf32>) -> tensor<2x4096xf32>
  return %a6, %b6 : tensor<2x4096xf32>, tensor<2x4096xf32>
}

// -----

// A convolution that two threads share, and a scale in front of it: a little less work as one kernel, which would have
// too few tasks for both. Where waking takes so long that one thread runs either, they are one.
// CHECK-LABEL: func.func @keeps_threads
// CHECK: %[[M:.*]] = tk.fusion "mul"(%arg0, %arg1)
// CHECK: tk.fusion "conv_add"(%[[M]]
// CHECK: return
// SLOW-LABEL: func.func @keeps_threads
// SLOW: tk.fusion "mul_conv_add"(%arg0
// SLOW-NOT: tk.fusion
// SLOW: return
func.func @keeps_threads(%x: tensor<1x99x14x14xf32>, %g: tensor<1x99x1x1xf32>, %y: tensor<1x33x14x14xf32>) -> tensor<1x33x14x14xf32> {
  %w = tk.constant dense<0.5> : tensor<33x99x1x1xf32>
  %m = tk.mul %x, %g : (tensor<1x99x14x14xf32>, tensor<1x99x1x1xf32>) -> tensor<1x99x14x14xf32>
  %c = tk.conv %m, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x99x14x14xf32>, tensor<33x99x1x1xf32>) -> tensor<1x33x14x14xf32>
  %a = tk.add %c, %y : (tensor<1x33x14x14xf32>, tensor<1x33x14x14xf32>) -> tensor<1x33x14x14xf32>
  return %a : tensor<1x33x14x14xf32>
}
