// Beyond the baseline: a value that others need as well is stored by a kernel that needs it itself.
// RUN: tokamak-opt %s --split-input-file --partition-dominator --merge-outputs --outline-groups | FileCheck %s

// The lecture's case, A into B and A into C: all of one shape, so one kernel reads A's input once.
// CHECK-LABEL: func.func @two_consumers
// CHECK-NEXT: %[[R:.*]]:2 = tk.fusion {{.*}}(%arg0)
// CHECK-NOT: tk.fusion
// CHECK: return %[[R]]#{{.}}, %[[R]]#{{.}}
func.func @two_consumers(%x: tensor<40x64xf32>) -> (tensor<40x64xf32>, tensor<40x64xf32>) {
  %a = tk.abs %x : (tensor<40x64xf32>) -> tensor<40x64xf32>
  %b = tk.exp %a : (tensor<40x64xf32>) -> tensor<40x64xf32>
  %c = tk.tanh %a : (tensor<40x64xf32>) -> tensor<40x64xf32>
  return %b, %c : tensor<40x64xf32>, tensor<40x64xf32>
}

// -----

// A convolution whose value before the activation is needed as well: the epilogue stores twice.
// CHECK-LABEL: func.func @before_activation
// CHECK: %[[R:.*]]:2 = tk.fusion {{.*}}(%arg0
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tk.constant
// CHECK-NEXT: %[[C:.*]] = tk.conv
// CHECK-NEXT: %[[M:.*]] = tk.max %[[C]]
// CHECK-NEXT: tk.yield %[[C]], %[[M]]
// CHECK-NOT: tk.fusion
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @before_activation(%x: tensor<1x16x14x14xf32>) -> (tensor<1x16x14x14xf32>, tensor<1x16x14x14xf32>) {
  %w = tk.constant dense<0.5> : tensor<16x16x1x1xf32>
  %z = tk.constant dense<0.0> : tensor<f32>
  %c = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x16x14x14xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x14x14xf32>
  %m = tk.max %c, %z : (tensor<1x16x14x14xf32>, tensor<f32>) -> tensor<1x16x14x14xf32>
  return %c, %m : tensor<1x16x14x14xf32>, tensor<1x16x14x14xf32>
}

// -----

// A reader of another shape runs over other loops, which share nothing: it stays apart.
// CHECK-LABEL: func.func @other_shape
// CHECK: tk.fusion {{.*}}(%arg0)
// CHECK: tk.fusion
// CHECK: return
func.func @other_shape(%x: tensor<40x64xf32>) -> (tensor<40x64xf32>, tensor<64x40xf32>) {
  %a = tk.exp %x : (tensor<40x64xf32>) -> tensor<40x64xf32>
  %t = tk.transpose %a {permutation = array<i64: 1, 0>} : (tensor<40x64xf32>) -> tensor<64x40xf32>
  return %a, %t : tensor<40x64xf32>, tensor<64x40xf32>
}

// -----

// Never: a path through a library call would make the merged group depend on itself.
// CHECK-LABEL: func.func @cycle
// CHECK: %[[E:.*]] = tk.fusion "exp"(%arg0)
// CHECK: %[[S:.*]] = tk.cumsum %[[E]]
// CHECK: tk.fusion {{.*}}(%[[E]], %[[S]])
// CHECK-NOT: tk.fusion
func.func @cycle(%x: tensor<40x64xf32>) -> (tensor<40x64xf32>, tensor<40x64xf32>) {
  %0 = tk.exp %x : (tensor<40x64xf32>) -> tensor<40x64xf32>
  %2 = tk.cumsum %0 {axis = 0 : i64, exclusive = false, reverse = false} : (tensor<40x64xf32>) -> tensor<40x64xf32>
  %3 = tk.add %0, %2 : (tensor<40x64xf32>, tensor<40x64xf32>) -> tensor<40x64xf32>
  return %3, %0 : tensor<40x64xf32>, tensor<40x64xf32>
}

// -----

// Never: an epilogue that reads the convolution's value at another index than it writes (here transposed).
// CHECK-LABEL: func.func @transposed_epilogue
// CHECK: tk.fusion "conv"
// CHECK: tk.fusion
// CHECK: return
func.func @transposed_epilogue(%x: tensor<1x16x14x14xf32>) -> (tensor<1x16x14x14xf32>, tensor<1x16x14x14xf32>) {
  %w = tk.constant dense<0.5> : tensor<16x16x1x1xf32>
  %c = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x16x14x14xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x14x14xf32>
  %t = tk.transpose %c {permutation = array<i64: 0, 1, 3, 2>} : (tensor<1x16x14x14xf32>) -> tensor<1x16x14x14xf32>
  %m = tk.add %c, %t : (tensor<1x16x14x14xf32>, tensor<1x16x14x14xf32>) -> tensor<1x16x14x14xf32>
  return %c, %m : tensor<1x16x14x14xf32>, tensor<1x16x14x14xf32>
}

// -----

