// Where the published rules are read strictly.
// RUN: tokamak-opt %s --partition-dominator --outline-groups | FileCheck %s

// A convolution has merged into the relu, whose group is now an anchor: the transpose stays out.
// CHECK-LABEL: func.func @anchor_group_then_transpose
// CHECK: tk.fusion "conv_max"
// CHECK: tk.fusion "transpose"
// CHECK-NOT: tk.fusion
func.func @anchor_group_then_transpose(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>) -> tensor<1x8x8x4xf32> {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %1 = tk.max %0, %zero : (tensor<1x4x8x8xf32>, tensor<f32>) -> tensor<1x4x8x8xf32>
  %2 = tk.transpose %1 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32>
  return %2 : tensor<1x8x8x4xf32>
}

// tanh has merged into the reduction in the first phase, so the transpose finds a reduction where it may only meet
// injective groups.
// CHECK-LABEL: func.func @transpose_tanh_reduce
// CHECK: tk.fusion "transpose"
// CHECK: tk.fusion "tanh_reduce"
// CHECK-NOT: tk.fusion
func.func @transpose_tanh_reduce(%x: tensor<4x8xf32>) -> tensor<8xf32> {
  %0 = tk.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = tk.tanh %0 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = tk.reduce %1 {axes = array<i64: 1>, keep_dims = false, kind = #tk.reduce_kind<sum>} : (tensor<8x4xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// A reduction starts nothing.
// CHECK-LABEL: func.func @reduce_exp
// CHECK: tk.fusion "reduce"
// CHECK: tk.fusion "exp"
// CHECK-NOT: tk.fusion
func.func @reduce_exp(%x: tensor<4x8xf32>) -> tensor<4x1xf32> {
  %0 = tk.reduce %x {axes = array<i64: 1>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %1 = tk.exp %0 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  return %1 : tensor<4x1xf32>
}

// An elementwise producer does not enter an anchor's input, but it does enter the group that an anchor has merged into.
// CHECK-LABEL: func.func @anchor_input
// CHECK: %[[P:.*]] = tk.fusion "exp"(%arg0)
// CHECK: tk.fusion "tanh_matmul_add"(%arg2, %[[P]], %arg1)
// CHECK-NOT: tk.fusion
func.func @anchor_input(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = tk.exp %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = tk.tanh %b : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = tk.matmul %0, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = tk.add %2, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// A per-channel operand leaves an elementwise node elementwise.
// CHECK-LABEL: func.func @per_channel
// CHECK: tk.fusion "conv_mul_add"
// CHECK-NOT: tk.fusion
func.func @per_channel(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>, %s: tensor<1x4x1x1xf32>, %t: tensor<4x1x1xf32>) -> tensor<1x4x8x8xf32> {
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %1 = tk.mul %0, %s : (tensor<1x4x8x8xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %2 = tk.add %1, %t : (tensor<1x4x8x8xf32>, tensor<4x1x1xf32>) -> tensor<1x4x8x8xf32>
  return %2 : tensor<1x4x8x8xf32>
}

// An injective node between two elementwise ones comes to lie inside an anchor's group: it reads an operand at another
// index, never the anchor's result.
// CHECK-LABEL: func.func @injective_inside_anchor_group
// CHECK: tk.fusion "exp_transpose_matmul_add_x2"
// CHECK-NOT: tk.fusion
func.func @injective_inside_anchor_group(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = tk.exp %b : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = tk.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = tk.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = tk.add %2, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = tk.add %3, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// Two anchors never share a group: the addition goes to the first, the second stays alone.
// CHECK-LABEL: func.func @two_anchors
// CHECK-DAG: tk.fusion "matmul_add"
// CHECK-DAG: tk.fusion "matmul"(
// CHECK-NOT: tk.fusion
func.func @two_anchors(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %v: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = tk.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = tk.matmul %x, %v : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = tk.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// A gather is injective, a cumulative sum opaque.
// CHECK-LABEL: func.func @gather_and_cumsum
// CHECK: %[[G:.*]] = tk.fusion "gather_exp"
// CHECK: %[[S:.*]] = tk.cumsum %[[G]]
// CHECK: tk.fusion "neg"(%[[S]])
// CHECK-NOT: tk.fusion
func.func @gather_and_cumsum(%x: tensor<9x4xf32>, %i: tensor<3xi64>) -> tensor<3x4xf32> {
  %0 = tk.gather %x, %i {axis = 0 : i64} : (tensor<9x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  %1 = tk.exp %0 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %2 = tk.cumsum %1 {axis = 0 : i64, exclusive = false, reverse = false} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %3 = tk.neg %2 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return %3 : tensor<3x4xf32>
}

// A concatenation absorbs the tuple that the baseline spells in front of it, so injective fields go in, also where it
// is a graph output, ...
// CHECK-LABEL: func.func @concat_is_output
// CHECK: tk.fusion "exp_tanh_concat"
// CHECK-NOT: tk.fusion
func.func @concat_is_output(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<8xf32> {
  %0 = tk.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tk.tanh %y : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tk.concat %0, %1 {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// ... but nothing goes past it: the way around it joins only behind.
// CHECK-LABEL: func.func @around_a_concat
// CHECK: tk.fusion "exp"
// CHECK: tk.fusion "concat_slice_add"
// CHECK-NOT: tk.fusion
func.func @around_a_concat(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tk.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tk.concat %0, %y {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %2 = tk.slice %1 {starts = array<i64: 2>, sizes = array<i64: 4>, steps = array<i64: 1>} : (tensor<8xf32>) -> tensor<4xf32>
  %3 = tk.add %2, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
