// What fusion must never do, in the ways beyond the baseline (never.mlir has those of the baseline).
// RUN: tokamak-opt %s --split-input-file --partition-dominator --merge-rows --merge-outputs --recompute-producers --outline-groups | FileCheck %s

// Growth: ten readers of one value, all of them results. A kernel stores eight values at most.
// CHECK-LABEL: func.func @many_results
// CHECK: %{{.*}}:8 = tk.fusion
// CHECK: tk.fusion
// CHECK: return
func.func @many_results(%x: tensor<40x64xf32>) -> (tensor<40x64xf32>, tensor<40x64xf32>, tensor<40x64xf32>, tensor<40x64xf32>, tensor<40x64xf32>, tensor<40x64xf32>, tensor<40x64xf32>, tensor<40x64xf32>, tensor<40x64xf32>, tensor<40x64xf32>) {
  %a = tk.sqrt %x : (tensor<40x64xf32>) -> tensor<40x64xf32>
  %0 = tk.exp %a : (tensor<40x64xf32>) -> tensor<40x64xf32>
  %1 = tk.tanh %a : (tensor<40x64xf32>) -> tensor<40x64xf32>
  %2 = tk.log %a : (tensor<40x64xf32>) -> tensor<40x64xf32>
  %3 = tk.sin %a : (tensor<40x64xf32>) -> tensor<40x64xf32>
  %4 = tk.cos %a : (tensor<40x64xf32>) -> tensor<40x64xf32>
  %5 = tk.erf %a : (tensor<40x64xf32>) -> tensor<40x64xf32>
  %6 = tk.tan %a : (tensor<40x64xf32>) -> tensor<40x64xf32>
  %7 = tk.asin %a : (tensor<40x64xf32>) -> tensor<40x64xf32>
  %8 = tk.sinh %a : (tensor<40x64xf32>) -> tensor<40x64xf32>
  %9 = tk.cosh %a : (tensor<40x64xf32>) -> tensor<40x64xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<40x64xf32>, tensor<40x64xf32>, tensor<40x64xf32>, tensor<40x64xf32>, tensor<40x64xf32>, tensor<40x64xf32>, tensor<40x64xf32>, tensor<40x64xf32>, tensor<40x64xf32>, tensor<40x64xf32>
}

// -----

// Growth: a chain of concatenations of a value with itself in front of a product would need each element's code 64 times.
// CHECK-LABEL: func.func @doubled_in_front_of_a_product
// CHECK: tk.fusion "concat{{.*}}"
// CHECK: tk.fusion {{.*}}matmul
// CHECK: return
func.func @doubled_in_front_of_a_product(%x: tensor<16x2xf32>, %w: tensor<256x16xf32>) -> tensor<16x16xf32> {
  %0 = tk.concat %x, %x {axis = 1 : i64} : (tensor<16x2xf32>, tensor<16x2xf32>) -> tensor<16x4xf32>
  %1 = tk.concat %0, %0 {axis = 1 : i64} : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x8xf32>
  %2 = tk.concat %1, %1 {axis = 1 : i64} : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x16xf32>
  %3 = tk.concat %2, %2 {axis = 1 : i64} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x32xf32>
  %4 = tk.concat %3, %3 {axis = 1 : i64} : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x64xf32>
  %5 = tk.concat %4, %4 {axis = 1 : i64} : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x128xf32>
  %6 = tk.concat %5, %5 {axis = 1 : i64} : (tensor<16x128xf32>, tensor<16x128xf32>) -> tensor<16x256xf32>
  %7 = tk.matmul %6, %w : (tensor<16x256xf32>, tensor<256x16xf32>) -> tensor<16x16xf32>
  return %7 : tensor<16x16xf32>
}

// -----

// A value that a branch reads has a reader that no group can hold: it is stored, whoever computes it.
// CHECK-LABEL: func.func @read_in_a_region
// CHECK: %[[A:.*]]:2 = tk.fusion "abs_reduce"(%arg0)
// CHECK: tk.if
// CHECK: tk.fusion "exp"(%[[A]]#0)
// CHECK: return %[[A]]#1
func.func @read_in_a_region(%x: tensor<64x64xf32>, %c: tensor<i1>) -> (tensor<64xf32>, tensor<64x64xf32>) {
  %a = tk.abs %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = tk.reduce %a {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = false} : (tensor<64x64xf32>) -> tensor<64xf32>
  %r = tk.if %c {
    %d = tk.exp %a : (tensor<64x64xf32>) -> tensor<64x64xf32>
    tk.yield %d : tensor<64x64xf32>
  } else {
    tk.yield %x : tensor<64x64xf32>
  } : (tensor<i1>) -> tensor<64x64xf32>
  return %b, %r : tensor<64xf32>, tensor<64x64xf32>
}

// -----

// No elements, no axes, extents of one, eight axes: each way may do as it likes, but the results stay.
// CHECK-LABEL: func.func @odd_shapes
// CHECK: return %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<0x1xf32>, tensor<0x3xf32>, tensor<f32>, tensor<f32>, tensor<1x1x1x2x1x1x2x1xf32>
func.func @odd_shapes(%z: tensor<0x3xf32>, %s: tensor<f32>, %e: tensor<1x1x1x2x1x1x2x1xf32>) -> (tensor<0x1xf32>, tensor<0x3xf32>, tensor<f32>, tensor<f32>, tensor<1x1x1x2x1x1x2x1xf32>) {
  %0 = tk.abs %z : (tensor<0x3xf32>) -> tensor<0x3xf32>
  %1 = tk.reduce %0 {kind = #tk.reduce_kind<max>, axes = array<i64: 1>, keep_dims = true} : (tensor<0x3xf32>) -> tensor<0x1xf32>
  %2 = tk.sub %0, %1 : (tensor<0x3xf32>, tensor<0x1xf32>) -> tensor<0x3xf32>
  %3 = tk.abs %s : (tensor<f32>) -> tensor<f32>
  %4 = tk.neg %3 : (tensor<f32>) -> tensor<f32>
  %5 = tk.neg %e : (tensor<1x1x1x2x1x1x2x1xf32>) -> tensor<1x1x1x2x1x1x2x1xf32>
  %6 = tk.transpose %5 {permutation = array<i64: 7, 6, 5, 3, 4, 2, 1, 0>} : (tensor<1x1x1x2x1x1x2x1xf32>) -> tensor<1x2x1x2x1x1x1x1xf32>
  %7 = tk.reduce %6 {kind = #tk.reduce_kind<sum>, axes = array<i64: 0>, keep_dims = true} : (tensor<1x2x1x2x1x1x1x1xf32>) -> tensor<1x2x1x2x1x1x1x1xf32>
  %8 = tk.reshape %7 {shape = array<i64: 1, 1, 1, 2, 1, 1, 2, 1>} : (tensor<1x2x1x2x1x1x1x1xf32>) -> tensor<1x1x1x2x1x1x2x1xf32>
  return %1, %2, %3, %4, %8 : tensor<0x1xf32>, tensor<0x3xf32>, tensor<f32>, tensor<f32>, tensor<1x1x1x2x1x1x2x1xf32>
}
