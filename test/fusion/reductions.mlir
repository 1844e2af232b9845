// Reductions as exporters write them, in primitive pieces: each becomes one kernel.
// RUN: tokamak-opt %s --split-input-file --pass-pipeline='builtin.module(tokamak-pipeline{fusion=full})' | FileCheck %s

// Softmax.
// CHECK-LABEL: func.func @softmax
// CHECK: tk.fusion
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @softmax(%x: tensor<40x64xf32>) -> (tensor<40x64xf32>) {
  %m = tk.reduce %x {kind = #tk.reduce_kind<max>, axes = array<i64: 1>, keep_dims = true} : (tensor<40x64xf32>) -> tensor<40x1xf32>
  %d = tk.sub %x, %m : (tensor<40x64xf32>, tensor<40x1xf32>) -> tensor<40x64xf32>
  %x1 = tk.exp %d : (tensor<40x64xf32>) -> tensor<40x64xf32>
  %s = tk.reduce %x1 {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<40x64xf32>) -> tensor<40x1xf32>
  %r = tk.div %x1, %s : (tensor<40x64xf32>, tensor<40x1xf32>) -> tensor<40x64xf32>
  return %r : tensor<40x64xf32>
}

// -----

// Log-softmax.
// CHECK-LABEL: func.func @log_softmax
// CHECK: tk.fusion
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @log_softmax(%x: tensor<40x64xf32>) -> (tensor<40x64xf32>) {
  %m = tk.reduce %x {kind = #tk.reduce_kind<max>, axes = array<i64: 1>, keep_dims = true} : (tensor<40x64xf32>) -> tensor<40x1xf32>
  %d = tk.sub %x, %m : (tensor<40x64xf32>, tensor<40x1xf32>) -> tensor<40x64xf32>
  %x1 = tk.exp %d : (tensor<40x64xf32>) -> tensor<40x64xf32>
  %s = tk.reduce %x1 {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<40x64xf32>) -> tensor<40x1xf32>
  %l = tk.log %s : (tensor<40x1xf32>) -> tensor<40x1xf32>
  %r = tk.sub %d, %l : (tensor<40x64xf32>, tensor<40x1xf32>) -> tensor<40x64xf32>
  return %r : tensor<40x64xf32>
}

// -----

// Attention scores: scale and mask in front of the softmax.
// CHECK-LABEL: func.func @masked_softmax
// CHECK: tk.fusion
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @masked_softmax(%x: tensor<40x64xf32>, %k: tensor<1x64xf32>) -> (tensor<40x64xf32>) {
  %n = tk.constant dense<64.0> : tensor<f32>
  %e = tk.constant dense<1.0e-5> : tensor<f32>
  %a = tk.mul %x, %e : (tensor<40x64xf32>, tensor<f32>) -> tensor<40x64xf32>
  %b = tk.add %a, %k : (tensor<40x64xf32>, tensor<1x64xf32>) -> tensor<40x64xf32>
  %m = tk.reduce %b {kind = #tk.reduce_kind<max>, axes = array<i64: 1>, keep_dims = true} : (tensor<40x64xf32>) -> tensor<40x1xf32>
  %d = tk.sub %b, %m : (tensor<40x64xf32>, tensor<40x1xf32>) -> tensor<40x64xf32>
  %x1 = tk.exp %d : (tensor<40x64xf32>) -> tensor<40x64xf32>
  %s = tk.reduce %x1 {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<40x64xf32>) -> tensor<40x1xf32>
  %r = tk.div %x1, %s : (tensor<40x64xf32>, tensor<40x1xf32>) -> tensor<40x64xf32>
  return %r : tensor<40x64xf32>
}

// -----

// Layer norm with scale and shift.
// CHECK-LABEL: func.func @layer_norm
// CHECK: tk.fusion
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @layer_norm(%x: tensor<40x64xf32>, %g: tensor<64xf32>, %b: tensor<64xf32>) -> (tensor<40x64xf32>) {
  %n = tk.constant dense<64.0> : tensor<f32>
  %e = tk.constant dense<1.0e-5> : tensor<f32>
  %s = tk.reduce %x {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<40x64xf32>) -> tensor<40x1xf32>
  %m = tk.div %s, %n : (tensor<40x1xf32>, tensor<f32>) -> tensor<40x1xf32>
  %d = tk.sub %x, %m : (tensor<40x64xf32>, tensor<40x1xf32>) -> tensor<40x64xf32>
  %q = tk.mul %d, %d : (tensor<40x64xf32>, tensor<40x64xf32>) -> tensor<40x64xf32>
  %t = tk.reduce %q {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<40x64xf32>) -> tensor<40x1xf32>
  %v = tk.div %t, %n : (tensor<40x1xf32>, tensor<f32>) -> tensor<40x1xf32>
  %w = tk.add %v, %e : (tensor<40x1xf32>, tensor<f32>) -> tensor<40x1xf32>
  %u = tk.sqrt %w : (tensor<40x1xf32>) -> tensor<40x1xf32>
  %y = tk.div %d, %u : (tensor<40x64xf32>, tensor<40x1xf32>) -> tensor<40x64xf32>
  %z = tk.mul %y, %g : (tensor<40x64xf32>, tensor<64xf32>) -> tensor<40x64xf32>
  %r = tk.add %z, %b : (tensor<40x64xf32>, tensor<64xf32>) -> tensor<40x64xf32>
  return %r : tensor<40x64xf32>
}

// -----

// A residual addition in front, whose value the next block needs as well: two results.
// CHECK-LABEL: func.func @residual_layer_norm
// CHECK: tk.fusion
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @residual_layer_norm(%x: tensor<40x64xf32>, %h: tensor<40x64xf32>) -> (tensor<40x64xf32>, tensor<40x64xf32>) {
  %n = tk.constant dense<64.0> : tensor<f32>
  %e = tk.constant dense<1.0e-5> : tensor<f32>
  %a = tk.add %x, %h : (tensor<40x64xf32>, tensor<40x64xf32>) -> tensor<40x64xf32>
  %s = tk.reduce %a {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<40x64xf32>) -> tensor<40x1xf32>
  %m = tk.div %s, %n : (tensor<40x1xf32>, tensor<f32>) -> tensor<40x1xf32>
  %d = tk.sub %a, %m : (tensor<40x64xf32>, tensor<40x1xf32>) -> tensor<40x64xf32>
  %q = tk.mul %d, %d : (tensor<40x64xf32>, tensor<40x64xf32>) -> tensor<40x64xf32>
  %t = tk.reduce %q {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<40x64xf32>) -> tensor<40x1xf32>
  %v = tk.div %t, %n : (tensor<40x1xf32>, tensor<f32>) -> tensor<40x1xf32>
  %w = tk.add %v, %e : (tensor<40x1xf32>, tensor<f32>) -> tensor<40x1xf32>
  %u = tk.sqrt %w : (tensor<40x1xf32>) -> tensor<40x1xf32>
  %y = tk.div %d, %u : (tensor<40x64xf32>, tensor<40x1xf32>) -> tensor<40x64xf32>
  return %y, %a : tensor<40x64xf32>, tensor<40x64xf32>
}

// -----

// RMS norm.
// CHECK-LABEL: func.func @rms_norm
// CHECK: tk.fusion
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @rms_norm(%x: tensor<40x64xf32>, %g: tensor<64xf32>) -> (tensor<40x64xf32>) {
  %n = tk.constant dense<64.0> : tensor<f32>
  %e = tk.constant dense<1.0e-5> : tensor<f32>
  %q = tk.mul %x, %x : (tensor<40x64xf32>, tensor<40x64xf32>) -> tensor<40x64xf32>
  %t = tk.reduce %q {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<40x64xf32>) -> tensor<40x1xf32>
  %v = tk.div %t, %n : (tensor<40x1xf32>, tensor<f32>) -> tensor<40x1xf32>
  %w = tk.add %v, %e : (tensor<40x1xf32>, tensor<f32>) -> tensor<40x1xf32>
  %u = tk.sqrt %w : (tensor<40x1xf32>) -> tensor<40x1xf32>
  %y = tk.div %x, %u : (tensor<40x64xf32>, tensor<40x1xf32>) -> tensor<40x64xf32>
  %r = tk.mul %y, %g : (tensor<40x64xf32>, tensor<64xf32>) -> tensor<40x64xf32>
  return %r : tensor<40x64xf32>
}

// -----

// L2 normalisation.
// CHECK-LABEL: func.func @l2_norm
// CHECK: tk.fusion
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @l2_norm(%x: tensor<40x64xf32>) -> (tensor<40x64xf32>) {
  %n = tk.constant dense<64.0> : tensor<f32>
  %e = tk.constant dense<1.0e-5> : tensor<f32>
  %q = tk.mul %x, %x : (tensor<40x64xf32>, tensor<40x64xf32>) -> tensor<40x64xf32>
  %t = tk.reduce %q {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<40x64xf32>) -> tensor<40x1xf32>
  %u = tk.sqrt %t : (tensor<40x1xf32>) -> tensor<40x1xf32>
  %w = tk.max %u, %e : (tensor<40x1xf32>, tensor<f32>) -> tensor<40x1xf32>
  %r = tk.div %x, %w : (tensor<40x64xf32>, tensor<40x1xf32>) -> tensor<40x64xf32>
  return %r : tensor<40x64xf32>
}

// -----

// Mean and variance, both needed.
// CHECK-LABEL: func.func @mean_and_variance
// CHECK: tk.fusion
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @mean_and_variance(%x: tensor<40x64xf32>) -> (tensor<40x1xf32>, tensor<40x1xf32>) {
  %n = tk.constant dense<64.0> : tensor<f32>
  %e = tk.constant dense<1.0e-5> : tensor<f32>
  %s = tk.reduce %x {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<40x64xf32>) -> tensor<40x1xf32>
  %m = tk.div %s, %n : (tensor<40x1xf32>, tensor<f32>) -> tensor<40x1xf32>
  %d = tk.sub %x, %m : (tensor<40x64xf32>, tensor<40x1xf32>) -> tensor<40x64xf32>
  %q = tk.mul %d, %d : (tensor<40x64xf32>, tensor<40x64xf32>) -> tensor<40x64xf32>
  %t = tk.reduce %q {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<40x64xf32>) -> tensor<40x1xf32>
  %v = tk.div %t, %n : (tensor<40x1xf32>, tensor<f32>) -> tensor<40x1xf32>
  return %m, %v : tensor<40x1xf32>, tensor<40x1xf32>
}

// -----

// Instance norm: rows are the planes.
// CHECK-LABEL: func.func @instance_norm
// CHECK: tk.fusion
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @instance_norm(%x: tensor<2x20x8x8xf32>, %g: tensor<20x1x1xf32>) -> (tensor<2x20x8x8xf32>) {
  %n = tk.constant dense<64.0> : tensor<f32>
  %e = tk.constant dense<1.0e-5> : tensor<f32>
  %s = tk.reduce %x {kind = #tk.reduce_kind<sum>, axes = array<i64: 2, 3>, keep_dims = true} : (tensor<2x20x8x8xf32>) -> tensor<2x20x1x1xf32>
  %m = tk.div %s, %n : (tensor<2x20x1x1xf32>, tensor<f32>) -> tensor<2x20x1x1xf32>
  %d = tk.sub %x, %m : (tensor<2x20x8x8xf32>, tensor<2x20x1x1xf32>) -> tensor<2x20x8x8xf32>
  %q = tk.mul %d, %d : (tensor<2x20x8x8xf32>, tensor<2x20x8x8xf32>) -> tensor<2x20x8x8xf32>
  %t = tk.reduce %q {kind = #tk.reduce_kind<sum>, axes = array<i64: 2, 3>, keep_dims = true} : (tensor<2x20x8x8xf32>) -> tensor<2x20x1x1xf32>
  %v = tk.div %t, %n : (tensor<2x20x1x1xf32>, tensor<f32>) -> tensor<2x20x1x1xf32>
  %w = tk.add %v, %e : (tensor<2x20x1x1xf32>, tensor<f32>) -> tensor<2x20x1x1xf32>
  %u = tk.sqrt %w : (tensor<2x20x1x1xf32>) -> tensor<2x20x1x1xf32>
  %y = tk.div %d, %u : (tensor<2x20x8x8xf32>, tensor<2x20x1x1xf32>) -> tensor<2x20x8x8xf32>
  %r = tk.mul %y, %g : (tensor<2x20x8x8xf32>, tensor<20x1x1xf32>) -> tensor<2x20x8x8xf32>
  return %r : tensor<2x20x8x8xf32>
}

// -----

// Group norm, reshaped to groups and back: the channels of a group are a part of an axis of the last shape.
// One kernel, a row a group.
// CHECK-LABEL: func.func @group_norm
// CHECK: tk.fusion
// CHECK-COUNT-2: tk.reduce
// CHECK: tk.reshape
// CHECK: tk.mul
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @group_norm(%x: tensor<2x20x8x8xf32>, %g: tensor<20x1x1xf32>) -> (tensor<2x20x8x8xf32>) {
  %n = tk.constant dense<64.0> : tensor<f32>
  %e = tk.constant dense<1.0e-5> : tensor<f32>
  %f = tk.reshape %x {shape = array<i64: 2, 4, 320>} : (tensor<2x20x8x8xf32>) -> tensor<2x4x320xf32>
  %s = tk.reduce %f {kind = #tk.reduce_kind<sum>, axes = array<i64: 2>, keep_dims = true} : (tensor<2x4x320xf32>) -> tensor<2x4x1xf32>
  %m = tk.div %s, %n : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
  %d = tk.sub %f, %m : (tensor<2x4x320xf32>, tensor<2x4x1xf32>) -> tensor<2x4x320xf32>
  %q = tk.mul %d, %d : (tensor<2x4x320xf32>, tensor<2x4x320xf32>) -> tensor<2x4x320xf32>
  %t = tk.reduce %q {kind = #tk.reduce_kind<sum>, axes = array<i64: 2>, keep_dims = true} : (tensor<2x4x320xf32>) -> tensor<2x4x1xf32>
  %v = tk.div %t, %n : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
  %w = tk.add %v, %e : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
  %u = tk.sqrt %w : (tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %y = tk.div %d, %u : (tensor<2x4x320xf32>, tensor<2x4x1xf32>) -> tensor<2x4x320xf32>
  %z = tk.reshape %y {shape = array<i64: 2, 20, 8, 8>} : (tensor<2x4x320xf32>) -> tensor<2x20x8x8xf32>
  %r = tk.mul %z, %g : (tensor<2x20x8x8xf32>, tensor<20x1x1xf32>) -> tensor<2x20x8x8xf32>
  return %r : tensor<2x20x8x8xf32>
}
