// Beyond the baseline: kernels compute cheap values that they would read, anchors included.
// RUN: tokamak-opt %s --split-input-file --partition-dominator --merge-rows --merge-outputs --recompute-producers --outline-groups | FileCheck %s

// The lecture's case, A into B and A into C, which run side by side: B and C reduce other axes, so they cannot be one
// kernel; each computes A.
// CHECK-LABEL: func.func @lecture
// CHECK-DAG: tk.fusion {{.*}}"abs_reduce"(%arg0)
// CHECK-DAG: tk.fusion {{.*}}"abs_reduce"(%arg0)
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @lecture(%x: tensor<64x64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %a = tk.abs %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = tk.reduce %a {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = false} : (tensor<64x64xf32>) -> tensor<64xf32>
  %c = tk.reduce %a {kind = #tk.reduce_kind<max>, axes = array<i64: 0>, keep_dims = false} : (tensor<64x64xf32>) -> tensor<64xf32>
  return %b, %c : tensor<64xf32>, tensor<64xf32>
}

// -----

// A scale in front of a 1x1 convolution (squeeze-excite) becomes its prologue.
// CHECK-LABEL: func.func @prologue
// CHECK: tk.fusion "mul_conv"(%arg0, %arg1
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @prologue(%x: tensor<1x32x28x28xf32>, %s: tensor<1x32x1x1xf32>) -> tensor<1x16x28x28xf32> {
  %w = tk.constant dense<0.5> : tensor<16x32x1x1xf32>
  %m = tk.mul %x, %s : (tensor<1x32x28x28xf32>, tensor<1x32x1x1xf32>) -> tensor<1x32x28x28xf32>
  %c = tk.conv %m, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x32x28x28xf32>, tensor<16x32x1x1xf32>) -> tensor<1x16x28x28xf32>
  return %c : tensor<1x16x28x28xf32>
}

// -----

// Heads are split off and transposed in front of a product: both operands are read where they lie.
// CHECK-LABEL: func.func @heads
// CHECK: tk.fusion {{.*}}(%arg0, %arg1)
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @heads(%q: tensor<128x256xf32>, %k: tensor<128x256xf32>) -> tensor<4x128x128xf32> {
  %0 = tk.reshape %q {shape = array<i64: 128, 4, 64>} : (tensor<128x256xf32>) -> tensor<128x4x64xf32>
  %1 = tk.transpose %0 {permutation = array<i64: 1, 0, 2>} : (tensor<128x4x64xf32>) -> tensor<4x128x64xf32>
  %2 = tk.reshape %k {shape = array<i64: 128, 4, 64>} : (tensor<128x256xf32>) -> tensor<128x4x64xf32>
  %3 = tk.transpose %2 {permutation = array<i64: 1, 2, 0>} : (tensor<128x4x64xf32>) -> tensor<4x64x128xf32>
  %4 = tk.matmul %1, %3 : (tensor<4x128x64xf32>, tensor<4x64x128xf32>) -> tensor<4x128x128xf32>
  return %4 : tensor<4x128x128xf32>
}

// -----

// Never: an expensive producer computed again for every element of a consumer that reuses it.
// CHECK-LABEL: func.func @expensive
// CHECK: tk.fusion "exp"
// CHECK: tk.fusion
// CHECK: tk.fusion
// CHECK: return
func.func @expensive(%x: tensor<64x1xf32>, %y: tensor<64x512xf32>, %z: tensor<512x64xf32>) -> (tensor<64x512xf32>, tensor<512x64xf32>) {
  %e = tk.exp %x : (tensor<64x1xf32>) -> tensor<64x1xf32>
  %a = tk.mul %y, %e : (tensor<64x512xf32>, tensor<64x1xf32>) -> tensor<64x512xf32>
  %t = tk.transpose %e {permutation = array<i64: 1, 0>} : (tensor<64x1xf32>) -> tensor<1x64xf32>
  %b = tk.mul %z, %t : (tensor<512x64xf32>, tensor<1x64xf32>) -> tensor<512x64xf32>
  return %a, %b : tensor<64x512xf32>, tensor<512x64xf32>
}

