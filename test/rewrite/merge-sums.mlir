// The sum of two anchors is one over both inputs. Values are checked by CostedRewriteTest.cpp.
// RUN: tokamak-opt %s --merge-sums --fold-constants --eliminate-dead-code --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: func.func @two_inputs
// CHECK-DAG: %[[W:.*]] = tk.constant {{.*}} : tensor<8x6x3x3xf32>
// CHECK-DAG: %[[B:.*]] = tk.constant dense<7.0{{.*}}> : tensor<8xf32>
// CHECK-DAG: %[[X:.*]] = tk.concat %arg0, %arg1 {axis = 1 : i64}
// CHECK-DAG: %[[R:.*]] = tk.conv %[[X]], %[[W]], %[[B]] {{.*}} loc(fused["a:Conv", "b:Conv", {{.*}}])
// CHECK-NOT: tk.add
// CHECK: return %[[R]]
func.func @two_inputs(%x: tensor<1x4x6x6xf32>, %y: tensor<1x2x6x6xf32>) -> (tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x4x3x3xf32>
  %wb = tk.constant dense<3.0> : tensor<8x2x3x3xf32>
  %ba = tk.constant dense<3.0> : tensor<8xf32>
  %bb = tk.constant dense<4.0> : tensor<8xf32>
  %0 = tk.conv %x, %wa, %ba {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>, tensor<8xf32>) -> tensor<1x8x6x6xf32> loc("a:Conv")
  %1 = tk.conv %y, %wb, %bb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x6x6xf32>, tensor<8x2x3x3xf32>, tensor<8xf32>) -> tensor<1x8x6x6xf32> loc("b:Conv")
  %2 = tk.add %0, %1 : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %2 : tensor<1x8x6x6xf32>
}

// Of one input that is never infinite, the sum has the sum of the weights.
// CHECK-LABEL: func.func @one_input
// CHECK-DAG: %[[W:.*]] = tk.constant dense<5.0{{.*}}> : tensor<8x4x3x3xf32>
// CHECK-DAG: %[[B:.*]] = tk.constant dense<3.0{{.*}}> : tensor<8xf32>
// CHECK-DAG: %[[X:.*]] = tk.tanh %arg0
// CHECK: %[[R:.*]] = tk.conv %[[X]], %[[W]], %[[B]]
// CHECK-NOT: tk.add
// CHECK: return %[[R]]
func.func @one_input(%s: tensor<1x4x6x6xf32>) -> (tensor<1x8x6x6xf32>) {
  %x = tk.tanh %s : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %wa = tk.constant dense<2.0> : tensor<8x4x3x3xf32>
  %wb = tk.constant dense<3.0> : tensor<8x4x3x3xf32>
  %b = tk.constant dense<3.0> : tensor<8xf32>
  %0 = tk.conv %x, %wa, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>, tensor<8xf32>) -> tensor<1x8x6x6xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32>
  %2 = tk.add %0, %1 : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %2 : tensor<1x8x6x6xf32>
}

// Never where it may be: an infinity times weights of both signs is NaN in the sum, and need not be in the product.
// CHECK-LABEL: func.func @one_input_any
// CHECK: tk.concat %arg0, %arg0
// CHECK: tk.conv
func.func @one_input_any(%x: tensor<1x4x6x6xf32>) -> (tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x4x3x3xf32>
  %wb = tk.constant dense<-1.0> : tensor<8x4x3x3xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32>
  %2 = tk.add %0, %1 : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %2 : tensor<1x8x6x6xf32>
}

// Halves of one value, in whatever order they are added, are that value.
// CHECK-LABEL: func.func @halves
// CHECK-NOT: tk.concat
// CHECK-NOT: tk.slice
// CHECK: %[[R:.*]] = tk.conv %arg0, %{{.*}} : (tensor<1x6x6x6xf32>, tensor<8x6x3x3xf32>)
// CHECK: %[[M:.*]] = tk.max %[[R]]
// CHECK: return %[[M]]
func.func @halves(%s: tensor<1x6x6x6xf32>) -> (tensor<1x8x6x6xf32>) {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %y = tk.slice %s {starts = array<i64: 0, 0, 0, 0>, sizes = array<i64: 1, 2, 6, 6>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x6x6x6xf32>) -> tensor<1x2x6x6xf32>
  %x = tk.slice %s {starts = array<i64: 0, 2, 0, 0>, sizes = array<i64: 1, 4, 6, 6>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x6x6x6xf32>) -> tensor<1x4x6x6xf32>
  %wa = tk.constant dense<2.0> : tensor<8x4x3x3xf32>
  %wb = tk.constant dense<3.0> : tensor<8x2x3x3xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32> loc("a:Conv")
  %1 = tk.conv %y, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x6x6xf32>, tensor<8x2x3x3xf32>) -> tensor<1x8x6x6xf32> loc("b:Conv")
  %2 = tk.add %0, %1 : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %3 = tk.max %2, %zero : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x6x6xf32>
  return %3 : tensor<1x8x6x6xf32>
}

