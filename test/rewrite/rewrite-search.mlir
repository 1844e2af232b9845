// Rewrites by cost: what is taken and what is not.
// RUN: tokamak-opt %s --rewrite-search --fold-constants --eliminate-dead-code | FileCheck %s
// RUN: not tokamak-opt %s --rewrite-search=force=enlarge 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: there is no rewrite 'enlarge' to force; there are merge-siblings, enlarge-kernels, residual-to-convolution, merge-sums

// Three projections of one value: two kernels fewer and the value read once, but that is little beside the products.
// CHECK-LABEL: func.func @projections
// CHECK-COUNT-3: tk.matmul
func.func @projections(%x: tensor<128x256xf32>) -> (tensor<256x128xf32>, tensor<256x128xf32>, tensor<256x128xf32>) {
  %wq = tk.constant dense<2.0> : tensor<256x256xf32>
  %mq = tk.matmul %x, %wq : (tensor<128x256xf32>, tensor<256x256xf32>) -> tensor<128x256xf32>
  %tq = tk.transpose %mq {permutation = array<i64: 1, 0>} : (tensor<128x256xf32>) -> tensor<256x128xf32>
  %wk = tk.constant dense<5.0> : tensor<256x256xf32>
  %mk = tk.matmul %x, %wk : (tensor<128x256xf32>, tensor<256x256xf32>) -> tensor<128x256xf32>
  %tk = tk.transpose %mk {permutation = array<i64: 1, 0>} : (tensor<128x256xf32>) -> tensor<256x128xf32>
  %wv = tk.constant dense<3.0> : tensor<256x256xf32>
  %mv = tk.matmul %x, %wv : (tensor<128x256xf32>, tensor<256x256xf32>) -> tensor<128x256xf32>
  %tv = tk.transpose %mv {permutation = array<i64: 1, 0>} : (tensor<128x256xf32>) -> tensor<256x128xf32>
  return %tq, %tk, %tv : tensor<256x128xf32>, tensor<256x128xf32>, tensor<256x128xf32>
}

// Products so small that starting them is much of their time, read by others (measured: 0.80 of the time).
// CHECK-LABEL: func.func @towers
// CHECK: tk.matmul %arg0, %{{.*}} -> tensor<1x128xf32>
// CHECK-NOT: tk.matmul %arg0
func.func @towers(%x: tensor<1x64xf32>) -> (tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>) {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %wa = tk.constant dense<2.0> : tensor<64x32xf32>
  %ma = tk.matmul %x, %wa : (tensor<1x64xf32>, tensor<64x32xf32>) -> tensor<1x32xf32>
  %ra = tk.max %ma, %zero : (tensor<1x32xf32>, tensor<f32>) -> tensor<1x32xf32>
  %va = tk.constant dense<6.0> : tensor<32x1xf32>
  %ya = tk.matmul %ra, %va : (tensor<1x32xf32>, tensor<32x1xf32>) -> tensor<1x1xf32>
  %wb = tk.constant dense<3.0> : tensor<64x32xf32>
  %mb = tk.matmul %x, %wb : (tensor<1x64xf32>, tensor<64x32xf32>) -> tensor<1x32xf32>
  %rb = tk.max %mb, %zero : (tensor<1x32xf32>, tensor<f32>) -> tensor<1x32xf32>
  %vb = tk.constant dense<7.0> : tensor<32x1xf32>
  %yb = tk.matmul %rb, %vb : (tensor<1x32xf32>, tensor<32x1xf32>) -> tensor<1x1xf32>
  %wc = tk.constant dense<4.0> : tensor<64x32xf32>
  %mc = tk.matmul %x, %wc : (tensor<1x64xf32>, tensor<64x32xf32>) -> tensor<1x32xf32>
  %rc = tk.max %mc, %zero : (tensor<1x32xf32>, tensor<f32>) -> tensor<1x32xf32>
  %vc = tk.constant dense<8.0> : tensor<32x1xf32>
  %yc = tk.matmul %rc, %vc : (tensor<1x32xf32>, tensor<32x1xf32>) -> tensor<1x1xf32>
  %wd = tk.constant dense<5.0> : tensor<64x32xf32>
  %md = tk.matmul %x, %wd : (tensor<1x64xf32>, tensor<64x32xf32>) -> tensor<1x32xf32>
  %rd = tk.max %md, %zero : (tensor<1x32xf32>, tensor<f32>) -> tensor<1x32xf32>
  %vd = tk.constant dense<9.0> : tensor<32x1xf32>
  %yd = tk.matmul %rd, %vd : (tensor<1x32xf32>, tensor<32x1xf32>) -> tensor<1x1xf32>
  return %ya, %yb, %yc, %yd : tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>
}

// Results that must stand alone in memory: what is saved in reading the input is lost in copying them out.
// CHECK-LABEL: func.func @copied_results
// CHECK-COUNT-2: tk.conv
func.func @copied_results(%x: tensor<1x8x56x56xf32>) -> (tensor<1x24x56x56xf32>, tensor<1x24x56x56xf32>) {
  %wa = tk.constant dense<2.0> : tensor<24x8x1x1xf32>
  %wb = tk.constant dense<3.0> : tensor<24x8x1x1xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x56x56xf32>, tensor<24x8x1x1xf32>) -> tensor<1x24x56x56xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x56x56xf32>, tensor<24x8x1x1xf32>) -> tensor<1x24x56x56xf32>
  return %0, %1 : tensor<1x24x56x56xf32>, tensor<1x24x56x56xf32>
}

