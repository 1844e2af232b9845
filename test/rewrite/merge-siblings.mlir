// Siblings become one anchor, their results slices of it. Values are checked by CostedRewriteTest.cpp.
// RUN: tokamak-opt %s --merge-siblings --fold-constants --eliminate-dead-code --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// Weights side by side, those of most factors of two first; a missing bias is -0.
// CHECK-LABEL: func.func @convolutions
// CHECK-DAG: %[[W:.*]] = tk.constant {{.*}} : tensor<22x8x1x1xf32>
// CHECK-DAG: %[[B:.*]] = tk.constant dense<[-0.0{{.*}}, 3.0{{[^,]*}}]> : tensor<22xf32>
// CHECK: %[[R:.*]] = tk.conv %arg0, %[[W]], %[[B]] {{.*}} loc(fused["a:Conv", "b:Conv"])
// CHECK-DAG: %[[A:.*]] = tk.slice %[[R]] {{{.*}}sizes = array<i64: 1, 6, 6, 6>, starts = array<i64: 0, 16, 0, 0>{{.*}} loc("a:Conv")
// CHECK-DAG: %[[C:.*]] = tk.slice %[[R]] {{{.*}}sizes = array<i64: 1, 16, 6, 6>, starts = array<i64: 0, 0, 0, 0>{{.*}} loc("b:Conv")
// CHECK: return %[[A]], %[[C]]
func.func @convolutions(%x: tensor<1x8x6x6xf32>) -> (tensor<1x6x6x6xf32>, tensor<1x16x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<6x8x1x1xf32>
  %ba = tk.constant dense<3.0> : tensor<6xf32>
  %0 = tk.conv %x, %wa, %ba {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<6x8x1x1xf32>, tensor<6xf32>) -> tensor<1x6x6x6xf32> loc("a:Conv")
  %wb = tk.constant dense<4.0> : tensor<16x8x1x1xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<16x8x1x1xf32>) -> tensor<1x16x6x6xf32> loc("b:Conv")
  return %0, %1 : tensor<1x6x6x6xf32>, tensor<1x16x6x6xf32>
}

