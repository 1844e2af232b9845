// Values are checked by FoldScaleShiftTest.cpp; here is what folds and what does not.
// RUN: tokamak-opt %s --fold-scale-shift --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: func.func @around
// CHECK-DAG: %[[W:.*]] = tk.constant dense<{{.*}}2.0{{.*}}1.2{{.*}}> : tensor<2x2x1x1xf32>
// CHECK-DAG: %[[B:.*]] = tk.constant dense<[1.0{{.*}}, 2.0{{.*}}]> : tensor<2xf32>
// CHECK: %[[Y:.*]] = tk.conv %arg0, %[[W]], %[[B]] {{.*}} loc(fused["conv:Conv", "in:Mul", "out:Mul", "shift:Add"])
// CHECK-NEXT: return %[[Y]]
func.func @around(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %in = tk.constant dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>
  %w = tk.constant dense<[[[[1.0]], [[0.0]]], [[[0.0]], [[3.0]]]]> : tensor<2x2x1x1xf32>
  %out = tk.constant dense<2.0> : tensor<f32>
  %t = tk.constant dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>
  %0 = tk.mul %x, %in : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32> loc("in:Mul")
  %1 = tk.conv %0, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32> loc("conv:Conv")
  %2 = tk.mul %1, %out : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32> loc("out:Mul")
  %3 = tk.add %2, %t : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32> loc("shift:Add")
  return %3 : tensor<1x2x4x4xf32>
}

// A bias, a scale of either sign and the factors of a norm: behind the norm's shift no zero keeps its sign. The bias
// is (1 * -2) * 3 + 5 and (2 * 4) * -1 + 6.
// CHECK-LABEL: func.func @negative_scale
// CHECK-DAG: %[[W:.*]] = tk.constant dense<{{.*}}-6.0{{.*}}-1.2{{.*}}> : tensor<2x2x1x1xf32>
// CHECK-DAG: %[[B:.*]] = tk.constant dense<[-1.0{{.*}}, -2.0{{.*}}]> : tensor<2xf32>
// CHECK: %[[Y:.*]] = tk.conv %arg0, %[[W]], %[[B]]
// CHECK-NEXT: return %[[Y]]
func.func @negative_scale(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = tk.constant dense<[[[[1.0]], [[0.0]]], [[[0.0]], [[3.0]]]]> : tensor<2x2x1x1xf32>
  %b = tk.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %s = tk.constant dense<[[[-2.0]], [[4.0]]]> : tensor<2x1x1xf32>
  %f = tk.constant dense<[[[3.0]], [[-1.0]]]> : tensor<2x1x1xf32>
  %t = tk.constant dense<[[[5.0]], [[6.0]]]> : tensor<2x1x1xf32>
  %0 = tk.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %1 = tk.mul %0, %s : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %2 = tk.mul %1, %f : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %3 = tk.add %2, %t : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %3 : tensor<1x2x4x4xf32>
}

// No shift, one by a value that may be -0, and one before which the scaled value is read: zeros keep their signs.
// CHECK-LABEL: func.func @signed_zeros
// CHECK: tk.conv
// CHECK-NEXT: tk.mul
// CHECK-NEXT: tk.neg
// CHECK: tk.conv
// CHECK-NEXT: tk.mul
// CHECK-NEXT: tk.add
// CHECK: tk.conv
// CHECK-NEXT: %[[M:.*]] = tk.mul
// CHECK-NEXT: tk.add
// CHECK-NEXT: return {{.*}}, %[[M]],
func.func @signed_zeros(%x: tensor<1x2x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %w = tk.constant dense<[[[[1.0]], [[0.0]]], [[[0.0]], [[3.0]]]]> : tensor<2x2x1x1xf32>
  %s = tk.constant dense<-2.0> : tensor<f32>
  %t = tk.constant dense<1.0> : tensor<f32>
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = tk.mul %0, %s : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %2 = tk.neg %1 : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %3 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %4 = tk.mul %3, %s : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %5 = tk.add %4, %x : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %6 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %7 = tk.mul %6, %s : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %8 = tk.add %7, %t : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  return %2, %5, %7, %8 : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}