// Other activations: one more pass over each half.
// CHECK-LABEL: func.func @other_activations
// CHECK-COUNT-2: tk.conv
func.func @other_activations(%x: tensor<1x8x56x56xf32>) -> (tensor<1x32x56x56xf32>, tensor<1x32x56x56xf32>) {
  %wa = tk.constant dense<2.0> : tensor<32x8x1x1xf32>
  %wb = tk.constant dense<3.0> : tensor<32x8x1x1xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x56x56xf32>, tensor<32x8x1x1xf32>) -> tensor<1x32x56x56xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x8x56x56xf32>, tensor<32x8x1x1xf32>) -> tensor<1x32x56x56xf32>
  %2 = tk.tanh %0 : (tensor<1x32x56x56xf32>) -> tensor<1x32x56x56xf32>
  %3 = tk.exp %1 : (tensor<1x32x56x56xf32>) -> tensor<1x32x56x56xf32>
  return %2, %3 : tensor<1x32x56x56xf32>, tensor<1x32x56x56xf32>
}

// Enlarging a 1x1 costs more than one kernel fewer saves, where the input is known to be finite as well.
// CHECK-LABEL: func.func @enlarging_does_not_pay
// CHECK: tensor<256x256x1x1xf32>) -> tensor<1x256x7x7xf32>
func.func @enlarging_does_not_pay(%x: tensor<1x256x7x7xi8>) -> (tensor<1x256x7x7xf32>) {
  %f = tk.cast %x {to = f32} : (tensor<1x256x7x7xi8>) -> tensor<1x256x7x7xf32>
  %wa = tk.constant dense<2.0> : tensor<256x256x1x1xf32>
  %wb = tk.constant dense<3.0> : tensor<256x256x3x3xf32>
  %wc = tk.constant dense<4.0> : tensor<256x256x3x3xf32>
  %zero = tk.constant dense<0.0> : tensor<f32>
  %a = tk.conv %f, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x256x7x7xf32>, tensor<256x256x1x1xf32>) -> tensor<1x256x7x7xf32> loc("one:Conv")
  %b = tk.conv %f, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x256x7x7xf32>, tensor<256x256x3x3xf32>) -> tensor<1x256x7x7xf32> loc("three:Conv")
  %c = tk.conv %b, %wc {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x256x7x7xf32>, tensor<256x256x3x3xf32>) -> tensor<1x256x7x7xf32> loc("last:Conv")
  %d = tk.add %c, %a : (tensor<1x256x7x7xf32>, tensor<1x256x7x7xf32>) -> tensor<1x256x7x7xf32> loc("sum:Add")
  %y = tk.max %d, %zero : (tensor<1x256x7x7xf32>, tensor<f32>) -> tensor<1x256x7x7xf32> loc("relu:Relu")
  return %y : tensor<1x256x7x7xf32>
}

// It does pay where the arithmetic is nothing beside starting a kernel: two steps of which the first alone costs more.
// CHECK-LABEL: func.func @enlarging_pays
// CHECK: tk.conv {{.*}} : (tensor<1x1x3x3xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x3x3xf32>
// CHECK-NOT: tk.conv
func.func @enlarging_pays(%x: tensor<1x1x3x3xi8>) -> (tensor<1x16x1x1xf32>, tensor<1x16x1x1xf32>) {
  %f = tk.cast %x {to = f32} : (tensor<1x1x3x3xi8>) -> tensor<1x1x3x3xf32>
  %wa = tk.constant dense<2.0> : tensor<16x1x1x1xf32>
  %wb = tk.constant dense<3.0> : tensor<16x1x3x3xf32>
  %0 = tk.conv %f, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x1x3x3xf32>, tensor<16x1x1x1xf32>) -> tensor<1x16x3x3xf32>
  %1 = tk.conv %f, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x1x3x3xf32>, tensor<16x1x3x3xf32>) -> tensor<1x16x3x3xf32>
  %r0 = tk.reduce %0 {axes = array<i64: 2, 3>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (tensor<1x16x3x3xf32>) -> tensor<1x16x1x1xf32>
  %r1 = tk.reduce %1 {axes = array<i64: 2, 3>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (tensor<1x16x3x3xf32>) -> tensor<1x16x1x1xf32>
  return %r0, %r1 : tensor<1x16x1x1xf32>, tensor<1x16x1x1xf32>
}

// The same with an input that may be infinite: not the same function.
// CHECK-LABEL: func.func @enlarging_may_make_nan
// CHECK-COUNT-2: tk.conv
func.func @enlarging_may_make_nan(%x: tensor<1x1x3x3xf32>) -> (tensor<1x16x1x1xf32>, tensor<1x16x1x1xf32>) {
  %wa = tk.constant dense<2.0> : tensor<16x1x1x1xf32>
  %wb = tk.constant dense<3.0> : tensor<16x1x3x3xf32>
  %0 = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x1x3x3xf32>, tensor<16x1x1x1xf32>) -> tensor<1x16x3x3xf32>
  %1 = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x1x3x3xf32>, tensor<16x1x3x3xf32>) -> tensor<1x16x3x3xf32>
  %r0 = tk.reduce %0 {axes = array<i64: 2, 3>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (tensor<1x16x3x3xf32>) -> tensor<1x16x1x1xf32>
  %r1 = tk.reduce %1 {axes = array<i64: 2, 3>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (tensor<1x16x3x3xf32>) -> tensor<1x16x1x1xf32>
  return %r0, %r1 : tensor<1x16x1x1xf32>, tensor<1x16x1x1xf32>
}
