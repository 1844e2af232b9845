// What fusion must never do, as far as the baseline could.
// RUN: tokamak-opt %s --partition-dominator --outline-groups | FileCheck %s

// An interior value that is a graph output as well stays visible: nothing is fused past it.
// CHECK-LABEL: func.func @interior_is_output
// CHECK: %[[A:.*]] = tk.fusion "exp"(%arg0)
// CHECK: %[[B:.*]] = tk.fusion "neg_tanh"(%[[A]])
// CHECK: return %[[B]], %[[A]]
func.func @interior_is_output(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = tk.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tk.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tk.tanh %1 : (tensor<4xf32>) -> tensor<4xf32>
  return %2, %0 : tensor<4xf32>, tensor<4xf32>
}

// One value returned twice, a returned argument, a returned constant.
// CHECK-LABEL: func.func @outputs_of_all_kinds
// CHECK: %[[C:.*]] = tk.constant
// CHECK: %[[A:.*]] = tk.fusion "exp"(%arg0)
// CHECK: return %[[A]], %[[A]], %arg0, %[[C]]
func.func @outputs_of_all_kinds(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>) {
  %c = tk.constant dense<2.0> : tensor<f32>
  %0 = tk.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %0, %x, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>
}

// A consumer outside of the group: the convolution's result is needed by two that never meet.
// CHECK-LABEL: func.func @two_consumers
// CHECK: %[[C:.*]] = tk.fusion "conv"
// CHECK-DAG: tk.fusion "exp"(%[[C]])
// CHECK-DAG: tk.fusion "tanh"(%[[C]])
// CHECK-NOT: tk.fusion
func.func @two_consumers(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>) -> (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) {
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %1 = tk.exp %0 : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %2 = tk.tanh %0 : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  return %1, %2 : tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>
}

// A way around through something that cannot be fused: exp -> cumsum -> add beside exp -> neg -> add. Fusing exp with
// the addition would make a group that waits for itself.
// CHECK-LABEL: func.func @cycle_through_library_call
// CHECK: %[[E:.*]] = tk.fusion "exp"(%arg0)
// CHECK: %[[S:.*]] = tk.cumsum %[[E]]
// CHECK: tk.fusion "neg_add"(%[[E]], %[[S]])
// CHECK-NOT: tk.fusion
func.func @cycle_through_library_call(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tk.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tk.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tk.cumsum %0 {axis = 0 : i64, exclusive = false, reverse = false} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = tk.add %1, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// The same through a second anchor.
// CHECK-LABEL: func.func @cycle_through_anchor
// CHECK: %[[A:.*]] = tk.fusion "matmul_exp"(%arg0, %arg1)
// CHECK: tk.fusion "matmul_add"(%[[A]], %arg1)
// CHECK-NOT: tk.fusion
func.func @cycle_through_anchor(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = tk.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = tk.exp %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = tk.matmul %1, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = tk.add %2, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// An anchor's result that the next operator reads transposed, or broadcast over other axes, never becomes an epilogue
// on the accumulators.
// CHECK-LABEL: func.func @transposed_residual
// CHECK: %[[A:.*]] = tk.fusion "matmul"(%arg0, %arg1)
// CHECK: tk.fusion "transpose_add"(%[[A]])
// CHECK-NOT: tk.fusion
func.func @transposed_residual(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = tk.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = tk.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = tk.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @broadcast_gate
// CHECK: %[[G:.*]] = tk.fusion "conv_tanh"
// CHECK: tk.fusion "mul"(%arg2, %[[G]])
// CHECK-NOT: tk.fusion
func.func @broadcast_gate(%s: tensor<1x4x1x1xf32>, %w: tensor<4x4x1x1xf32>, %x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %0 = tk.conv %s, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x1x1xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x1x1xf32>
  %1 = tk.tanh %0 : (tensor<1x4x1x1xf32>) -> tensor<1x4x1x1xf32>
  %2 = tk.mul %x, %1 : (tensor<1x4x8x8xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  return %2 : tensor<1x4x8x8xf32>
}

// A broadcast residual is fine: the anchor's own result is read in place.
// CHECK-LABEL: func.func @broadcast_residual
// CHECK: tk.fusion "matmul_add"
// CHECK-NOT: tk.fusion
func.func @broadcast_residual(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %r: tensor<4x1xf32>) -> tensor<4x4xf32> {
  %0 = tk.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = tk.add %0, %r : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// Values used in a region of control flow leave their group; regions are partitioned on their own.
// CHECK-LABEL: func.func @regions
// CHECK: %[[A:.*]] = tk.fusion "exp_neg"(%arg0)
// CHECK: tk.if %arg1
// CHECK: %[[B:.*]] = tk.fusion "tanh_neg"(%[[A]])
// CHECK: tk.yield %[[B]]
// CHECK: else
// CHECK: tk.yield %[[A]]
func.func @regions(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %0 = tk.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tk.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tk.if %c {
    %3 = tk.tanh %1 : (tensor<4xf32>) -> tensor<4xf32>
    %4 = tk.neg %3 : (tensor<4xf32>) -> tensor<4xf32>
    tk.yield %4 : tensor<4xf32>
  } else {
    tk.yield %1 : tensor<4xf32>
  } : (tensor<i1>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// Rank 0, zero extents and unit extents are no exceptions.
// CHECK-LABEL: func.func @odd_shapes
// CHECK: tk.fusion "exp_neg"(%arg0) {
// CHECK: tk.fusion "exp_neg"(%arg1) {
// CHECK: tk.fusion "exp_reduce"(%arg2) {
// CHECK-NOT: tk.fusion
func.func @odd_shapes(%s: tensor<f32>, %z: tensor<0x3xf32>, %u: tensor<1x1xf32>) -> (tensor<f32>, tensor<0x3xf32>, tensor<1xf32>) {
  %0 = tk.exp %s : (tensor<f32>) -> tensor<f32>
  %1 = tk.neg %0 : (tensor<f32>) -> tensor<f32>
  %2 = tk.exp %z : (tensor<0x3xf32>) -> tensor<0x3xf32>
  %3 = tk.neg %2 : (tensor<0x3xf32>) -> tensor<0x3xf32>
  %4 = tk.exp %u : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %5 = tk.reduce %4 {axes = array<i64: 0>, keep_dims = false, kind = #tk.reduce_kind<max>} : (tensor<1x1xf32>) -> tensor<1xf32>
  return %1, %3, %5 : tensor<f32>, tensor<0x3xf32>, tensor<1xf32>
}
