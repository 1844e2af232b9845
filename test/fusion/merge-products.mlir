// Matrix products inside matrix products, and products whose columns meet in one result.
// RUN: tokamak-opt %s --split-input-file --pass-pipeline='builtin.module(tokamak-pipeline{target-cpu=x86-64-v3 target-description=%S/Inputs/small-caches.json})' | FileCheck %s
// RUN: tokamak-opt %s --split-input-file --pass-pipeline='builtin.module(tokamak-pipeline{target-cpu=x86-64-v3 target-description=%S/Inputs/small-caches.json disable=merge-anchors})' | FileCheck %s --check-prefix=OFF

// Attention is one kernel; its heads are stored side by side.
// CHECK-LABEL: func.func @attention
// CHECK-COUNT-1: tk.fusion "matmul_mul_reduce_sub_exp_reduce_div_matmul_transpose_and_1_more"
// CHECK-NOT: tk.fusion
// CHECK: return
// OFF-LABEL: func.func @attention
// OFF-COUNT-4: tk.fusion
func.func @attention(%q: tensor<1x8x256x64xf32>, %k: tensor<1x8x256x64xf32>, %v: tensor<1x8x256x64xf32>) -> tensor<1x256x512xf32> {
  %scale = tk.constant dense<0.125> : tensor<f32>
  %s = tk.matmul %q, %k {transpose_rhs = true} : (tensor<1x8x256x64xf32>, tensor<1x8x256x64xf32>) -> tensor<1x8x256x256xf32>
  %m = tk.mul %s, %scale : (tensor<1x8x256x256xf32>, tensor<f32>) -> tensor<1x8x256x256xf32>
  %max = tk.reduce %m {axes = array<i64: 3>, keep_dims = true, kind = #tk.reduce_kind<max>} : (tensor<1x8x256x256xf32>) -> tensor<1x8x256x1xf32>
  %d = tk.sub %m, %max : (tensor<1x8x256x256xf32>, tensor<1x8x256x1xf32>) -> tensor<1x8x256x256xf32>
  %e = tk.exp %d : (tensor<1x8x256x256xf32>) -> tensor<1x8x256x256xf32>
  %sum = tk.reduce %e {axes = array<i64: 3>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (tensor<1x8x256x256xf32>) -> tensor<1x8x256x1xf32>
  %p = tk.div %e, %sum : (tensor<1x8x256x256xf32>, tensor<1x8x256x1xf32>) -> tensor<1x8x256x256xf32>
  %o = tk.matmul %p, %v : (tensor<1x8x256x256xf32>, tensor<1x8x256x64xf32>) -> tensor<1x8x256x64xf32>
  %t = tk.transpose %o {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x8x256x64xf32>) -> tensor<1x256x8x64xf32>
  %r = tk.reshape %t {shape = array<i64: 1, 256, 512>} : (tensor<1x256x8x64xf32>) -> tensor<1x256x512xf32>
  return %r : tensor<1x256x512xf32>
}

// -----

// More keys than a task has room for rows of: it streams over them, and the decision says so.
// CHECK-LABEL: func.func @many_keys
// CHECK-COUNT-1: tk.fusion "matmul_add_reduce_sub_exp_reduce_div_matmul"
// CHECK-NOT: tk.fusion
// CHECK: return
// OFF-LABEL: func.func @many_keys
// OFF-COUNT-4: tk.fusion
func.func @many_keys(%q: tensor<512x64xf32>, %k: tensor<32768x64xf32>, %v: tensor<32768x64xf32>, %mask: tensor<32768xf32>) -> tensor<512x64xf32> {
  %s = tk.matmul %q, %k {transpose_rhs = true} : (tensor<512x64xf32>, tensor<32768x64xf32>) -> tensor<512x32768xf32>
  %m = tk.add %s, %mask : (tensor<512x32768xf32>, tensor<32768xf32>) -> tensor<512x32768xf32>
  %max = tk.reduce %m {axes = array<i64: 1>, keep_dims = true, kind = #tk.reduce_kind<max>} : (tensor<512x32768xf32>) -> tensor<512x1xf32>
  %d = tk.sub %m, %max : (tensor<512x32768xf32>, tensor<512x1xf32>) -> tensor<512x32768xf32>
  %e = tk.exp %d : (tensor<512x32768xf32>) -> tensor<512x32768xf32>
  %sum = tk.reduce %e {axes = array<i64: 1>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (tensor<512x32768xf32>) -> tensor<512x1xf32>
  %p = tk.div %e, %sum : (tensor<512x32768xf32>, tensor<512x1xf32>) -> tensor<512x32768xf32>
  %o = tk.matmul %p, %v : (tensor<512x32768xf32>, tensor<32768x64xf32>) -> tensor<512x64xf32>
  return %o : tensor<512x64xf32>
}

// -----

// Never: the scores are an output as well, so they have to be written.
// CHECK-LABEL: func.func @scores_are_an_output
// CHECK: tk.fusion "matmul"
// CHECK: tk.fusion
// CHECK: return
func.func @scores_are_an_output(%q: tensor<8x256x64xf32>, %k: tensor<8x256x64xf32>, %v: tensor<8x256x64xf32>) -> (tensor<8x256x64xf32>, tensor<8x256x256xf32>) {
  %s = tk.matmul %q, %k {transpose_rhs = true} : (tensor<8x256x64xf32>, tensor<8x256x64xf32>) -> tensor<8x256x256xf32>
  %max = tk.reduce %s {axes = array<i64: 2>, keep_dims = true, kind = #tk.reduce_kind<max>} : (tensor<8x256x256xf32>) -> tensor<8x256x1xf32>
  %d = tk.sub %s, %max : (tensor<8x256x256xf32>, tensor<8x256x1xf32>) -> tensor<8x256x256xf32>
  %e = tk.exp %d : (tensor<8x256x256xf32>) -> tensor<8x256x256xf32>
  %sum = tk.reduce %e {axes = array<i64: 2>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (tensor<8x256x256xf32>) -> tensor<8x256x1xf32>
  %p = tk.div %e, %sum : (tensor<8x256x256xf32>, tensor<8x256x1xf32>) -> tensor<8x256x256xf32>
  %o = tk.matmul %p, %v : (tensor<8x256x256xf32>, tensor<8x256x64xf32>) -> tensor<8x256x64xf32>
  return %o, %s : tensor<8x256x64xf32>, tensor<8x256x256xf32>
}

// -----

// Never: normalised over the queries, a row of scores needs all of them.
// CHECK-LABEL: func.func @softmax_over_queries
// CHECK: tk.fusion "matmul"
// CHECK: tk.fusion
// CHECK: return
func.func @softmax_over_queries(%q: tensor<8x256x64xf32>, %k: tensor<8x256x64xf32>, %v: tensor<8x256x64xf32>) -> tensor<8x256x64xf32> {
  %s = tk.matmul %q, %k {transpose_rhs = true} : (tensor<8x256x64xf32>, tensor<8x256x64xf32>) -> tensor<8x256x256xf32>
  %max = tk.reduce %s {axes = array<i64: 1>, keep_dims = true, kind = #tk.reduce_kind<max>} : (tensor<8x256x256xf32>) -> tensor<8x1x256xf32>
  %d = tk.sub %s, %max : (tensor<8x256x256xf32>, tensor<8x1x256xf32>) -> tensor<8x256x256xf32>
  %e = tk.exp %d : (tensor<8x256x256xf32>) -> tensor<8x256x256xf32>
  %sum = tk.reduce %e {axes = array<i64: 1>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (tensor<8x256x256xf32>) -> tensor<8x1x256xf32>
  %p = tk.div %e, %sum : (tensor<8x256x256xf32>, tensor<8x1x256xf32>) -> tensor<8x256x256xf32>
  %o = tk.matmul %p, %v : (tensor<8x256x256xf32>, tensor<8x256x64xf32>) -> tensor<8x256x64xf32>
  return %o : tensor<8x256x64xf32>
}

// -----

// Both products of a cell and its gates are one kernel, whichever way round weights are stored.
// CHECK-LABEL: func.func @cell
// CHECK-COUNT-1: tk.fusion "matmul_x2_
// CHECK-NOT: tk.fusion
// CHECK: return
// OFF-LABEL: func.func @cell
// OFF-COUNT-3: tk.fusion
func.func @cell(%x: tensor<1x128xf32>, %h: tensor<1x128xf32>) -> tensor<1x128xf32> {
  %w = tk.constant dense<0.5> : tensor<128x256xf32>
  %u = tk.constant dense<0.25> : tensor<256x128xf32>
  %xw = tk.matmul %x, %w : (tensor<1x128xf32>, tensor<128x256xf32>) -> tensor<1x256xf32>
  %hu = tk.matmul %h, %u {transpose_rhs = true} : (tensor<1x128xf32>, tensor<256x128xf32>) -> tensor<1x256xf32>
  %x0 = tk.slice %xw {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>, sizes = array<i64: 1, 128>} : (tensor<1x256xf32>) -> tensor<1x128xf32>
  %x1 = tk.slice %xw {starts = array<i64: 0, 128>, steps = array<i64: 1, 1>, sizes = array<i64: 1, 128>} : (tensor<1x256xf32>) -> tensor<1x128xf32>
  %h0 = tk.slice %hu {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>, sizes = array<i64: 1, 128>} : (tensor<1x256xf32>) -> tensor<1x128xf32>
  %h1 = tk.slice %hu {starts = array<i64: 0, 128>, steps = array<i64: 1, 1>, sizes = array<i64: 1, 128>} : (tensor<1x256xf32>) -> tensor<1x128xf32>
  %a = tk.add %x0, %h0 : (tensor<1x128xf32>, tensor<1x128xf32>) -> tensor<1x128xf32>
  %r = tk.tanh %a : (tensor<1x128xf32>) -> tensor<1x128xf32>
  %b = tk.mul %r, %h1 : (tensor<1x128xf32>, tensor<1x128xf32>) -> tensor<1x128xf32>
  %c = tk.add %x1, %b : (tensor<1x128xf32>, tensor<1x128xf32>) -> tensor<1x128xf32>
  return %c : tensor<1x128xf32>
}

// -----

// A composite need not read what it is given: the third product is no part of its kernel.
// CHECK-LABEL: func.func @unread
// CHECK: return
func.func @unread(%x: tensor<31x3x2xf32>, %a: tensor<2x8xf32>, %b: tensor<2x8xf32>, %c: tensor<2x8xf32>) -> tensor<31x3x8xf32> {
  %p = tk.matmul %x, %a : (tensor<31x3x2xf32>, tensor<2x8xf32>) -> tensor<31x3x8xf32>
  %q = tk.matmul %x, %b : (tensor<31x3x2xf32>, tensor<2x8xf32>) -> tensor<31x3x8xf32>
  %r = tk.matmul %x, %c : (tensor<31x3x2xf32>, tensor<2x8xf32>) -> tensor<31x3x8xf32>
  %s = tk.add %p, %q : (tensor<31x3x8xf32>, tensor<31x3x8xf32>) -> tensor<31x3x8xf32>
  %t = tk.composite "Least"(%s, %r) {
  ^bb0(%u: tensor<31x3x8xf32>, %v: tensor<31x3x8xf32>):
    %w = tk.min %u, %u : (tensor<31x3x8xf32>, tensor<31x3x8xf32>) -> tensor<31x3x8xf32>
    tk.yield %w : tensor<31x3x8xf32>
  } : (tensor<31x3x8xf32>, tensor<31x3x8xf32>) -> tensor<31x3x8xf32>
  return %t : tensor<31x3x8xf32>
}