// Never: a concatenation that is a view, whose parts the convolutions write in their places.
// CHECK-LABEL: func.func @view
// CHECK: %[[C:.*]] = tk.fusion "concat"
// CHECK: %[[T:.*]] = tk.fusion "tanh"(%[[C]])
// CHECK: tk.fusion "conv"(%[[C]]
// CHECK: tk.fusion "conv"(%[[T]]
// CHECK: return
func.func @view(%x: tensor<1x8x14x14xf32>) -> (tensor<1x16x14x14xf32>, tensor<1x16x14x14xf32>) {
  %w = tk.constant dense<0.5> : tensor<16x8x1x1xf32>
  %v = tk.constant dense<0.25> : tensor<16x8x1x1xf32>
  %u = tk.constant dense<0.125> : tensor<16x32x1x1xf32>
  %t = tk.constant dense<0.5> : tensor<16x32x1x1xf32>
  %a = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x14x14xf32>, tensor<16x8x1x1xf32>) -> tensor<1x16x14x14xf32>
  %b = tk.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x14x14xf32>, tensor<16x8x1x1xf32>) -> tensor<1x16x14x14xf32>
  %c = tk.concat %a, %b {axis = 1 : i64} : (tensor<1x16x14x14xf32>, tensor<1x16x14x14xf32>) -> tensor<1x32x14x14xf32>
  %m = tk.tanh %c : (tensor<1x32x14x14xf32>) -> tensor<1x32x14x14xf32>
  %d = tk.conv %c, %u {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x32x14x14xf32>, tensor<16x32x1x1xf32>) -> tensor<1x16x14x14xf32>
  %e = tk.conv %m, %t {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x32x14x14xf32>, tensor<16x32x1x1xf32>) -> tensor<1x16x14x14xf32>
  return %d, %e : tensor<1x16x14x14xf32>, tensor<1x16x14x14xf32>
}

// -----

// A constant part has a place of its own, so it is a kernel in any case.
// CHECK-LABEL: func.func @padded
// CHECK: %[[R:.*]]:2 = tk.fusion "concat_tanh"
// CHECK: return
func.func @padded(%x: tensor<1x8x14x14xf32>) -> (tensor<1x16x14x14xf32>, tensor<1x32x14x14xf32>) {
  %w = tk.constant dense<0.5> : tensor<16x8x1x1xf32>
  %u = tk.constant dense<0.125> : tensor<16x32x1x1xf32>
  %zeros = tk.constant dense<0.0> : tensor<1x16x14x14xf32>
  %a = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x14x14xf32>, tensor<16x8x1x1xf32>) -> tensor<1x16x14x14xf32>
  %c = tk.concat %a, %zeros {axis = 1 : i64} : (tensor<1x16x14x14xf32>, tensor<1x16x14x14xf32>) -> tensor<1x32x14x14xf32>
  %m = tk.tanh %c : (tensor<1x32x14x14xf32>) -> tensor<1x32x14x14xf32>
  %d = tk.conv %c, %u {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x32x14x14xf32>, tensor<16x32x1x1xf32>) -> tensor<1x16x14x14xf32>
  return %d, %m : tensor<1x16x14x14xf32>, tensor<1x32x14x14xf32>
}

// -----

// A slice is read in its place by the kernel of both, too, if it is no view.
// CHECK-LABEL: func.func @slice
// CHECK: %[[R:.*]]:2 = tk.fusion "slice_tanh"(%arg0)
// CHECK: tk.fusion "conv"(%[[R]]#0
// CHECK: return
func.func @slice(%x: tensor<1x32x14x14xf32>) -> (tensor<1x16x14x14xf32>, tensor<1x16x14x14xf32>) {
  %w = tk.constant dense<0.5> : tensor<16x16x1x1xf32>
  %s = tk.slice %x {starts = array<i64: 0, 16, 0, 0>, sizes = array<i64: 1, 16, 14, 14>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x32x14x14xf32>) -> tensor<1x16x14x14xf32>
  %t = tk.tanh %s : (tensor<1x16x14x14xf32>) -> tensor<1x16x14x14xf32>
  %d = tk.conv %s, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x16x14x14xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x14x14xf32>
  return %d, %t : tensor<1x16x14x14xf32>, tensor<1x16x14x14xf32>
}

// -----

// Never: nor a reshape, which is one as well.
// CHECK-LABEL: func.func @reshaped
// CHECK: tk.fusion "exp"
// CHECK: %[[R:.*]] = tk.reshape
// CHECK: tk.fusion "tanh"(%[[R]])
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @reshaped(%x: tensor<40x64xf32>) -> (tensor<40x64xf32>, tensor<64x40xf32>, tensor<64x40xf32>) {
  %e = tk.exp %x : (tensor<40x64xf32>) -> tensor<40x64xf32>
  %s = tk.cumsum %e {axis = 0 : i64, exclusive = false, reverse = false} : (tensor<40x64xf32>) -> tensor<40x64xf32>
  %r = tk.reshape %s {shape = array<i64: 64, 40>} : (tensor<40x64xf32>) -> tensor<64x40xf32>
  %t = tk.tanh %r : (tensor<64x40xf32>) -> tensor<64x40xf32>
  return %e, %r, %t : tensor<40x64xf32>, tensor<64x40xf32>, tensor<64x40xf32>
}