// The middle of a value: one slice for both.
// CHECK-LABEL: func.func @middle
// CHECK: tk.slice %arg0 {sizes = array<i64: 1, 4, 6, 6>, starts = array<i64: 0, 1, 0, 0>
// CHECK-NOT: tk.slice
// CHECK-NOT: tk.concat
func.func @middle(%s: tensor<1x6x6x6xf32>) -> (tensor<1x8x6x6xf32>) {
  %x = tk.slice %s {starts = array<i64: 0, 1, 0, 0>, sizes = array<i64: 1, 2, 6, 6>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x6x6x6xf32>) -> tensor<1x2x6x6xf32>
  %y = tk.slice %s {starts = array<i64: 0, 3, 0, 0>, sizes = array<i64: 1, 2, 6, 6>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x6x6x6xf32>) -> tensor<1x2x6x6xf32>
  %wa = tk.constant dense<2.0> : tensor<8x2x3x3xf32>
  %wb = tk.constant dense<3.0> : tensor<8x2x3x3xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x6x6xf32>, tensor<8x2x3x3xf32>) -> tensor<1x8x6x6xf32> loc("a:Conv")
  %1 = tk.conv %y, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x6x6xf32>, tensor<8x2x3x3xf32>) -> tensor<1x8x6x6xf32> loc("b:Conv")
  %2 = tk.add %0, %1 : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %2 : tensor<1x8x6x6xf32>
}

// Slices with a gap, or every second channel, are not what they were cut from.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-2: tk.slice
// CHECK: tk.concat
func.func @apart(%s: tensor<1x6x6x6xf32>) -> (tensor<1x8x6x6xf32>) {
  %x = tk.slice %s {starts = array<i64: 0, 0, 0, 0>, sizes = array<i64: 1, 2, 6, 6>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x6x6x6xf32>) -> tensor<1x2x6x6xf32>
  %y = tk.slice %s {starts = array<i64: 0, 3, 0, 0>, sizes = array<i64: 1, 2, 6, 6>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x6x6x6xf32>) -> tensor<1x2x6x6xf32>
  %wa = tk.constant dense<2.0> : tensor<8x2x3x3xf32>
  %wb = tk.constant dense<3.0> : tensor<8x2x3x3xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x6x6xf32>, tensor<8x2x3x3xf32>) -> tensor<1x8x6x6xf32> loc("a:Conv")
  %1 = tk.conv %y, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x6x6xf32>, tensor<8x2x3x3xf32>) -> tensor<1x8x6x6xf32> loc("b:Conv")
  %2 = tk.add %0, %1 : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %2 : tensor<1x8x6x6xf32>
}
// CHECK-LABEL: func.func @every_second
// CHECK-COUNT-2: tk.slice
// CHECK: tk.concat
func.func @every_second(%s: tensor<1x6x6x6xf32>) -> (tensor<1x8x6x6xf32>) {
  %x = tk.slice %s {starts = array<i64: 0, 0, 0, 0>, sizes = array<i64: 1, 2, 6, 6>, steps = array<i64: 1, 2, 1, 1>} : (tensor<1x6x6x6xf32>) -> tensor<1x2x6x6xf32>
  %y = tk.slice %s {starts = array<i64: 0, 2, 0, 0>, sizes = array<i64: 1, 2, 6, 6>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x6x6x6xf32>) -> tensor<1x2x6x6xf32>
  %wa = tk.constant dense<2.0> : tensor<8x2x3x3xf32>
  %wb = tk.constant dense<3.0> : tensor<8x2x3x3xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x6x6xf32>, tensor<8x2x3x3xf32>) -> tensor<1x8x6x6xf32> loc("a:Conv")
  %1 = tk.conv %y, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x6x6xf32>, tensor<8x2x3x3xf32>) -> tensor<1x8x6x6xf32> loc("b:Conv")
  %2 = tk.add %0, %1 : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %2 : tensor<1x8x6x6xf32>
}

