// The published baseline's expected groups. A group's name lists its operators.
// RUN: tokamak-opt %s --partition-dominator --outline-groups | FileCheck %s

// An addition of a constant, exp and a squeeze are one group; the constant lives inside.
// CHECK-LABEL: func.func @elementwise_chain
// CHECK-NEXT: %[[R:.*]] = tk.fusion "add_exp_reshape"(%arg0)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tk.constant dense<1.0
// CHECK-NOT: tk.fusion
// CHECK: return %[[R]]
func.func @elementwise_chain(%x: tensor<4x1xf32>) -> tensor<4xf32> {
  %c = tk.constant dense<1.0> : tensor<f32>
  %0 = tk.add %x, %c : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %1 = tk.exp %0 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %2 = tk.reshape %1 {shape = array<i64: 4>} : (tensor<4x1xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// A pool is an anchor and is read at other places than it writes; upsampling goes into the concatenation, which the
// addition behind has absorbed.
// CHECK-LABEL: func.func @pool_upsample_concat
// CHECK: %[[POOL:.*]] = tk.fusion "window"(%arg0)
// CHECK: %[[R:.*]] = tk.fusion "gather_x2_concat_add"(%[[POOL]]
// CHECK-NOT: tk.fusion
// CHECK: return %[[R]]
func.func @pool_upsample_concat(%x: tensor<1x2x4x4xf32>) -> tensor<1x4x4x4xf32> {
  %twice = tk.constant dense<[0, 0, 1, 1]> : tensor<4xi64>
  %one = tk.constant dense<1.0> : tensor<f32>
  %p = tk.window %x {kind = #tk.reduce_kind<max>, kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %r = tk.gather %p, %twice {axis = 2 : i64} : (tensor<1x2x2x2xf32>, tensor<4xi64>) -> tensor<1x2x4x2xf32>
  %u = tk.gather %r, %twice {axis = 3 : i64} : (tensor<1x2x4x2xf32>, tensor<4xi64>) -> tensor<1x2x4x4xf32>
  %c = tk.concat %u, %x {axis = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x4x4x4xf32>
  %y = tk.add %c, %one : (tensor<1x4x4x4xf32>, tensor<f32>) -> tensor<1x4x4x4xf32>
  return %y : tensor<1x4x4x4xf32>
}

// A gate cell: the product alone, all the elementwise work and the slices together.
// CHECK-LABEL: func.func @gate_cell
// CHECK: %[[P:.*]] = tk.fusion "matmul"(%arg0, %arg1)
// CHECK: %[[R:.*]] = tk.fusion "slice_x3_sigmoid_tanh_exp_mul_add"(%[[P]])
// CHECK-NOT: tk.fusion
// CHECK: return %[[R]]
func.func @gate_cell(%x: tensor<2x8xf32>, %w: tensor<8x12xf32>) -> tensor<2x4xf32> {
  %p = tk.matmul %x, %w : (tensor<2x8xf32>, tensor<8x12xf32>) -> tensor<2x12xf32>
  %a = tk.slice %p {starts = array<i64: 0, 0>, sizes = array<i64: 2, 4>, steps = array<i64: 1, 1>} : (tensor<2x12xf32>) -> tensor<2x4xf32>
  %b = tk.slice %p {starts = array<i64: 0, 4>, sizes = array<i64: 2, 4>, steps = array<i64: 1, 1>} : (tensor<2x12xf32>) -> tensor<2x4xf32>
  %c = tk.slice %p {starts = array<i64: 0, 8>, sizes = array<i64: 2, 4>, steps = array<i64: 1, 1>} : (tensor<2x12xf32>) -> tensor<2x4xf32>
  %s = tk.composite "Sigmoid"(%a) {
  ^bb0(%i: tensor<2x4xf32>):
    %one = tk.constant dense<1.0> : tensor<f32>
    %n = tk.neg %i : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %e = tk.exp %n : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %d = tk.add %e, %one : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    %q = tk.div %one, %d : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    tk.yield %q : tensor<2x4xf32>
  } : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %t = tk.tanh %b : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %e = tk.exp %c : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %m = tk.mul %t, %e : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = tk.add %s, %m : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// A squeeze fans out into three branches that meet in a concatenation with more work behind: one group.
// CHECK-LABEL: func.func @fan_concat
// CHECK: %[[R:.*]] = tk.fusion "reshape_add_reshape_add_x3_slice_reshape_concat_reshape_add"(%arg0)
// CHECK-NOT: tk.fusion
// CHECK: return %[[R]]
func.func @fan_concat(%x: tensor<1x8x1xf32>) -> tensor<24xf32> {
  %one = tk.constant dense<1.0> : tensor<f32>
  %s = tk.reshape %x {shape = array<i64: 8, 1>} : (tensor<1x8x1xf32>) -> tensor<8x1xf32>
  %a = tk.add %s, %one : (tensor<8x1xf32>, tensor<f32>) -> tensor<8x1xf32>
  %q = tk.reshape %s {shape = array<i64: 8, 1, 1>} : (tensor<8x1xf32>) -> tensor<8x1x1xf32>
  %q2 = tk.add %q, %one : (tensor<8x1x1xf32>, tensor<f32>) -> tensor<8x1x1xf32>
  %b = tk.add %s, %q2 : (tensor<8x1xf32>, tensor<8x1x1xf32>) -> tensor<8x8x1xf32>
  %c = tk.add %s, %one : (tensor<8x1xf32>, tensor<f32>) -> tensor<8x1xf32>
  %row = tk.slice %b {starts = array<i64: 0, 0, 0>, sizes = array<i64: 1, 8, 1>, steps = array<i64: 1, 1, 1>} : (tensor<8x8x1xf32>) -> tensor<1x8x1xf32>
  %d = tk.reshape %row {shape = array<i64: 8, 1>} : (tensor<1x8x1xf32>) -> tensor<8x1xf32>
  %t = tk.concat %a, %d, %c {axis = 1 : i64} : (tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x1xf32>) -> tensor<8x3xf32>
  %u = tk.reshape %t {shape = array<i64: 24>} : (tensor<8x3xf32>) -> tensor<24xf32>
  %y = tk.add %u, %one : (tensor<24xf32>, tensor<f32>) -> tensor<24xf32>
  return %y : tensor<24xf32>
}

// Inception-like: four groups of a convolution and its relu; the concatenations alone. Equal groups have equal names.
// CHECK-LABEL: func.func @inception
// CHECK-DAG: %[[A:.*]] = tk.fusion "conv_relu"(%arg0, %arg1)
// CHECK-DAG: %[[B:.*]] = tk.fusion "conv_relu"(%arg0, %arg1)
// CHECK: %[[AB:.*]] = tk.fusion "concat"(%[[A]], %[[B]])
// CHECK: %[[C:.*]] = tk.fusion "conv_relu"(%[[AB]], %arg2)
// CHECK: %[[D:.*]] = tk.fusion "conv_relu"(%[[AB]], %arg2)
// CHECK: %[[CD:.*]] = tk.fusion "concat"(%[[C]], %[[D]])
// CHECK-NOT: tk.fusion
// CHECK: return %[[CD]]
func.func @inception(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x3x3xf32>, %v: tensor<4x8x3x3xf32>) -> tensor<1x8x8x8xf32> {
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32>
  %1 = tk.composite "Relu"(%0) {
  ^bb0(%i: tensor<1x4x8x8xf32>):
    %zero = tk.constant dense<0.0> : tensor<f32>
    %m = tk.max %i, %zero : (tensor<1x4x8x8xf32>, tensor<f32>) -> tensor<1x4x8x8xf32>
    tk.yield %m : tensor<1x4x8x8xf32>
  } : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %2 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32>
  %3 = tk.composite "Relu"(%2) {
  ^bb0(%i: tensor<1x4x8x8xf32>):
    %zero = tk.constant dense<0.0> : tensor<f32>
    %m = tk.max %i, %zero : (tensor<1x4x8x8xf32>, tensor<f32>) -> tensor<1x4x8x8xf32>
    tk.yield %m : tensor<1x4x8x8xf32>
  } : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %4 = tk.concat %1, %3 {axis = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x8x8x8xf32>
  %5 = tk.conv %4, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x8x8x8xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x8x8xf32>
  %6 = tk.composite "Relu"(%5) {
  ^bb0(%i: tensor<1x4x8x8xf32>):
    %zero = tk.constant dense<0.0> : tensor<f32>
    %m = tk.max %i, %zero : (tensor<1x4x8x8xf32>, tensor<f32>) -> tensor<1x4x8x8xf32>
    tk.yield %m : tensor<1x4x8x8xf32>
  } : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %7 = tk.conv %4, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x8x8x8xf32>, tensor<4x8x3x3xf32>) -> tensor<1x4x8x8xf32>
  %8 = tk.composite "Relu"(%7) {
  ^bb0(%i: tensor<1x4x8x8xf32>):
    %zero = tk.constant dense<0.0> : tensor<f32>
    %m = tk.max %i, %zero : (tensor<1x4x8x8xf32>, tensor<f32>) -> tensor<1x4x8x8xf32>
    tk.yield %m : tensor<1x4x8x8xf32>
  } : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %9 = tk.concat %6, %8 {axis = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x8x8x8xf32>
  return %9 : tensor<1x8x8x8xf32>
}

// An elementwise producer with injective work on parallel ways to an elementwise sink.
// CHECK-LABEL: func.func @parallel_injective
// CHECK: %[[R:.*]] = tk.fusion "add_reshape_transpose_x2_reshape_shift_left"(%arg0)
// CHECK-NOT: tk.fusion
// CHECK: return %[[R]]
func.func @parallel_injective(%x: tensor<1x8x4xi32>) -> tensor<8x4xi32> {
  %one = tk.constant dense<1> : tensor<i32>
  %0 = tk.add %x, %one : (tensor<1x8x4xi32>, tensor<i32>) -> tensor<1x8x4xi32>
  %1 = tk.reshape %0 {shape = array<i64: 8, 4>} : (tensor<1x8x4xi32>) -> tensor<8x4xi32>
  %2 = tk.transpose %0 {permutation = array<i64: 1, 2, 0>} : (tensor<1x8x4xi32>) -> tensor<8x4x1xi32>
  %3 = tk.transpose %2 {permutation = array<i64: 2, 0, 1>} : (tensor<8x4x1xi32>) -> tensor<1x8x4xi32>
  %4 = tk.reshape %3 {shape = array<i64: 8, 4>} : (tensor<1x8x4xi32>) -> tensor<8x4xi32>
  %5 = tk.shift_left %1, %4 : (tensor<8x4xi32>, tensor<8x4xi32>) -> tensor<8x4xi32>
  return %5 : tensor<8x4xi32>
}

// A softmax that is one node is an anchor that elementwise work follows.
// CHECK-LABEL: func.func @softmax_cast
// CHECK: %[[R:.*]] = tk.fusion "softmax_cast"(%arg0)
// CHECK-NOT: tk.fusion
// CHECK: return %[[R]]
func.func @softmax_cast(%x: tensor<4x16xf32>) -> tensor<4x16xf16> {
  %0 = tk.composite "Softmax"(%x) {
  ^bb0(%i: tensor<4x16xf32>):
    %m = tk.reduce %i {axes = array<i64: 1>, keep_dims = true, kind = #tk.reduce_kind<max>} : (tensor<4x16xf32>) -> tensor<4x1xf32>
    %d = tk.sub %i, %m : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
    %e = tk.exp %d : (tensor<4x16xf32>) -> tensor<4x16xf32>
    %s = tk.reduce %e {axes = array<i64: 1>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (tensor<4x16xf32>) -> tensor<4x1xf32>
    %q = tk.div %e, %s : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
    tk.yield %q : tensor<4x16xf32>
  } : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %1 = tk.cast %0 {to = f16} : (tensor<4x16xf32>) -> tensor<4x16xf16>
  return %1 : tensor<4x16xf16>
}

// CHECK-LABEL: func.func @layer_norm_relu
// CHECK: %[[R:.*]] = tk.fusion "layernormalization_max"(%arg0)
// CHECK-NOT: tk.fusion
// CHECK: return %[[R]]
func.func @layer_norm_relu(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %0 = tk.composite "LayerNormalization"(%x) {
  ^bb0(%i: tensor<4x16xf32>):
    %n = tk.constant dense<0.0625> : tensor<f32>
    %s = tk.reduce %i {axes = array<i64: 1>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (tensor<4x16xf32>) -> tensor<4x1xf32>
    %m = tk.mul %s, %n : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
    %d = tk.sub %i, %m : (tensor<4x16xf32>, tensor<4x1xf32>) -> tensor<4x16xf32>
    tk.yield %d : tensor<4x16xf32>
  } : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %1 = tk.max %0, %zero : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}
