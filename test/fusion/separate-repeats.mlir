// Beyond the baseline: what is dear to compute is computed once, where a kernel of all would compute it for
// each of the elements that it is spread over.
// RUN: tokamak-opt %s --split-input-file --partition-dominator --separate-repeats --merge-rows --outline-groups | FileCheck %s
// RUN: tokamak-opt %s --split-input-file --partition-dominator --outline-groups | FileCheck %s --check-prefix=BASELINE
// RUN: tokamak-opt %s --split-input-file --separate-repeats --outline-groups | FileCheck %s --check-prefix=GIVEN

// exp of one row, multiplied into 8192 rows: as one kernel, 8192 times as many exponentials.
// CHECK-LABEL: func.func @row
// CHECK: %[[E:.*]] = tk.fusion "exp"(%arg0)
// CHECK: tk.fusion "mul_reduce"(%[[E]], %arg1)
// BASELINE-LABEL: func.func @row
// BASELINE: tk.fusion "exp_mul_reduce"
func.func @row(%x: tensor<1x1x64xf32>, %y: tensor<256x32x64xf32>) -> tensor<256x32x1xf32> {
  %e = tk.exp %x : (tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
  %m = tk.mul %e, %y : (tensor<1x1x64xf32>, tensor<256x32x64xf32>) -> tensor<256x32x64xf32>
  %s = tk.reduce %m {kind = #tk.reduce_kind<sum>, axes = array<i64: 2>, keep_dims = true} : (tensor<256x32x64xf32>) -> tensor<256x32x1xf32>
  return %s : tensor<256x32x1xf32>
}

// -----

// What it is computed from goes along; work behind it at the larger shape stays.
// CHECK-LABEL: func.func @slice
// CHECK: %[[E:.*]] = tk.fusion "neg_exp_add"(%arg0)
// CHECK: tk.fusion "mul_tanh"(%[[E]], %arg1)
func.func @slice(%x: tensor<512xf32>, %y: tensor<4096x512xf32>) -> tensor<4096x512xf32> {
  %one = tk.constant dense<1.0> : tensor<f32>
  %n = tk.neg %x : (tensor<512xf32>) -> tensor<512xf32>
  %e = tk.exp %n : (tensor<512xf32>) -> tensor<512xf32>
  %a = tk.add %e, %one : (tensor<512xf32>, tensor<f32>) -> tensor<512xf32>
  %m = tk.mul %a, %y : (tensor<512xf32>, tensor<4096x512xf32>) -> tensor<4096x512xf32>
  %t = tk.tanh %m : (tensor<4096x512xf32>) -> tensor<4096x512xf32>
  return %t : tensor<4096x512xf32>
}

// -----

// A composite goes along as one operator.
// CHECK-LABEL: func.func @composite
// CHECK: %[[E:.*]] = tk.fusion {{.*}}(%arg0)
// CHECK: tk.composite "Sigmoid"
// CHECK: tk.fusion {{.*}}(%[[E]])
// CHECK-NOT: tk.fusion
func.func @composite(%x: tensor<2x1xf32>) -> tensor<3x401xf32> {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %s = tk.composite "Sigmoid"(%x) {
  ^bb0(%a: tensor<2x1xf32>):
    %one = tk.constant dense<1.0> : tensor<f32>
    %n = tk.neg %a : (tensor<2x1xf32>) -> tensor<2x1xf32>
    %e = tk.exp %n : (tensor<2x1xf32>) -> tensor<2x1xf32>
    %d = tk.add %e, %one : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
    %q = tk.div %one, %d : (tensor<f32>, tensor<2x1xf32>) -> tensor<2x1xf32>
    tk.yield %q : tensor<2x1xf32>
  } : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %b = tk.broadcast %s {shape = array<i64: 2, 400>} : (tensor<2x1xf32>) -> tensor<2x400xf32>
  %n = tk.neg %b : (tensor<2x400xf32>) -> tensor<2x400xf32>
  %p = tk.pad %n, %zero {low = array<i64: 0, 1>, high = array<i64: 1, 0>} : (tensor<2x400xf32>, tensor<f32>) -> tensor<3x401xf32>
  %m = tk.max %p, %zero : (tensor<3x401xf32>, tensor<f32>) -> tensor<3x401xf32>
  return %m : tensor<3x401xf32>
}

// -----

// Never: an element for each row stays in a register while the row is computed.
// CHECK-LABEL: func.func @column
// CHECK: tk.fusion "exp_mul"(%arg0, %arg1)
// CHECK-NOT: tk.fusion
func.func @column(%x: tensor<4096x1xf32>, %y: tensor<4096x512xf32>) -> tensor<4096x512xf32> {
  %e = tk.exp %x : (tensor<4096x1xf32>) -> tensor<4096x1xf32>
  %m = tk.mul %e, %y : (tensor<4096x1xf32>, tensor<4096x512xf32>) -> tensor<4096x512xf32>
  return %m : tensor<4096x512xf32>
}

// -----

// Never: what is cheap.
// CHECK-LABEL: func.func @cheap
// CHECK: tk.fusion "abs_mul"(%arg0, %arg1)
// CHECK-NOT: tk.fusion
func.func @cheap(%x: tensor<512xf32>, %y: tensor<4096x512xf32>) -> tensor<4096x512xf32> {
  %e = tk.abs %x : (tensor<512xf32>) -> tensor<512xf32>
  %m = tk.mul %e, %y : (tensor<512xf32>, tensor<4096x512xf32>) -> tensor<4096x512xf32>
  return %m : tensor<4096x512xf32>
}

// -----

// Never: so little work that another kernel costs more than it saves.
// CHECK-LABEL: func.func @small
// CHECK: tk.fusion "exp_mul"(%arg0, %arg1)
// CHECK-NOT: tk.fusion
func.func @small(%x: tensor<8xf32>, %y: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %e = tk.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %m = tk.mul %e, %y : (tensor<8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %m : tensor<2x8xf32>
}

// -----

// What others read inside the group leaves with what is computed from it: neither is repeated.
// CHECK-LABEL: func.func @read_twice
// CHECK: %[[E:.*]]:2 = tk.fusion "exp_tanh"(%arg0)
// CHECK: tk.fusion "mul_add"(%[[E]]#1, %arg1, %[[E]]#0)
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @read_twice(%x: tensor<512xf32>, %y: tensor<4096x512xf32>) -> tensor<4096x512xf32> {
  %e = tk.exp %x : (tensor<512xf32>) -> tensor<512xf32>
  %t = tk.tanh %e : (tensor<512xf32>) -> tensor<512xf32>
  %m = tk.mul %t, %y : (tensor<512xf32>, tensor<4096x512xf32>) -> tensor<4096x512xf32>
  %a = tk.add %m, %e : (tensor<4096x512xf32>, tensor<512xf32>) -> tensor<4096x512xf32>
  return %a : tensor<4096x512xf32>
}

// -----

// Two dear values share a producer, so neither leaves without the other, or it.
// CHECK-LABEL: func.func @shared_producer
// CHECK: %[[T:.*]]:2 = tk.fusion "exp_add_tanh_add_tanh"(%arg0)
// CHECK: tk.fusion "mul_x2"(%arg1, %[[T]]#0, %[[T]]#1)
// CHECK-NOT: tk.fusion
// CHECK: return
// BASELINE-LABEL: func.func @shared_producer
// BASELINE: tk.fusion "exp_add_tanh_mul_add_tanh_mul"
func.func @shared_producer(%v: tensor<1x256xf32>, %x: tensor<512x256xf32>) -> tensor<512x256xf32> {
  %zero = tk.constant dense<0.0> : tensor<1xf32>
  %tenth = tk.constant dense<0.1> : tensor<1xf32>
  %e = tk.exp %v : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %a = tk.add %e, %zero : (tensor<1x256xf32>, tensor<1xf32>) -> tensor<1x256xf32>
  %s = tk.tanh %a : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %m = tk.mul %x, %s : (tensor<512x256xf32>, tensor<1x256xf32>) -> tensor<512x256xf32>
  %b = tk.add %e, %tenth : (tensor<1x256xf32>, tensor<1xf32>) -> tensor<1x256xf32>
  %t = tk.tanh %b : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %n = tk.mul %m, %t : (tensor<512x256xf32>, tensor<1x256xf32>) -> tensor<512x256xf32>
  return %n : tensor<512x256xf32>
}

// -----

// Three that share nothing but their reader and their shape: one kernel computes them.
// CHECK-LABEL: func.func @side_by_side
// CHECK: %[[E:.*]]:3 = tk.fusion "exp_x2_tanh"(%arg0, %arg1, %arg2)
// CHECK: tk.fusion "mul_add_mul"(%arg3, %[[E]]#0, %[[E]]#1, %[[E]]#2)
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @side_by_side(%u: tensor<1x256xf32>, %v: tensor<1x256xf32>, %w: tensor<1x256xf32>, %x: tensor<512x256xf32>) -> tensor<512x256xf32> {
  %d = tk.exp %u : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %a = tk.mul %x, %d : (tensor<512x256xf32>, tensor<1x256xf32>) -> tensor<512x256xf32>
  %e = tk.exp %v : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %b = tk.add %a, %e : (tensor<512x256xf32>, tensor<1x256xf32>) -> tensor<512x256xf32>
  %f = tk.tanh %w : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %c = tk.mul %b, %f : (tensor<512x256xf32>, tensor<1x256xf32>) -> tensor<512x256xf32>
  return %c : tensor<512x256xf32>
}

// -----

// Never: what would not leave on its own, a cheap value beside a dear one.
// CHECK-LABEL: func.func @cheap_beside
// CHECK: %[[E:.*]] = tk.fusion "exp"(%arg1)
// CHECK: tk.fusion "neg_mul_add"(%arg0, %arg2, %[[E]])
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @cheap_beside(%u: tensor<1x256xf32>, %v: tensor<1x256xf32>, %x: tensor<512x256xf32>) -> tensor<512x256xf32> {
  %d = tk.neg %u : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %a = tk.mul %x, %d : (tensor<512x256xf32>, tensor<1x256xf32>) -> tensor<512x256xf32>
  %e = tk.exp %v : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %b = tk.add %a, %e : (tensor<512x256xf32>, tensor<1x256xf32>) -> tensor<512x256xf32>
  return %b : tensor<512x256xf32>
}

// -----

// Never: two of different shapes in one kernel, whose loops they could not share.
// CHECK-LABEL: func.func @two_shapes
// CHECK-DAG: tk.fusion "exp"(%arg1)
// CHECK-DAG: tk.fusion "exp"(%arg0)
// CHECK: tk.fusion "mul_add"
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @two_shapes(%u: tensor<1x1x256xf32>, %v: tensor<16x1x256xf32>, %x: tensor<16x512x256xf32>) -> tensor<16x512x256xf32> {
  %d = tk.exp %u : (tensor<1x1x256xf32>) -> tensor<1x1x256xf32>
  %a = tk.mul %x, %d : (tensor<16x512x256xf32>, tensor<1x1x256xf32>) -> tensor<16x512x256xf32>
  %e = tk.exp %v : (tensor<16x1x256xf32>) -> tensor<16x1x256xf32>
  %b = tk.add %a, %e : (tensor<16x512x256xf32>, tensor<16x1x256xf32>) -> tensor<16x512x256xf32>
  return %b : tensor<16x512x256xf32>
}

// -----

// Never: a value that is a graph output as well disappears.
// CHECK-LABEL: func.func @also_output
// CHECK: %[[E:.*]] = tk.fusion "neg_exp"(%arg0)
// CHECK: %[[M:.*]] = tk.fusion "mul"(%[[E]], %arg1)
// CHECK-NOT: tk.fusion
// CHECK: return %[[E]], %[[M]]
func.func @also_output(%x: tensor<512xf32>, %y: tensor<4096x512xf32>) -> (tensor<512xf32>, tensor<4096x512xf32>) {
  %n = tk.neg %x : (tensor<512xf32>) -> tensor<512xf32>
  %e = tk.exp %n : (tensor<512xf32>) -> tensor<512xf32>
  %m = tk.mul %e, %y : (tensor<512xf32>, tensor<4096x512xf32>) -> tensor<4096x512xf32>
  return %e, %m : tensor<512xf32>, tensor<4096x512xf32>
}

// -----

// Never: nor one that a region reads.
// CHECK-LABEL: func.func @read_in_a_region
// CHECK: %[[E:.*]] = tk.fusion "exp"(%arg0)
// CHECK: %[[M:.*]] = tk.fusion "mul"(%[[E]], %arg1)
// CHECK: tk.if
// CHECK: tk.fusion "tanh"(%[[E]])
// CHECK: return %[[M]]
func.func @read_in_a_region(%x: tensor<512xf32>, %y: tensor<4096x512xf32>, %c: tensor<i1>) -> (tensor<4096x512xf32>, tensor<512xf32>) {
  %e = tk.exp %x : (tensor<512xf32>) -> tensor<512xf32>
  %m = tk.mul %e, %y : (tensor<512xf32>, tensor<4096x512xf32>) -> tensor<4096x512xf32>
  %r = tk.if %c {
    %d = tk.tanh %e : (tensor<512xf32>) -> tensor<512xf32>
    tk.yield %d : tensor<512xf32>
  } else {
    tk.yield %x : tensor<512xf32>
  } : (tensor<i1>) -> tensor<512xf32>
  return %m, %r : tensor<4096x512xf32>, tensor<512xf32>
}

// -----

// Never: a group of two results is given, one of them inside of what would leave. Two values would have to pass
// from kernel to kernel, so it stays whole, and both are results still.
// CHECK-LABEL: func.func @visible_inside
// CHECK: return
// GIVEN-LABEL: func.func @visible_inside
// GIVEN: %[[R:.*]]:2 = tk.fusion "tanh_exp_mul"(%arg0, %arg1)
// GIVEN-NOT: tk.fusion
// GIVEN: return %[[R]]#1, %[[R]]#0
func.func @visible_inside(%x: tensor<512xf32>, %y: tensor<4096x512xf32>) -> (tensor<4096x512xf32>, tensor<512xf32>) {
  %t = tk.tanh %x {tk.group = 0 : i64} : (tensor<512xf32>) -> tensor<512xf32>
  %e = tk.exp %t {tk.group = 0 : i64} : (tensor<512xf32>) -> tensor<512xf32>
  %m = tk.mul %e, %y {tk.group = 0 : i64} : (tensor<512xf32>, tensor<4096x512xf32>) -> tensor<4096x512xf32>
  return %m, %t : tensor<4096x512xf32>, tensor<512xf32>
}

// -----

// Never: a group that waits for itself. What is computed from the value by no kernel of ours comes between.
// CHECK-LABEL: func.func @cycle
// CHECK: %[[E:.*]] = tk.fusion "neg_exp"(%arg0)
// CHECK: %[[S:.*]] = tk.cumsum %[[E]]
// CHECK: tk.fusion "mul_add"(%[[E]], %arg1, %[[S]])
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @cycle(%x: tensor<512xf32>, %y: tensor<4096x512xf32>) -> tensor<4096x512xf32> {
  %n = tk.neg %x : (tensor<512xf32>) -> tensor<512xf32>
  %e = tk.exp %n : (tensor<512xf32>) -> tensor<512xf32>
  %m = tk.mul %e, %y : (tensor<512xf32>, tensor<4096x512xf32>) -> tensor<4096x512xf32>
  %s = tk.cumsum %e {axis = 0 : i64, exclusive = false, reverse = false} : (tensor<512xf32>) -> tensor<512xf32>
  %a = tk.add %m, %s : (tensor<4096x512xf32>, tensor<512xf32>) -> tensor<4096x512xf32>
  return %a : tensor<4096x512xf32>
}

// -----

// The same where what leaves reads the value that came another way: it runs behind that.
// CHECK-LABEL: func.func @cycle_in_front
// CHECK: %[[N:.*]] = tk.fusion "neg"(%arg0)
// CHECK: %[[S:.*]] = tk.cumsum %[[N]]
// CHECK: %[[E:.*]] = tk.fusion "exp_add"(%[[N]], %[[S]])
// CHECK: tk.fusion "mul"(%[[E]], %arg1)
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @cycle_in_front(%x: tensor<512xf32>, %y: tensor<4096x512xf32>) -> tensor<4096x512xf32> {
  %n = tk.neg %x : (tensor<512xf32>) -> tensor<512xf32>
  %s = tk.cumsum %n {axis = 0 : i64, exclusive = false, reverse = false} : (tensor<512xf32>) -> tensor<512xf32>
  %e = tk.exp %n : (tensor<512xf32>) -> tensor<512xf32>
  %t = tk.add %e, %s : (tensor<512xf32>, tensor<512xf32>) -> tensor<512xf32>
  %m = tk.mul %t, %y : (tensor<512xf32>, tensor<4096x512xf32>) -> tensor<4096x512xf32>
  return %m : tensor<4096x512xf32>
}

// -----

// Never: one element that all read stays in a register.
// CHECK-LABEL: func.func @rank_zero
// CHECK: tk.fusion "exp_mul"(%arg0, %arg1)
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @rank_zero(%x: tensor<f32>, %y: tensor<4096x512xf32>) -> tensor<4096x512xf32> {
  %e = tk.exp %x : (tensor<f32>) -> tensor<f32>
  %m = tk.mul %e, %y : (tensor<f32>, tensor<4096x512xf32>) -> tensor<4096x512xf32>
  return %m : tensor<4096x512xf32>
}

// -----

// Never: over no rows nothing is repeated.
// CHECK-LABEL: func.func @no_rows
// CHECK: tk.fusion "exp_mul"(%arg0, %arg1)
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @no_rows(%x: tensor<512xf32>, %y: tensor<0x512xf32>) -> tensor<0x512xf32> {
  %e = tk.exp %x : (tensor<512xf32>) -> tensor<512xf32>
  %m = tk.mul %e, %y : (tensor<512xf32>, tensor<0x512xf32>) -> tensor<0x512xf32>
  return %m : tensor<0x512xf32>
}

// -----

// Never: nothing that becomes larger by padding has no element to repeat.
// CHECK-LABEL: func.func @padded_nothing
// CHECK: tk.fusion "exp_pad_mul"(%arg0, %arg1)
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @padded_nothing(%x: tensor<0x512xf32>, %y: tensor<4096x512xf32>) -> tensor<4096x512xf32> {
  %one = tk.constant dense<1.0> : tensor<f32>
  %e = tk.exp %x : (tensor<0x512xf32>) -> tensor<0x512xf32>
  %p = tk.pad %e, %one {low = array<i64: 4096, 0>, high = array<i64: 0, 0>} : (tensor<0x512xf32>, tensor<f32>) -> tensor<4096x512xf32>
  %m = tk.mul %p, %y : (tensor<4096x512xf32>, tensor<4096x512xf32>) -> tensor<4096x512xf32>
  return %m : tensor<4096x512xf32>
}
