// Convolutions of 3x3 taps that take less time by minimal filtering are marked, in every mode but with exact.
// RUN: tokamak-opt %s --split-input-file --pass-pipeline='builtin.module(tokamak-pipeline{target-cpu=x86-64-v4})' | FileCheck %s
// RUN: tokamak-opt %s --split-input-file --pass-pipeline='builtin.module(tokamak-pipeline{target-cpu=x86-64-v4 fusion=none})' | FileCheck %s
// RUN: tokamak-opt %s --split-input-file --pass-pipeline='builtin.module(tokamak-pipeline{target-cpu=x86-64-v4 exact=true})' | FileCheck %s --check-prefix=EXACT
// EXACT-NOT: winograd
// What they read comes from a convolution, so it lies in blocks of channels.

// A large plane: tiles of 4x4 results.
// CHECK-LABEL: func.func @large_plane
// CHECK: tk.conv {{.*}}winograd = 4
func.func @large_plane(%x: tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32> {
  %w = tk.constant dense<0.5> : tensor<64x64x3x3xf32>
  %pw = tk.constant dense<0.5> : tensor<64x64x1x1xf32>
  %p = tk.conv %x, %pw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x64x56x56xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x56x56xf32>
  %0 = tk.conv %p, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
  return %0 : tensor<1x64x56x56xf32>
}

// -----

// One tile of results: all that counts is how many weights there are to read.
// CHECK-LABEL: func.func @more_weights_than_work
// CHECK-NOT: winograd
// CHECK: return
func.func @more_weights_than_work(%x: tensor<1x1024x2x2xf32>) -> tensor<1x1024x2x2xf32> {
  %w = tk.constant dense<0.5> : tensor<1024x1024x3x3xf32>
  %pw = tk.constant dense<0.5> : tensor<1024x1024x1x1xf32>
  %p = tk.conv %x, %pw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x1024x2x2xf32>, tensor<1024x1024x1x1xf32>) -> tensor<1x1024x2x2xf32>
  %0 = tk.conv %p, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x1024x2x2xf32>, tensor<1024x1024x3x3xf32>) -> tensor<1x1024x2x2xf32>
  return %0 : tensor<1x1024x2x2xf32>
}

// -----

// Few channels: the transforms cost more than the products save.
// CHECK-LABEL: func.func @few_channels
// CHECK-NOT: winograd
// CHECK: return
func.func @few_channels(%x: tensor<1x3x56x56xf32>) -> tensor<1x8x56x56xf32> {
  %w = tk.constant dense<0.5> : tensor<8x3x3x3xf32>
  %pw = tk.constant dense<0.5> : tensor<3x3x1x1xf32>
  %p = tk.conv %x, %pw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x3x56x56xf32>, tensor<3x3x1x1xf32>) -> tensor<1x3x56x56xf32>
  %0 = tk.conv %p, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x3x56x56xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x56x56xf32>
  return %0 : tensor<1x8x56x56xf32>
}

// -----

// Blocks that hold channels of two parts would be put together one by one.
// CHECK-LABEL: func.func @parts_within_a_block
// CHECK-NOT: winograd
// CHECK: return
func.func @parts_within_a_block(%x: tensor<1x24x56x56xf32>, %y: tensor<1x40x56x56xf32>) -> tensor<1x64x56x56xf32> {
  %w = tk.constant dense<0.5> : tensor<64x64x3x3xf32>
  %c = tk.concat %x, %y {axis = 1 : i64} : (tensor<1x24x56x56xf32>, tensor<1x40x56x56xf32>) -> tensor<1x64x56x56xf32>
  %0 = tk.conv %c, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
  return %0 : tensor<1x64x56x56xf32>
}

// -----

// CHECK-LABEL: func.func @never_strided
// CHECK-NOT: winograd
// CHECK: return
func.func @never_strided(%x: tensor<1x64x56x56xf32>) -> tensor<1x64x28x28xf32> {
  %w = tk.constant dense<0.5> : tensor<64x64x3x3xf32>
  %pw = tk.constant dense<0.5> : tensor<64x64x1x1xf32>
  %p = tk.conv %x, %pw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x64x56x56xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x56x56xf32>
  %0 = tk.conv %p, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x28x28xf32>
  return %0 : tensor<1x64x28x28xf32>
}