// A batch norm's factors run along axis 1, wherever the results lie side by side.
// CHECK-LABEL: func.func @normalized
// CHECK: tk.matmul {{.*}} -> tensor<2x6x8xf32>
// CHECK-COUNT-2: tk.batch_norm {{.*}} -> tensor<2x6x4xf32>
func.func @normalized(%x: tensor<2x6x5xf32>) -> (tensor<2x6x4xf32>, tensor<2x6x4xf32>) {
  %wa = tk.constant dense<2.0> : tensor<5x4xf32>
  %wb = tk.constant dense<3.0> : tensor<5x4xf32>
  %c = tk.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
  %a = tk.matmul %x, %wa : (tensor<2x6x5xf32>, tensor<5x4xf32>) -> tensor<2x6x4xf32>
  %b = tk.matmul %x, %wb : (tensor<2x6x5xf32>, tensor<5x4xf32>) -> tensor<2x6x4xf32>
  %na = tk.batch_norm %a, %c, %c, %c, %c {epsilon = 1.0e-05 : f64} : (tensor<2x6x4xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x6x4xf32>
  %nb = tk.batch_norm %b, %c, %c, %c, %c {epsilon = 1.0e-05 : f64} : (tensor<2x6x4xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x6x4xf32>
  return %na, %nb : tensor<2x6x4xf32>, tensor<2x6x4xf32>
}

// Equal epilogues are done on the whole, constants side by side with the weights.
// CHECK-LABEL: func.func @equal_epilogues
// CHECK: %[[R:.*]] = tk.conv
// CHECK: %[[S:.*]] = tk.mul %[[R]], %{{.*}} : (tensor<1x16x6x6xf32>, tensor<1x16x1x1xf32>)
// CHECK: %[[M:.*]] = tk.max %[[S]], %{{.*}} : (tensor<1x16x6x6xf32>, tensor<f32>)
// CHECK: %[[A:.*]] = tk.slice %[[M]]
// CHECK: %[[B:.*]] = tk.slice %[[M]]
// CHECK: return %[[A]], %[[B]]
func.func @equal_epilogues(%x: tensor<1x8x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %wa = tk.constant dense<2.0> : tensor<8x8x1x1xf32>
  %sa = tk.constant dense<2.0> : tensor<1x8x1x1xf32>
  %a = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %ma = tk.mul %a, %sa : (tensor<1x8x6x6xf32>, tensor<1x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %ra = tk.max %ma, %zero : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x6x6xf32>
  %wb = tk.constant dense<5.0> : tensor<8x8x1x1xf32>
  %sb = tk.constant dense<5.0> : tensor<1x8x1x1xf32>
  %b = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %mb = tk.mul %b, %sb : (tensor<1x8x6x6xf32>, tensor<1x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %rb = tk.max %mb, %zero : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x6x6xf32>
  return %ra, %rb : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}

// Other activations stay behind the slices, each on its own.
// CHECK-LABEL: func.func @other_activations
// CHECK: %[[R:.*]] = tk.conv
// CHECK-DAG: %[[A:.*]] = tk.slice %[[R]] {{.*}}starts = array<i64: 0, 0, 0, 0>
// CHECK-DAG: %[[B:.*]] = tk.slice %[[R]] {{.*}}starts = array<i64: 0, 8, 0, 0>
// CHECK-DAG: %[[T:.*]] = tk.tanh %[[A]]
// CHECK-DAG: %[[E:.*]] = tk.exp %[[B]]
// CHECK: return %[[T]], %[[E]]
func.func @other_activations(%x: tensor<1x8x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x8x1x1xf32>
  %a = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %ra = tk.tanh %a : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %wb = tk.constant dense<5.0> : tensor<8x8x1x1xf32>
  %b = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %rb = tk.exp %b : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %ra, %rb : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}

// x * sigmoid(x) reads each value twice, at other places of the graph.
// CHECK-LABEL: func.func @gated_epilogues
// CHECK: %[[R:.*]] = tk.conv
// CHECK: %[[T:.*]] = tk.tanh %[[R]] : (tensor<1x16x6x6xf32>)
// CHECK: %[[M:.*]] = tk.mul %[[R]], %[[T]] : (tensor<1x16x6x6xf32>
// CHECK-DAG: tk.slice %[[M]]
// CHECK-DAG: tk.slice %[[M]]
// CHECK-NOT: tk.slice
func.func @gated_epilogues(%x: tensor<1x8x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x8x1x1xf32>
  %a = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %ta = tk.tanh %a : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %ra = tk.mul %a, %ta : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %wb = tk.constant dense<5.0> : tensor<8x8x1x1xf32>
  %b = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %tb = tk.tanh %b : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %rb = tk.mul %b, %tb : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %ra, %rb : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}

// Q, K, V with their biases.
// CHECK-LABEL: func.func @projections
// CHECK-DAG: %[[W:.*]] = tk.constant {{.*}} : tensor<8x24xf32>
// CHECK-DAG: %[[B:.*]] = tk.constant {{.*}} : tensor<24xf32>
// CHECK-DAG: %[[P:.*]] = tk.matmul %arg0, %[[W]]
// CHECK-DAG: %[[S:.*]] = tk.add %[[P]], %[[B]]
// CHECK-COUNT-3: tk.slice %[[S]]
// CHECK-NOT: tk.matmul
func.func @projections(%x: tensor<1x5x8xf32>) -> (tensor<1x5x8xf32>, tensor<1x5x8xf32>, tensor<1x5x8xf32>) {
  %wq = tk.constant dense<2.0> : tensor<8x8xf32>
  %bq = tk.constant dense<2.0> : tensor<8xf32>
  %mq = tk.matmul %x, %wq : (tensor<1x5x8xf32>, tensor<8x8xf32>) -> tensor<1x5x8xf32>
  %rq = tk.add %mq, %bq : (tensor<1x5x8xf32>, tensor<8xf32>) -> tensor<1x5x8xf32>
  %wk = tk.constant dense<5.0> : tensor<8x8xf32>
  %bk = tk.constant dense<5.0> : tensor<8xf32>
  %mk = tk.matmul %x, %wk : (tensor<1x5x8xf32>, tensor<8x8xf32>) -> tensor<1x5x8xf32>
  %rk = tk.add %mk, %bk : (tensor<1x5x8xf32>, tensor<8xf32>) -> tensor<1x5x8xf32>
  %wv = tk.constant dense<3.0> : tensor<8x8xf32>
  %bv = tk.constant dense<3.0> : tensor<8xf32>
  %mv = tk.matmul %x, %wv : (tensor<1x5x8xf32>, tensor<8x8xf32>) -> tensor<1x5x8xf32>
  %rv = tk.add %mv, %bv : (tensor<1x5x8xf32>, tensor<8xf32>) -> tensor<1x5x8xf32>
  return %rq, %rk, %rv : tensor<1x5x8xf32>, tensor<1x5x8xf32>, tensor<1x5x8xf32>
}

// Stored the other way round, columns are rows.
// CHECK-LABEL: func.func @transposed_weights
// CHECK: tk.matmul %arg0, %{{.*}} {transpose_rhs = true} : (tensor<5x8xf32>, tensor<6x8xf32>) -> tensor<5x6xf32>
// CHECK-NOT: tk.matmul
func.func @transposed_weights(%x: tensor<5x8xf32>) -> (tensor<5x2xf32>, tensor<5x4xf32>) {
  %wa = tk.constant dense<2.0> : tensor<2x8xf32>
  %wb = tk.constant dense<3.0> : tensor<4x8xf32>
  %0 = tk.matmul %x, %wa {transpose_rhs = true} : (tensor<5x8xf32>, tensor<2x8xf32>) -> tensor<5x2xf32>
  %1 = tk.matmul %x, %wb {transpose_rhs = true} : (tensor<5x8xf32>, tensor<4x8xf32>) -> tensor<5x4xf32>
  return %0, %1 : tensor<5x2xf32>, tensor<5x4xf32>
}

// Never: kernels of other extents.
// CHECK-LABEL: func.func @other_kernels
// CHECK-COUNT-2: tk.conv
// CHECK-NOT: tk.slice
// CHECK: return
func.func @other_kernels(%x: tensor<1x8x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x8x1x1xf32>
  %wb = tk.constant dense<3.0> : tensor<8x8x3x3xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x6x6xf32>
  return %0, %1 : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}

// Never: other paddings, though the results have one shape.
// CHECK-LABEL: func.func @other_paddings
// CHECK-COUNT-2: tk.conv
// CHECK-NOT: tk.slice
// CHECK: return
func.func @other_paddings(%x: tensor<1x8x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x8x3x3xf32>
  %wb = tk.constant dense<3.0> : tensor<8x8x3x3xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 2, 2>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x6x6xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x6x6xf32>
  return %0, %1 : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}

// Never: other dilations.
// CHECK-LABEL: func.func @other_dilations
// CHECK-COUNT-2: tk.conv
// CHECK-NOT: tk.slice
// CHECK: return
func.func @other_dilations(%x: tensor<1x8x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x8x3x3xf32>
  %wb = tk.constant dense<3.0> : tensor<8x8x3x3xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x6x6xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 2, 2>, pads_low = array<i64: 2, 2>, pads_high = array<i64: 2, 2>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x6x6xf32>
  return %0, %1 : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}

// Never: other strides.
// CHECK-LABEL: func.func @other_strides
// CHECK-COUNT-2: tk.conv
// CHECK-NOT: tk.slice
// CHECK: return
func.func @other_strides(%x: tensor<1x8x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x3x3xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x8x3x3xf32>
  %wb = tk.constant dense<3.0> : tensor<8x8x3x3xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x6x6xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x3x3xf32>
  return %0, %1 : tensor<1x8x6x6xf32>, tensor<1x8x3x3xf32>
}

// Never: groups, whose channels do not lie side by side.
// CHECK-LABEL: func.func @grouped
// CHECK-COUNT-2: tk.conv
// CHECK-NOT: tk.slice
// CHECK: return
func.func @grouped(%x: tensor<1x8x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x4x3x3xf32>
  %wb = tk.constant dense<3.0> : tensor<8x4x3x3xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 2 : i64} : (tensor<1x8x6x6xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 2 : i64} : (tensor<1x8x6x6xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32>
  return %0, %1 : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}

// Never: one with groups, one without.
// CHECK-LABEL: func.func @one_grouped
// CHECK-COUNT-2: tk.conv
// CHECK-NOT: tk.slice
// CHECK: return
func.func @one_grouped(%x: tensor<1x8x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x1x3x3xf32>
  %wb = tk.constant dense<3.0> : tensor<8x8x3x3xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 8 : i64} : (tensor<1x8x6x6xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x6x6xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x6x6xf32>
  return %0, %1 : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}

// Never: weights that another convolution needs as well; they would be kept twice.
// CHECK-LABEL: func.func @shared_weights
// CHECK-COUNT-3: tk.conv
// CHECK-NOT: tk.slice
// CHECK: return
func.func @shared_weights(%x: tensor<1x8x6x6xf32>, %y: tensor<1x8x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x8x1x1xf32>
  %wb = tk.constant dense<3.0> : tensor<8x8x1x1xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %2 = tk.conv %y, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  return %0, %1, %2 : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}

// Never: weights that are computed at run time.
// CHECK-LABEL: func.func @computed_weights
// CHECK-COUNT-2: tk.conv
// CHECK-NOT: tk.slice
// CHECK: return
func.func @computed_weights(%x: tensor<1x8x6x6xf32>, %wa: tensor<8x8x1x1xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %wb = tk.constant dense<3.0> : tensor<8x8x1x1xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  return %0, %1 : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}

// Never: another input, or a matrix product the other way around.
// CHECK-LABEL: func.func @other_inputs
// CHECK-COUNT-2: tk.matmul
// CHECK-NOT: tk.slice
// CHECK: return
func.func @other_inputs(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x8xf32>
  %wb = tk.constant dense<3.0> : tensor<8x8xf32>
  %0 = tk.matmul %x, %wa : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = tk.matmul %y, %wb : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// The value in front of one activation is a result as well: it stays, a slice of its own.
// CHECK-LABEL: func.func @visible_before_activation
// CHECK: %[[R:.*]] = tk.conv
// CHECK-DAG: %[[M:.*]] = tk.max %[[R]]
// CHECK-DAG: %[[V:.*]] = tk.slice %[[R]] {{.*}}starts = array<i64: 0, 0, 0, 0>
// CHECK-DAG: %[[A:.*]] = tk.slice %[[M]] {{.*}}starts = array<i64: 0, 0, 0, 0>
// CHECK-DAG: %[[B:.*]] = tk.slice %[[M]] {{.*}}starts = array<i64: 0, 8, 0, 0>
// CHECK: return %[[V]], %[[A]], %[[B]]
func.func @visible_before_activation(%x: tensor<1x8x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x8x1x1xf32>
  %wb = tk.constant dense<4.0> : tensor<8x8x1x1xf32>
  %z = tk.constant dense<0.0> : tensor<f32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %1 = tk.max %0, %z : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x6x6xf32>
  %2 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %3 = tk.max %2, %z : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x6x6xf32>
  return %0, %1, %3 : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}

// Never: an epilogue that reads the other sibling. Done on the whole, it would depend on itself.
// CHECK-LABEL: func.func @epilogue_reads_the_sibling
// CHECK: %[[R:.*]] = tk.conv
// CHECK-DAG: %[[A:.*]] = tk.slice %[[R]] {{.*}}starts = array<i64: 0, 0, 0, 0>
// CHECK-DAG: %[[B:.*]] = tk.slice %[[R]] {{.*}}starts = array<i64: 0, 8, 0, 0>
// CHECK: %[[S:.*]] = tk.add %[[A]], %arg1
// CHECK: %[[T:.*]] = tk.add %[[B]], %[[S]]
// CHECK: return %[[S]], %[[T]]
func.func @epilogue_reads_the_sibling(%x: tensor<1x8x6x6xf32>, %y: tensor<1x8x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x8x1x1xf32>
  %wb = tk.constant dense<4.0> : tensor<8x8x1x1xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %1 = tk.add %0, %y : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %2 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %3 = tk.add %2, %1 : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %1, %3 : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}

// Never: where there is no image there is nothing to gain.
// CHECK-LABEL: func.func @no_images
// CHECK-COUNT-2: tk.conv
// CHECK-NOT: tk.slice
// CHECK: return
func.func @no_images(%x: tensor<0x8x6x6xf32>) -> (tensor<0x8x6x6xf32>, tensor<0x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x8x1x1xf32>
  %wb = tk.constant dense<4.0> : tensor<8x8x1x1xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<0x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<0x8x6x6xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<0x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<0x8x6x6xf32>
  return %0, %1 : tensor<0x8x6x6xf32>, tensor<0x8x6x6xf32>
}

// Never: kernels of other extents, though every attribute is the same.
// CHECK-LABEL: func.func @other_kernels_without_padding
// CHECK-COUNT-2: tk.conv
// CHECK-NOT: tk.slice
// CHECK: return
func.func @other_kernels_without_padding(%x: tensor<1x8x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x4x4xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x8x1x1xf32>
  %wb = tk.constant dense<3.0> : tensor<8x8x3x3xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x4x4xf32>
  return %0, %1 : tensor<1x8x6x6xf32>, tensor<1x8x4x4xf32>
}

// Never: a bias that the run computes, which may not be there yet.
// CHECK-LABEL: func.func @computed_bias
// CHECK-COUNT-2: tk.conv
// CHECK-NOT: tk.slice
// CHECK: return
func.func @computed_bias(%x: tensor<1x8x6x6xf32>, %b: tensor<8xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %w = tk.constant dense<2.0> : tensor<8x8x1x1xf32>
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %c = tk.neg %b : (tensor<8xf32>) -> tensor<8xf32>
  %1 = tk.conv %x, %w, %c {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>, tensor<8xf32>) -> tensor<1x8x6x6xf32>
  return %0, %1 : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}

// Never: what differs in an attribute is no one epilogue.
// CHECK-LABEL: func.func @epilogues_of_other_attributes
// CHECK-COUNT-2: tk.cast %{{.*}} : (tensor<1x8x6x6xf32>)
func.func @epilogues_of_other_attributes(%x: tensor<1x8x6x6xf32>) -> (tensor<1x8x6x6xf16>, tensor<1x8x6x6xi32>) {
  %wa = tk.constant dense<2.0> : tensor<8x8x1x1xf32>
  %wb = tk.constant dense<5.0> : tensor<8x8x1x1xf32>
  %a = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %ra = tk.cast %a {to = f16} : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf16>
  %b = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %rb = tk.cast %b {to = i32} : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xi32>
  return %ra, %rb : tensor<1x8x6x6xf16>, tensor<1x8x6x6xi32>
}

// Never: sums along the channels, which would run on from one part into the next.
// CHECK-LABEL: func.func @sums_along_channels
// CHECK-COUNT-2: tk.cumsum %{{.*}} : (tensor<1x8x6x6xf32>)
func.func @sums_along_channels(%x: tensor<1x8x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x8x1x1xf32>
  %wb = tk.constant dense<5.0> : tensor<8x8x1x1xf32>
  %a = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %ra = tk.cumsum %a {axis = 1 : i64, exclusive = false, reverse = false} : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %b = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %rb = tk.cumsum %b {axis = 1 : i64, exclusive = false, reverse = false} : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %ra, %rb : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}

// Never: t - a and b - t are no one subtraction, though a and b have been merged, and their tanh.
// CHECK-LABEL: func.func @operands_the_other_way_round
// CHECK-COUNT-2: tk.sub %{{.*}} : (tensor<1x8x6x6xf32>
func.func @operands_the_other_way_round(%x: tensor<1x8x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x8x1x1xf32>
  %wb = tk.constant dense<5.0> : tensor<8x8x1x1xf32>
  %a = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %ta = tk.tanh %a : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %ra = tk.sub %ta, %a : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %b = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %tb = tk.tanh %b : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %rb = tk.sub %b, %tb : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %ra, %rb : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}

// Never: bounds that differ, and have no axis along which they could stand side by side.
// CHECK-LABEL: func.func @other_constants
// CHECK-COUNT-2: tk.max %{{.*}} : (tensor<1x8x6x6xf32>
func.func @other_constants(%x: tensor<1x8x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x8x1x1xf32>
  %wb = tk.constant dense<5.0> : tensor<8x8x1x1xf32>
  %zero = tk.constant dense<0.0> : tensor<f32>
  %one = tk.constant dense<1.0> : tensor<f32>
  %a = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %ra = tk.max %a, %zero : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x6x6xf32>
  %b = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %rb = tk.max %b, %one : (tensor<1x8x6x6xf32>, tensor<f32>) -> tensor<1x8x6x6xf32>
  return %ra, %rb : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}

// Never: constants that run along other axes as well.
// CHECK-LABEL: func.func @constants_of_other_extents
// CHECK-COUNT-2: tk.mul %{{.*}} : (tensor<1x8x6x6xf32>
func.func @constants_of_other_extents(%x: tensor<1x8x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %wa = tk.constant dense<2.0> : tensor<8x8x1x1xf32>
  %wb = tk.constant dense<5.0> : tensor<8x8x1x1xf32>
  %ca = tk.constant dense<2.0> : tensor<8x6x1xf32>
  %cb = tk.constant dense<3.0> : tensor<8x1x6xf32>
  %a = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %ra = tk.mul %a, %ca : (tensor<1x8x6x6xf32>, tensor<8x6x1xf32>) -> tensor<1x8x6x6xf32>
  %b = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %rb = tk.mul %b, %cb : (tensor<1x8x6x6xf32>, tensor<8x1x6xf32>) -> tensor<1x8x6x6xf32>
  return %ra, %rb : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}