// A scale passes padding, a shift does not: the padding is zero behind it.
// CHECK-LABEL: func.func @padded
// CHECK: tk.add %arg0
// CHECK-NEXT: tk.constant
// CHECK-NEXT: tk.conv
// CHECK-NEXT: return
func.func @padded(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x6x6xf32> {
  %c = tk.constant dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>
  %w = tk.constant dense<[[[[1.0]], [[0.0]]], [[[0.0]], [[3.0]]]]> : tensor<2x2x1x1xf32>
  %0 = tk.add %x, %c : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = tk.mul %0, %c : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %2 = tk.conv %1, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x6x6xf32>
  return %2 : tensor<1x2x6x6xf32>
}

// Constants that vary along another axis than the channels.
// CHECK-LABEL: func.func @other_axis
// CHECK: tk.mul
// CHECK: tk.conv
// CHECK: tk.mul
// CHECK: tk.add
func.func @other_axis(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %c = tk.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %w = tk.constant dense<[[[[1.0]], [[0.0]]], [[[0.0]], [[3.0]]]]> : tensor<2x2x1x1xf32>
  %0 = tk.mul %x, %c : (tensor<1x2x4x4xf32>, tensor<4xf32>) -> tensor<1x2x4x4xf32>
  %1 = tk.conv %0, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %2 = tk.mul %1, %c : (tensor<1x2x4x4xf32>, tensor<4xf32>) -> tensor<1x2x4x4xf32>
  %3 = tk.add %2, %c : (tensor<1x2x4x4xf32>, tensor<4xf32>) -> tensor<1x2x4x4xf32>
  return %3 : tensor<1x2x4x4xf32>
}

// The convolution's result, or the scaled input, is a graph output or has another reader.
// CHECK-LABEL: func.func @shared_values
// CHECK: tk.mul
// CHECK: tk.conv
// CHECK: tk.mul
func.func @shared_values(%x: tensor<1x2x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %c = tk.constant dense<2.0> : tensor<f32>
  %w = tk.constant dense<[[[[1.0]], [[0.0]]], [[[0.0]], [[3.0]]]]> : tensor<2x2x1x1xf32>
  %0 = tk.mul %x, %c : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %1 = tk.conv %0, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %2 = tk.mul %1, %c : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  return %0, %1, %2 : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}

// Weights, bias or factor that are inputs; half precision, where each result rounds and may overflow.
// CHECK-LABEL: func.func @not_constant
// CHECK-COUNT-3: tk.mul
func.func @not_constant(%x: tensor<1x2x4x4xf32>, %v: tensor<2x2x1x1xf32>, %b: tensor<2xf32>, %s: tensor<2x1x1xf32>, %h: tensor<1x2x4x4xf16>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf16>) {
  %c = tk.constant dense<2.0> : tensor<f32>
  %w = tk.constant dense<[[[[1.0]], [[0.0]]], [[[0.0]], [[3.0]]]]> : tensor<2x2x1x1xf32>
  %0 = tk.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = tk.mul %0, %c : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %2 = tk.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %3 = tk.mul %2, %c : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %4 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %5 = tk.mul %4, %s : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %hc = tk.constant dense<2.0> : tensor<f16>
  %hw = tk.constant dense<1.0> : tensor<2x2x1x1xf16>
  %6 = tk.conv %h, %hw {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x2x4x4xf16>, tensor<2x2x1x1xf16>) -> tensor<1x2x4x4xf16>
  %7 = tk.mul %6, %hc : (tensor<1x2x4x4xf16>, tensor<f16>) -> tensor<1x2x4x4xf16>
  return %1, %3, %5, %7 : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4x4xf16>
}

// Two convolutions share small weights: one gets its own.
// CHECK-LABEL: func.func @shared_weights
// CHECK-DAG: %[[OLD:.*]] = tk.constant dense<3.0{{.*}}> : tensor<2x2x1x1xf32>
// CHECK-DAG: %[[NEW:.*]] = tk.constant dense<6.0{{.*}}> : tensor<2x2x1x1xf32>
// CHECK-DAG: tk.conv %arg0, %[[NEW]]
// CHECK-DAG: tk.conv %arg0, %[[OLD]]
func.func @shared_weights(%x: tensor<1x2x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %c = tk.constant dense<2.0> : tensor<f32>
  %w = tk.constant dense<3.0> : tensor<2x2x1x1xf32>
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = tk.mul %0, %c : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %2 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %1, %2 : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}

// A scale in a loop does not draw the convolution into it.
// CHECK-LABEL: func.func @loop
// CHECK: tk.conv
// CHECK: tk.loop
// CHECK: tk.mul
func.func @loop(%x: tensor<1x2x4x4xf32>, %n: tensor<i64>) -> tensor<1x2x4x4xf32> {
  %c = tk.constant dense<2.0> : tensor<f32>
  %w = tk.constant dense<3.0> : tensor<2x2x1x1xf32>
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = tk.loop limit(%n : tensor<i64>) carry(%x) trips 0 {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %carried: tensor<1x2x4x4xf32>):
    %2 = tk.mul %0, %c : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
    tk.yield %go, %2 : tensor<i1>, tensor<1x2x4x4xf32>
  } : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  return %1 : tensor<1x2x4x4xf32>
}
