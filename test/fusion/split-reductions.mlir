// Reductions over space that ride on the convolution in front of them. Caches: 32 kB, 1 MB, 16 MB.
// RUN: tokamak-opt %s --split-input-file --pass-pipeline='builtin.module(tokamak-pipeline{target-cpu=x86-64-v3 target-description=%S/Inputs/large-caches.json disable=merge-anchors})' | FileCheck %s
// RUN: tokamak-opt %s --split-input-file --pass-pipeline='builtin.module(tokamak-pipeline{target-cpu=x86-64-v3 target-description=%S/Inputs/large-caches.json disable=merge-anchors,split-reductions})' | FileCheck %s --check-prefix=OFF

// Twelve vectors of channels are tasks enough, so each sums all rows: the mean is one more result.
// CHECK-LABEL: func.func @one_band
// CHECK: tk.fusion "conv"(%arg0
// CHECK: %[[R:.*]]:2 = tk.fusion
// CHECK: tk.conv
// CHECK: tk.window {{.*}}kernel = array<i64: 14, 14>{{.*}} -> tensor<1x96x1x1xf32>
// CHECK-NEXT: tk.mul
// CHECK-NOT: tk.fusion
// CHECK: return %[[R]]#{{.}}, %[[R]]#{{.}}
// OFF-LABEL: func.func @one_band
// OFF-COUNT-3: tk.fusion
// OFF-NOT: tk.window
// OFF: return
func.func @one_band(%x: tensor<1x96x14x14xf32>) -> (tensor<1x96x14x14xf32>, tensor<1x96x1x1xf32>) {
  %w = tk.constant dense<0.5> : tensor<96x1x3x3xf32>
  %zero = tk.constant dense<0.0> : tensor<f32>
  %n = tk.constant dense<0.005> : tensor<f32>
  %w0 = tk.constant dense<0.25> : tensor<96x96x1x1xf32>
  %c = tk.conv %x, %w0 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x96x14x14xf32>, tensor<96x96x1x1xf32>) -> tensor<1x96x14x14xf32>
  %0 = tk.conv %c, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 96 : i64} : (tensor<1x96x14x14xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x14x14xf32>
  %1 = tk.max %0, %zero : (tensor<1x96x14x14xf32>, tensor<f32>) -> tensor<1x96x14x14xf32>
  %2 = tk.reduce %1 {axes = array<i64: 2, 3>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (tensor<1x96x14x14xf32>) -> tensor<1x96x1x1xf32>
  %3 = tk.mul %2, %n : (tensor<1x96x1x1xf32>, tensor<f32>) -> tensor<1x96x1x1xf32>
  return %1, %3 : tensor<1x96x14x14xf32>, tensor<1x96x1x1xf32>
}

// -----

// Where nothing else reads the result, it is not stored at all.
// CHECK-LABEL: func.func @nobody_else_reads
// CHECK: tk.fusion "conv"(%arg0
// CHECK: tk.fusion "conv_max_window_mul"
// CHECK-NOT: tk.fusion
// CHECK: return %{{.*}} : tensor<1x96x1x1xf32>
func.func @nobody_else_reads(%x: tensor<1x96x14x14xf32>) -> tensor<1x96x1x1xf32> {
  %w = tk.constant dense<0.5> : tensor<96x1x3x3xf32>
  %zero = tk.constant dense<0.0> : tensor<f32>
  %n = tk.constant dense<0.005> : tensor<f32>
  %w0 = tk.constant dense<0.25> : tensor<96x96x1x1xf32>
  %c = tk.conv %x, %w0 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x96x14x14xf32>, tensor<96x96x1x1xf32>) -> tensor<1x96x14x14xf32>
  %0 = tk.conv %c, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 96 : i64} : (tensor<1x96x14x14xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x14x14xf32>
  %1 = tk.max %0, %zero : (tensor<1x96x14x14xf32>, tensor<f32>) -> tensor<1x96x14x14xf32>
  %2 = tk.reduce %1 {axes = array<i64: 2, 3>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (tensor<1x96x14x14xf32>) -> tensor<1x96x1x1xf32>
  %3 = tk.mul %2, %n : (tensor<1x96x1x1xf32>, tensor<f32>) -> tensor<1x96x1x1xf32>
  return %3 : tensor<1x96x1x1xf32>
}

// -----

// Two vectors of channels: bands of rows are the tasks, the last one shorter, and a reduction of them is left.
// CHECK-LABEL: func.func @several_bands
// CHECK: tk.fusion "conv"(%arg0
// CHECK: %[[R:.*]]:2 = tk.fusion
// CHECK: tk.window {{.*}}kernel = array<i64: 13, 64>{{.*}}pads_high = array<i64: 2, 0>{{.*}} -> tensor<1x16x4x1xf32>
// CHECK: tk.fusion {{.*}}(%[[R]]#
// CHECK: tk.reduce
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @several_bands(%x: tensor<1x16x50x64xf32>) -> (tensor<1x16x50x64xf32>, tensor<1x16x1x1xf32>) {
  %w = tk.constant dense<0.5> : tensor<16x1x3x3xf32>
  %zero = tk.constant dense<0.0> : tensor<f32>
  %n = tk.constant dense<0.005> : tensor<f32>
  %w0 = tk.constant dense<0.25> : tensor<16x16x1x1xf32>
  %c = tk.conv %x, %w0 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x16x50x64xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x50x64xf32>
  %0 = tk.conv %c, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 16 : i64} : (tensor<1x16x50x64xf32>, tensor<16x1x3x3xf32>) -> tensor<1x16x50x64xf32>
  %1 = tk.max %0, %zero : (tensor<1x16x50x64xf32>, tensor<f32>) -> tensor<1x16x50x64xf32>
  %2 = tk.reduce %1 {axes = array<i64: 2, 3>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (tensor<1x16x50x64xf32>) -> tensor<1x16x1x1xf32>
  return %1, %2 : tensor<1x16x50x64xf32>, tensor<1x16x1x1xf32>
}

// -----

// Never: over other axes than rows and columns.
// CHECK-LABEL: func.func @never_over_columns_alone
// CHECK-NOT: tk.window
// CHECK: return
func.func @never_over_columns_alone(%x: tensor<1x96x14x14xf32>) -> (tensor<1x96x14x14xf32>, tensor<1x96x14x1xf32>) {
  %w = tk.constant dense<0.5> : tensor<96x1x3x3xf32>
  %zero = tk.constant dense<0.0> : tensor<f32>
  %n = tk.constant dense<0.005> : tensor<f32>
  %w0 = tk.constant dense<0.25> : tensor<96x96x1x1xf32>
  %c = tk.conv %x, %w0 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x96x14x14xf32>, tensor<96x96x1x1xf32>) -> tensor<1x96x14x14xf32>
  %0 = tk.conv %c, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 96 : i64} : (tensor<1x96x14x14xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x14x14xf32>
  %2 = tk.reduce %0 {axes = array<i64: 3>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (tensor<1x96x14x14xf32>) -> tensor<1x96x14x1xf32>
  return %0, %2 : tensor<1x96x14x14xf32>, tensor<1x96x14x1xf32>
}

// -----

// Never: what no convolution can hand over, a product or a minimum.
// CHECK-LABEL: func.func @never_a_product
// CHECK-NOT: tk.window
// CHECK: return
func.func @never_a_product(%x: tensor<1x96x14x14xf32>) -> (tensor<1x96x14x14xf32>, tensor<1x96x1x1xf32>, tensor<1x96x1x1xf32>) {
  %w = tk.constant dense<0.5> : tensor<96x1x3x3xf32>
  %zero = tk.constant dense<0.0> : tensor<f32>
  %n = tk.constant dense<0.005> : tensor<f32>
  %w0 = tk.constant dense<0.25> : tensor<96x96x1x1xf32>
  %c = tk.conv %x, %w0 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x96x14x14xf32>, tensor<96x96x1x1xf32>) -> tensor<1x96x14x14xf32>
  %0 = tk.conv %c, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 96 : i64} : (tensor<1x96x14x14xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x14x14xf32>
  %2 = tk.reduce %0 {axes = array<i64: 2, 3>, keep_dims = true, kind = #tk.reduce_kind<product>} : (tensor<1x96x14x14xf32>) -> tensor<1x96x1x1xf32>
  %3 = tk.reduce %0 {axes = array<i64: 2, 3>, keep_dims = true, kind = #tk.reduce_kind<min>} : (tensor<1x96x14x14xf32>) -> tensor<1x96x1x1xf32>
  return %0, %2, %3 : tensor<1x96x14x14xf32>, tensor<1x96x1x1xf32>, tensor<1x96x1x1xf32>
}

// -----

// Never: sums of narrower elements, which would be rounded band by band.
// CHECK-LABEL: func.func @never_half
// CHECK: tk.fusion "conv_cast"
// CHECK-NOT: tk.window
// CHECK: return
func.func @never_half(%x: tensor<1x96x14x14xf32>) -> (tensor<1x96x14x14xf16>, tensor<1x96x1x1xf16>) {
  %w = tk.constant dense<0.5> : tensor<96x1x3x3xf32>
  %zero = tk.constant dense<0.0> : tensor<f32>
  %n = tk.constant dense<0.005> : tensor<f32>
  %w0 = tk.constant dense<0.25> : tensor<96x96x1x1xf32>
  %c = tk.conv %x, %w0 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x96x14x14xf32>, tensor<96x96x1x1xf32>) -> tensor<1x96x14x14xf32>
  %0 = tk.conv %c, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 96 : i64} : (tensor<1x96x14x14xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x14x14xf32>
  %1 = tk.cast %0 {to = f16} : (tensor<1x96x14x14xf32>) -> tensor<1x96x14x14xf16>
  %2 = tk.reduce %1 {axes = array<i64: 2, 3>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (tensor<1x96x14x14xf16>) -> tensor<1x96x1x1xf16>
  return %1, %2 : tensor<1x96x14x14xf16>, tensor<1x96x1x1xf16>
}

// -----

// Never: integers, which no convolution computes.
// CHECK-LABEL: func.func @never_integers
// CHECK: tk.fusion "conv_cast"
// CHECK-NOT: tk.window
// CHECK: return
func.func @never_integers(%x: tensor<1x96x14x14xf32>) -> (tensor<1x96x14x14xi32>, tensor<1x96x1x1xi32>) {
  %w = tk.constant dense<0.5> : tensor<96x1x3x3xf32>
  %zero = tk.constant dense<0.0> : tensor<f32>
  %n = tk.constant dense<0.005> : tensor<f32>
  %w0 = tk.constant dense<0.25> : tensor<96x96x1x1xf32>
  %c = tk.conv %x, %w0 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x96x14x14xf32>, tensor<96x96x1x1xf32>) -> tensor<1x96x14x14xf32>
  %0 = tk.conv %c, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 96 : i64} : (tensor<1x96x14x14xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x14x14xf32>
  %1 = tk.cast %0 {to = i32} : (tensor<1x96x14x14xf32>) -> tensor<1x96x14x14xi32>
  %2 = tk.reduce %1 {axes = array<i64: 2, 3>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (tensor<1x96x14x14xi32>) -> tensor<1x96x1x1xi32>
  return %1, %2 : tensor<1x96x14x14xi32>, tensor<1x96x1x1xi32>
}

// -----

// Never: behind a matrix product, whose kernel has no bands of rows.
// CHECK-LABEL: func.func @never_a_matrix
// CHECK-NOT: tk.window
// CHECK: return
func.func @never_a_matrix(%x: tensor<1x8x14x14xf32>, %y: tensor<1x8x14x14xf32>) -> (tensor<1x8x14x14xf32>, tensor<1x8x1x1xf32>) {
  %0 = tk.matmul %x, %y : (tensor<1x8x14x14xf32>, tensor<1x8x14x14xf32>) -> tensor<1x8x14x14xf32>
  %1 = tk.reduce %0 {axes = array<i64: 2, 3>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (tensor<1x8x14x14xf32>) -> tensor<1x8x1x1xf32>
  return %0, %1 : tensor<1x8x14x14xf32>, tensor<1x8x1x1xf32>
}

// -----

// Never: of no elements.
// CHECK-LABEL: func.func @never_no_elements
// CHECK-NOT: tk.window
// CHECK: return
func.func @never_no_elements(%x: tensor<0x96x14x14xf32>) -> (tensor<0x96x14x14xf32>, tensor<0x96x1x1xf32>) {
  %w = tk.constant dense<0.5> : tensor<96x1x3x3xf32>
  %zero = tk.constant dense<0.0> : tensor<f32>
  %n = tk.constant dense<0.005> : tensor<f32>
  %w0 = tk.constant dense<0.25> : tensor<96x96x1x1xf32>
  %c = tk.conv %x, %w0 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<0x96x14x14xf32>, tensor<96x96x1x1xf32>) -> tensor<0x96x14x14xf32>
  %0 = tk.conv %c, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 96 : i64} : (tensor<0x96x14x14xf32>, tensor<96x1x3x3xf32>) -> tensor<0x96x14x14xf32>
  %2 = tk.reduce %0 {axes = array<i64: 2, 3>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (tensor<0x96x14x14xf32>) -> tensor<0x96x1x1xf32>
  return %0, %2 : tensor<0x96x14x14xf32>, tensor<0x96x1x1xf32>
}

// -----

// Never: a group that waits for itself. What follows the sum needs what a library call makes of the convolution's
// result as well; the sum itself, of one band, rides.
// CHECK-LABEL: func.func @cycle
// CHECK: tk.fusion "conv"(%arg0
// CHECK: %[[R:.*]]:2 = tk.fusion "conv_window"
// CHECK: tk.window
// CHECK: %[[S:.*]] = tk.cumsum {{.*}}axis = 1
// CHECK: tk.fusion "add"(%[[R]]#1, %[[S]])
// CHECK: return
func.func @cycle(%x: tensor<1x96x14x14xf32>) -> (tensor<1x96x14x14xf32>, tensor<1x96x1x1xf32>) {
  %w = tk.constant dense<0.5> : tensor<96x1x3x3xf32>
  %w0 = tk.constant dense<0.25> : tensor<96x96x1x1xf32>
  %c = tk.conv %x, %w0 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x96x14x14xf32>, tensor<96x96x1x1xf32>) -> tensor<1x96x14x14xf32>
  %0 = tk.conv %c, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 96 : i64} : (tensor<1x96x14x14xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x14x14xf32>
  %1 = tk.cumsum %0 {axis = 3 : i64, exclusive = false, reverse = false} : (tensor<1x96x14x14xf32>) -> tensor<1x96x14x14xf32>
  %2 = tk.reduce %1 {axes = array<i64: 2, 3>, keep_dims = true, kind = #tk.reduce_kind<max>} : (tensor<1x96x14x14xf32>) -> tensor<1x96x1x1xf32>
  %s = tk.cumsum %2 {axis = 1 : i64, exclusive = false, reverse = false} : (tensor<1x96x1x1xf32>) -> tensor<1x96x1x1xf32>
  %3 = tk.reduce %0 {axes = array<i64: 2, 3>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (tensor<1x96x14x14xf32>) -> tensor<1x96x1x1xf32>
  %4 = tk.add %3, %s : (tensor<1x96x1x1xf32>, tensor<1x96x1x1xf32>) -> tensor<1x96x1x1xf32>
  return %0, %4 : tensor<1x96x14x14xf32>, tensor<1x96x1x1xf32>
}

// -----

// Not where it costs more: the input lies row-major, and would be brought into blocks of channels first.
// CHECK-LABEL: func.func @row_major_input
// CHECK-NOT: tk.window
// CHECK: return
func.func @row_major_input(%x: tensor<1x96x14x14xf32>) -> (tensor<1x96x14x14xf32>, tensor<1x96x1x1xf32>) {
  %w = tk.constant dense<0.5> : tensor<96x1x3x3xf32>
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 96 : i64} : (tensor<1x96x14x14xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x14x14xf32>
  %1 = tk.reduce %0 {axes = array<i64: 2, 3>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (tensor<1x96x14x14xf32>) -> tensor<1x96x1x1xf32>
  return %0, %1 : tensor<1x96x14x14xf32>, tensor<1x96x1x1xf32>
}