// -----

// CHECK-LABEL: func.func @never_dilated
// CHECK-NOT: winograd
// CHECK: return
func.func @never_dilated(%x: tensor<1x64x56x56xf32>) -> tensor<1x64x54x54xf32> {
  %w = tk.constant dense<0.5> : tensor<64x64x3x3xf32>
  %pw = tk.constant dense<0.5> : tensor<64x64x1x1xf32>
  %p = tk.conv %x, %pw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x64x56x56xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x56x56xf32>
  %0 = tk.conv %p, %w {strides = array<i64: 1, 1>, dilations = array<i64: 2, 2>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x54x54xf32>
  return %0 : tensor<1x64x54x54xf32>
}

// -----

// CHECK-LABEL: func.func @never_grouped
// CHECK-NOT: winograd
// CHECK: return
func.func @never_grouped(%x: tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32> {
  %w = tk.constant dense<0.5> : tensor<64x32x3x3xf32>
  %pw = tk.constant dense<0.5> : tensor<64x64x1x1xf32>
  %p = tk.conv %x, %pw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x64x56x56xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x56x56xf32>
  %0 = tk.conv %p, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 2 : i64} : (tensor<1x64x56x56xf32>, tensor<64x32x3x3xf32>) -> tensor<1x64x56x56xf32>
  return %0 : tensor<1x64x56x56xf32>
}

// -----

// Its filters are transformed when compiling, which needs them then.
// CHECK-LABEL: func.func @never_weights_of_the_caller
// CHECK-NOT: winograd
// CHECK: return
func.func @never_weights_of_the_caller(%x: tensor<1x64x56x56xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32> {
  %pw = tk.constant dense<0.5> : tensor<64x64x1x1xf32>
  %p = tk.conv %x, %pw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x64x56x56xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x56x56xf32>
  %0 = tk.conv %p, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
  return %0 : tensor<1x64x56x56xf32>
}

// -----

// Other types are summed as they are.
// CHECK-LABEL: func.func @never_double
// CHECK-NOT: winograd
// CHECK: return
func.func @never_double(%x: tensor<1x64x56x56xf64>) -> tensor<1x64x56x56xf64> {
  %w = tk.constant dense<0.5> : tensor<64x64x3x3xf64>
  %pw = tk.constant dense<0.5> : tensor<64x64x1x1xf64>
  %p = tk.conv %x, %pw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x64x56x56xf64>, tensor<64x64x1x1xf64>) -> tensor<1x64x56x56xf64>
  %0 = tk.conv %p, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x64x56x56xf64>, tensor<64x64x3x3xf64>) -> tensor<1x64x56x56xf64>
  return %0 : tensor<1x64x56x56xf64>
}

// -----

// The caller's memory, and what the caller gets, is in rows.
// CHECK-LABEL: func.func @input_of_the_program
// CHECK-NOT: winograd
// CHECK: return
func.func @input_of_the_program(%x: tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32> {
  %w = tk.constant dense<0.5> : tensor<64x64x3x3xf32>
  %a = tk.abs %x : (tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %0 = tk.conv %a, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
  return %0 : tensor<1x64x56x56xf32>
}

// -----

// CHECK-LABEL: func.func @result_of_the_program
// CHECK-NOT: winograd
// CHECK: return
func.func @result_of_the_program(%x: tensor<1x64x56x56xf32>) -> (tensor<1x64x56x56xf32>, tensor<1x64x56x56xf32>) {
  %w = tk.constant dense<0.5> : tensor<64x64x3x3xf32>
  %v = tk.constant dense<0.5> : tensor<64x64x1x1xf32>
  %p = tk.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x64x56x56xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x56x56xf32>
  %0 = tk.conv %p, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
  return %p, %0 : tensor<1x64x56x56xf32>, tensor<1x64x56x56xf32>
}