// -----

// Never: an interior value that is a graph output as well disappears. It stays, whoever computes it too: the second
// reduction needs other rows than the first and reads a quarter of the bytes.
// CHECK-LABEL: func.func @also_output
// CHECK: %[[R:.*]]:2 = tk.fusion "cast_reduce"(%arg0)
// CHECK: %[[C:.*]] = tk.fusion "cast_reduce"(%arg0)
// CHECK-NOT: tk.fusion
// CHECK: return %[[R]]#0, %[[R]]#1, %[[C]]
func.func @also_output(%x: tensor<4096x4096xi8>) -> (tensor<4096x4096xf32>, tensor<4096xf32>, tensor<4096xf32>) {
  %a = tk.cast %x {to = f32} : (tensor<4096x4096xi8>) -> tensor<4096x4096xf32>
  %b = tk.reduce %a {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = false} : (tensor<4096x4096xf32>) -> tensor<4096xf32>
  %c = tk.reduce %a {kind = #tk.reduce_kind<max>, axes = array<i64: 0>, keep_dims = false} : (tensor<4096x4096xf32>) -> tensor<4096xf32>
  return %a, %b, %c : tensor<4096x4096xf32>, tensor<4096xf32>, tensor<4096xf32>
}

// -----

// A transposition in front of a reduction is read in place, rather than stored by the kernel before it: a quarter fewer
// bytes than with one more result there.
// CHECK-LABEL: func.func @transposed_for_a_reduction
// CHECK: %[[A:.*]] = tk.fusion "abs"(%arg0)
// CHECK: tk.fusion "transpose_reduce_broadcast"(%[[A]])
// CHECK-NOT: tk.fusion
// CHECK: return %[[A]]
func.func @transposed_for_a_reduction(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64xf32>) {
  %a = tk.abs %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %t = tk.transpose %a {permutation = array<i64: 1, 0>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = tk.reduce %t {kind = #tk.reduce_kind<max>, axes = array<i64: 0, 1>, keep_dims = false} : (tensor<64x64xf32>) -> tensor<f32>
  %d = tk.broadcast %c {shape = array<i64: 64>} : (tensor<f32>) -> tensor<64xf32>
  return %a, %d : tensor<64x64xf32>, tensor<64xf32>
}

// -----

// Beyond the caches, moving a value takes longer than computing it twice: what is cheap is computed in each reader, ...
// CHECK-LABEL: func.func @cheap_beyond_the_caches
// CHECK: tk.fusion "abs_mul"(%arg0, %arg1)
// CHECK: tk.fusion "abs_mul"(%arg0, %arg2)
// CHECK-NOT: tk.fusion
func.func @cheap_beyond_the_caches(%x: tensor<1x8388608xf32>, %y: tensor<2x8388608xf32>, %z: tensor<3x8388608xf32>) -> (tensor<2x8388608xf32>, tensor<3x8388608xf32>) {
  %e = tk.abs %x : (tensor<1x8388608xf32>) -> tensor<1x8388608xf32>
  %a = tk.mul %y, %e : (tensor<2x8388608xf32>, tensor<1x8388608xf32>) -> tensor<2x8388608xf32>
  %b = tk.mul %z, %e : (tensor<3x8388608xf32>, tensor<1x8388608xf32>) -> tensor<3x8388608xf32>
  return %a, %b : tensor<2x8388608xf32>, tensor<3x8388608xf32>
}

// -----

// ... and what is dear is not, even there, where readers ask for an element more than once.
// CHECK-LABEL: func.func @expensive_beyond_the_caches
// CHECK: %[[E:.*]] = tk.fusion "exp"(%arg0)
// CHECK: tk.fusion "mul"(%arg1, %[[E]])
// CHECK: tk.fusion "mul"(%arg2, %[[E]])
func.func @expensive_beyond_the_caches(%x: tensor<1x8388608xf32>, %y: tensor<2x8388608xf32>, %z: tensor<3x8388608xf32>) -> (tensor<2x8388608xf32>, tensor<3x8388608xf32>) {
  %e = tk.exp %x : (tensor<1x8388608xf32>) -> tensor<1x8388608xf32>
  %a = tk.mul %y, %e : (tensor<2x8388608xf32>, tensor<1x8388608xf32>) -> tensor<2x8388608xf32>
  %b = tk.mul %z, %e : (tensor<3x8388608xf32>, tensor<1x8388608xf32>) -> tensor<3x8388608xf32>
  return %a, %b : tensor<2x8388608xf32>, tensor<3x8388608xf32>
}

// CHECK-LABEL: func.func @tanh_beyond_the_caches
// CHECK: %[[E:.*]] = tk.fusion "tanh"(%arg0)
// CHECK: tk.fusion "mul"(%arg1, %[[E]])
// CHECK: tk.fusion "mul"(%arg2, %[[E]])
func.func @tanh_beyond_the_caches(%x: tensor<1x8388608xf32>, %y: tensor<2x8388608xf32>, %z: tensor<3x8388608xf32>) -> (tensor<2x8388608xf32>, tensor<3x8388608xf32>) {
  %e = tk.tanh %x : (tensor<1x8388608xf32>) -> tensor<1x8388608xf32>
  %a = tk.mul %y, %e : (tensor<2x8388608xf32>, tensor<1x8388608xf32>) -> tensor<2x8388608xf32>
  %b = tk.mul %z, %e : (tensor<3x8388608xf32>, tensor<1x8388608xf32>) -> tensor<3x8388608xf32>
  return %a, %b : tensor<2x8388608xf32>, tensor<3x8388608xf32>
}

// CHECK-LABEL: func.func @erf_beyond_the_caches
// CHECK: %[[E:.*]] = tk.fusion "erf"(%arg0)
// CHECK: tk.fusion "mul"(%arg1, %[[E]])
// CHECK: tk.fusion "mul"(%arg2, %[[E]])
func.func @erf_beyond_the_caches(%x: tensor<1x8388608xf32>, %y: tensor<2x8388608xf32>, %z: tensor<3x8388608xf32>) -> (tensor<2x8388608xf32>, tensor<3x8388608xf32>) {
  %e = tk.erf %x : (tensor<1x8388608xf32>) -> tensor<1x8388608xf32>
  %a = tk.mul %y, %e : (tensor<2x8388608xf32>, tensor<1x8388608xf32>) -> tensor<2x8388608xf32>
  %b = tk.mul %z, %e : (tensor<3x8388608xf32>, tensor<1x8388608xf32>) -> tensor<3x8388608xf32>
  return %a, %b : tensor<2x8388608xf32>, tensor<3x8388608xf32>
}

// CHECK-LABEL: func.func @sqrt_beyond_the_caches
// CHECK: %[[E:.*]] = tk.fusion "sqrt"(%arg0)
// CHECK: tk.fusion "mul"(%arg1, %[[E]])
// CHECK: tk.fusion "mul"(%arg2, %[[E]])
func.func @sqrt_beyond_the_caches(%x: tensor<1x8388608xf32>, %y: tensor<2x8388608xf32>, %z: tensor<3x8388608xf32>) -> (tensor<2x8388608xf32>, tensor<3x8388608xf32>) {
  %e = tk.sqrt %x : (tensor<1x8388608xf32>) -> tensor<1x8388608xf32>
  %a = tk.mul %y, %e : (tensor<2x8388608xf32>, tensor<1x8388608xf32>) -> tensor<2x8388608xf32>
  %b = tk.mul %z, %e : (tensor<3x8388608xf32>, tensor<1x8388608xf32>) -> tensor<3x8388608xf32>
  return %a, %b : tensor<2x8388608xf32>, tensor<3x8388608xf32>
}

// CHECK-LABEL: func.func @div_beyond_the_caches
// CHECK: %[[E:.*]] = tk.fusion "div"(%arg0, %arg3)
// CHECK: tk.fusion "mul"(%arg1, %[[E]])
// CHECK: tk.fusion "mul"(%arg2, %[[E]])
func.func @div_beyond_the_caches(%x: tensor<1x8388608xf32>, %y: tensor<2x8388608xf32>, %z: tensor<3x8388608xf32>, %d: tensor<1x8388608xf32>) -> (tensor<2x8388608xf32>, tensor<3x8388608xf32>) {
  %e = tk.div %x, %d : (tensor<1x8388608xf32>, tensor<1x8388608xf32>) -> tensor<1x8388608xf32>
  %a = tk.mul %y, %e : (tensor<2x8388608xf32>, tensor<1x8388608xf32>) -> tensor<2x8388608xf32>
  %b = tk.mul %z, %e : (tensor<3x8388608xf32>, tensor<1x8388608xf32>) -> tensor<3x8388608xf32>
  return %a, %b : tensor<2x8388608xf32>, tensor<3x8388608xf32>
}

// -----

// An anchor is never computed again.
// CHECK-LABEL: func.func @anchor
// CHECK-COUNT-1: tk.matmul
// CHECK-NOT: tk.matmul
func.func @anchor(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %a = tk.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = tk.reduce %a {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = false} : (tensor<64x64xf32>) -> tensor<64xf32>
  %c = tk.reduce %a {kind = #tk.reduce_kind<max>, axes = array<i64: 0>, keep_dims = false} : (tensor<64x64xf32>) -> tensor<64xf32>
  return %b, %c : tensor<64xf32>, tensor<64xf32>
}

// -----

// Not where the convolution goes by minimal filtering, which reads its input in memory.
// CHECK-LABEL: func.func @filtered
// CHECK: tk.fusion "mul"(%arg0, %arg1
// CHECK: tk.fusion "conv"
func.func @filtered(%x: tensor<1x32x28x28xf32>, %s: tensor<1x32x1x1xf32>) -> tensor<1x16x28x28xf32> {
  %w = tk.constant dense<0.5> : tensor<16x32x3x3xf32>
  %m = tk.mul %x, %s : (tensor<1x32x28x28xf32>, tensor<1x32x1x1xf32>) -> tensor<1x32x28x28xf32>
  %c = tk.conv %m, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64, winograd = 4 : i64} : (tensor<1x32x28x28xf32>, tensor<16x32x3x3xf32>) -> tensor<1x16x28x28xf32>
  return %c : tensor<1x16x28x28xf32>
}

// -----

// A kernel that is too small for more than one thread needs no tasks, so it may read columns side by side.
// CHECK-LABEL: func.func @one_thread
// CHECK-COUNT-1: tk.fusion
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @one_thread(%x: tensor<88x88xf32>) -> tensor<88x88xf32> {
  %0 = tk.transpose %x {permutation = array<i64: 1, 0>} : (tensor<88x88xf32>) -> tensor<88x88xf32>
  %1 = tk.reduce %0 {kind = #tk.reduce_kind<max>, axes = array<i64: 1>, keep_dims = true} : (tensor<88x88xf32>) -> tensor<88x1xf32>
  %2 = tk.sub %0, %1 : (tensor<88x88xf32>, tensor<88x1xf32>) -> tensor<88x88xf32>
  %3 = tk.exp %2 : (tensor<88x88xf32>) -> tensor<88x88xf32>
  %4 = tk.reduce %3 {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<88x88xf32>) -> tensor<88x1xf32>
  %5 = tk.div %3, %4 : (tensor<88x88xf32>, tensor<88x1xf32>) -> tensor<88x88xf32>
  return %5 : tensor<88x88xf32>
}