// Matrix products.
// CHECK-LABEL: func.func @products
// CHECK: %[[X:.*]] = tk.concat %arg0, %arg1 {axis = 1 : i64}
// CHECK: tk.matmul %[[X]], %{{.*}} : (tensor<5x7xf32>, tensor<7x6xf32>) -> tensor<5x6xf32>
// CHECK-NOT: tk.add
func.func @products(%x: tensor<5x4xf32>, %y: tensor<5x3xf32>) -> (tensor<5x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<4x6xf32>
  %wb = tk.constant dense<3.0> : tensor<3x6xf32>
  %0 = tk.matmul %x, %wa : (tensor<5x4xf32>, tensor<4x6xf32>) -> tensor<5x6xf32>
  %1 = tk.matmul %y, %wb : (tensor<5x3xf32>, tensor<3x6xf32>) -> tensor<5x6xf32>
  %2 = tk.add %0, %1 : (tensor<5x6xf32>, tensor<5x6xf32>) -> tensor<5x6xf32>
  return %2 : tensor<5x6xf32>
}

// Never: other kernels, though the results have one shape.
// CHECK-LABEL: func.func @other_geometry
// CHECK-NOT: tk.concat
// CHECK: tk.conv
// CHECK-NOT: tk.concat
// CHECK: tk.conv
// CHECK-NOT: tk.concat
// CHECK: return
func.func @other_geometry(%x: tensor<1x4x6x6xf32>, %y: tensor<1x2x6x6xf32>) -> (tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x4x3x3xf32>
  %wb = tk.constant dense<3.0> : tensor<8x2x1x1xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32> loc("a:Conv")
  %1 = tk.conv %y, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x2x6x6xf32>, tensor<8x2x1x1xf32>) -> tensor<1x8x6x6xf32> loc("b:Conv")
  %2 = tk.add %0, %1 : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %2 : tensor<1x8x6x6xf32>
}

// Never: other dilations.
// CHECK-LABEL: func.func @other_dilation
// CHECK-NOT: tk.concat
// CHECK: tk.conv
// CHECK-NOT: tk.concat
// CHECK: tk.conv
// CHECK-NOT: tk.concat
// CHECK: return
func.func @other_dilation(%x: tensor<1x4x6x6xf32>, %y: tensor<1x2x6x6xf32>) -> (tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x4x3x3xf32>
  %wb = tk.constant dense<3.0> : tensor<8x2x3x3xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32> loc("a:Conv")
  %1 = tk.conv %y, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 2, 2>, pads_low = array<i64: 2, 2>, pads_high = array<i64: 2, 2>, group = 1 : i64} : (tensor<1x2x6x6xf32>, tensor<8x2x3x3xf32>) -> tensor<1x8x6x6xf32> loc("b:Conv")
  %2 = tk.add %0, %1 : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %2 : tensor<1x8x6x6xf32>
}

// Never: groups.
// CHECK-LABEL: func.func @grouped
// CHECK-NOT: tk.concat
// CHECK: tk.conv
// CHECK-NOT: tk.concat
// CHECK: tk.conv
// CHECK-NOT: tk.concat
// CHECK: return
func.func @grouped(%x: tensor<1x4x6x6xf32>, %y: tensor<1x2x6x6xf32>) -> (tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x2x3x3xf32>
  %wb = tk.constant dense<3.0> : tensor<8x1x3x3xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 2 : i64} : (tensor<1x4x6x6xf32>, tensor<8x2x3x3xf32>) -> tensor<1x8x6x6xf32> loc("a:Conv")
  %1 = tk.conv %y, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 2 : i64} : (tensor<1x2x6x6xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x6x6xf32> loc("b:Conv")
  %2 = tk.add %0, %1 : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %2 : tensor<1x8x6x6xf32>
}

// Never: inputs of other extents.
// CHECK-LABEL: func.func @other_extents
// CHECK-NOT: tk.concat
// CHECK: tk.conv
// CHECK-NOT: tk.concat
// CHECK: tk.conv
// CHECK-NOT: tk.concat
// CHECK: return
func.func @other_extents(%x: tensor<1x4x6x6xf32>, %y: tensor<1x2x1x6xf32>) -> (tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x4x3x3xf32>
  %wb = tk.constant dense<3.0> : tensor<8x2x3x3xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32> loc("a:Conv")
  %1 = tk.conv %y, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x1x6xf32>, tensor<8x2x3x3xf32>) -> tensor<1x8x1x6xf32> loc("b:Conv")
  %2 = tk.add %0, %1 : (tensor<1x8x6x6xf32>, tensor<1x8x1x6xf32>) -> tensor<1x8x6x6xf32>
  return %2 : tensor<1x8x6x6xf32>
}

// Never: a summand that is also a result.
// CHECK-LABEL: func.func @visible_summand
// CHECK-NOT: tk.concat
// CHECK: tk.conv
// CHECK-NOT: tk.concat
// CHECK: tk.conv
// CHECK-NOT: tk.concat
// CHECK: return
func.func @visible_summand(%x: tensor<1x4x6x6xf32>, %y: tensor<1x2x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x4x3x3xf32>
  %wb = tk.constant dense<3.0> : tensor<8x2x3x3xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32> loc("a:Conv")
  %1 = tk.conv %y, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x6x6xf32>, tensor<8x2x3x3xf32>) -> tensor<1x8x6x6xf32> loc("b:Conv")
  %2 = tk.add %0, %1 : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %0, %2 : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}

// Never: a difference.
// CHECK-LABEL: func.func @difference
// CHECK-NOT: tk.concat
// CHECK: tk.conv
// CHECK-NOT: tk.concat
// CHECK: tk.conv
// CHECK-NOT: tk.concat
// CHECK: return
func.func @difference(%x: tensor<1x4x6x6xf32>, %y: tensor<1x2x6x6xf32>) -> (tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x4x3x3xf32>
  %wb = tk.constant dense<3.0> : tensor<8x2x3x3xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32> loc("a:Conv")
  %1 = tk.conv %y, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x6x6xf32>, tensor<8x2x3x3xf32>) -> tensor<1x8x6x6xf32> loc("b:Conv")
  %2 = tk.sub %0, %1 : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %2 : tensor<1x8x6x6xf32>
}

// Never: a summand that the other one depends on. One anchor of both would wait for itself.
// CHECK-LABEL: func.func @dependent_summands
// CHECK-NOT: tk.concat
// CHECK: tk.conv
// CHECK-NOT: tk.concat
// CHECK: tk.conv
// CHECK-NOT: tk.concat
// CHECK: return
func.func @dependent_summands(%x: tensor<1x8x6x6xf32>) -> (tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x8x1x1xf32>
  %wb = tk.constant dense<4.0> : tensor<8x8x1x1xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %1 = tk.conv %0, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %2 = tk.add %0, %1 : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %2 : tensor<1x8x6x6xf32>
}

// Never: a summand that is broadcast, read at another index than the sum is written.
// CHECK-LABEL: func.func @broadcast_summand
// CHECK-NOT: tk.concat
// CHECK: tk.conv
// CHECK-NOT: tk.concat
// CHECK: tk.conv
// CHECK-NOT: tk.concat
// CHECK: return
func.func @broadcast_summand(%x: tensor<1x4x6x6xf32>, %y: tensor<1x2x1x1xf32>) -> (tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x4x1x1xf32>
  %wb = tk.constant dense<4.0> : tensor<8x2x1x1xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x6x6xf32>
  %1 = tk.conv %y, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x2x1x1xf32>, tensor<8x2x1x1xf32>) -> tensor<1x8x1x1xf32>
  %2 = tk.add %0, %1 : (tensor<1x8x6x6xf32>, tensor<1x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  return %2 : tensor<1x8x6x6xf32>
}

// Never: where there is no image there is nothing to gain.
// CHECK-LABEL: func.func @no_images
// CHECK-NOT: tk.concat
// CHECK: tk.conv
// CHECK-NOT: tk.concat
// CHECK: tk.conv
// CHECK-NOT: tk.concat
// CHECK: return
func.func @no_images(%x: tensor<0x4x6x6xf32>, %y: tensor<0x2x6x6xf32>) -> (tensor<0x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x4x1x1xf32>
  %wb = tk.constant dense<4.0> : tensor<8x2x1x1xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<0x4x6x6xf32>, tensor<8x4x1x1xf32>) -> tensor<0x8x6x6xf32>
  %1 = tk.conv %y, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<0x2x6x6xf32>, tensor<8x2x1x1xf32>) -> tensor<0x8x6x6xf32>
  %2 = tk.add %0, %1 : (tensor<0x8x6x6xf32>, tensor<0x8x6x6xf32>) -> tensor<0x8x6x6xf32>
  return %2 : tensor<0x8x6x6xf32>
}

// Never in half precision: one sum may overflow, or not, where two and their sum do not, or do.
// CHECK-LABEL: func.func @half_precision
// CHECK-COUNT-2: tk.matmul
// CHECK: tk.add
func.func @half_precision(%a: tensor<2x3xf16>, %b: tensor<2x3xf16>) -> tensor<2x4xf16> {
  %v = tk.constant dense<1.0> : tensor<3x4xf16>
  %w = tk.constant dense<2.0> : tensor<3x4xf16>
  %x = tk.matmul %a, %v : (tensor<2x3xf16>, tensor<3x4xf16>) -> tensor<2x4xf16>
  %y = tk.matmul %b, %w : (tensor<2x3xf16>, tensor<3x4xf16>) -> tensor<2x4xf16>
  %s = tk.add %x, %y : (tensor<2x4xf16>, tensor<2x4xf16>) -> tensor<2x4xf16>
  return %s : tensor<2x4xf16>
}
