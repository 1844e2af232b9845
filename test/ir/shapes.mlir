// Inference of odd shapes that are right: rank 0, no elements, extents of 1. The verifier compares each type written here
// with the inferred one.
// RUN: tokamak-opt %s

func.func @elementwise(%s: tensor<f32>, %e: tensor<0x1xf32>, %r: tensor<1x3xf32>, %b: tensor<i1>, %c: tensor<3xf32>, %one: tensor<1xf32>) {
  %0 = tk.add %s, %s : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = tk.add %e, %r : (tensor<0x1xf32>, tensor<1x3xf32>) -> tensor<0x3xf32>
  %2 = tk.select %b, %s, %e : (tensor<i1>, tensor<f32>, tensor<0x1xf32>) -> tensor<0x1xf32>
  %3 = tk.compare %s, %r {predicate = #tk.predicate<ge>} : (tensor<f32>, tensor<1x3xf32>) -> tensor<1x3xi1>
  %4 = tk.batch_norm %r, %c, %c, %c, %c {epsilon = 0.0 : f64} : (tensor<1x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3xf32>
  %5 = tk.batch_norm %c, %one, %one, %one, %one {epsilon = 0.0 : f64} : (tensor<3xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<3xf32>
  return
}

func.func @movement(%s: tensor<f32>, %e: tensor<0x3xf32>, %x: tensor<2x3x4xf32>, %none: tensor<0xi64>, %i: tensor<i32>, %ie: tensor<0x1xi64>, %n0: tensor<2x0xi64>, %n1: tensor<2x1xi64>, %g: tensor<0x2x4xi64>) {
  %0 = tk.broadcast %s {shape = array<i64: 2, 0>} : (tensor<f32>) -> tensor<2x0xf32>
  %1 = tk.broadcast %s {shape = array<i64>} : (tensor<f32>) -> tensor<f32>
  %2 = tk.reshape %s {shape = array<i64: 1, 1>} : (tensor<f32>) -> tensor<1x1xf32>
  %3 = tk.reshape %e {shape = array<i64: 5, 0>} : (tensor<0x3xf32>) -> tensor<5x0xf32>
  %4 = tk.transpose %s {permutation = array<i64>} : (tensor<f32>) -> tensor<f32>
  %5 = tk.slice %x {starts = array<i64: 1, 2, 3>, sizes = array<i64: 2, 3, 0>, steps = array<i64: -1, -1, 9223372036854775807>} : (tensor<2x3x4xf32>) -> tensor<2x3x0xf32>
  %6 = tk.slice %s {starts = array<i64>, sizes = array<i64>, steps = array<i64>} : (tensor<f32>) -> tensor<f32>
  %7 = tk.concat %e, %e {axis = 0 : i64} : (tensor<0x3xf32>, tensor<0x3xf32>) -> tensor<0x3xf32>
  %8 = tk.pad %e, %s {low = array<i64: 2, 0>, high = array<i64: 0, 1>} : (tensor<0x3xf32>, tensor<f32>) -> tensor<2x4xf32>
  %9 = tk.gather %x, %i {axis = 1 : i64} : (tensor<2x3x4xf32>, tensor<i32>) -> tensor<2x4xf32>
  %10 = tk.gather %e, %none {axis = 0 : i64} : (tensor<0x3xf32>, tensor<0xi64>) -> tensor<0x3xf32>
  %11 = tk.gather_elements %e, %ie {axis = 1 : i64} : (tensor<0x3xf32>, tensor<0x1xi64>) -> tensor<0x1xf32>
  %12 = tk.gather_nd %x, %n0 {batch_dims = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x0xi64>) -> tensor<2x3x4xf32>
  %13 = tk.gather_nd %x, %n1 {batch_dims = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x1xi64>) -> tensor<2x4xf32>
  %14 = tk.iota {shape = array<i64: 2, 0>, axis = 0 : i64, to = bf16} : () -> tensor<2x0xbf16>
  return
}

func.func @long_axes(%s: tensor<i8>, %x: tensor<4xi8>, %long: tensor<3000000000xi8>) {
  %0 = tk.broadcast %s {shape = array<i64: 3000000000>} : (tensor<i8>) -> tensor<3000000000xi8>
  %1 = tk.slice %long {starts = array<i64: 2999999999>, sizes = array<i64: 2147483648>, steps = array<i64: -1>} : (tensor<3000000000xi8>) -> tensor<2147483648xi8>
  %2 = tk.pad %x, %s {low = array<i64: 2147483648>, high = array<i64: 4294967296>} : (tensor<4xi8>, tensor<i8>) -> tensor<6442450948xi8>
  return
}

func.func @reductions(%s: tensor<f32>, %e: tensor<2x0xf32>) {
  %0 = tk.reduce %s {axes = array<i64>, keep_dims = true, kind = #tk.reduce_kind<min>} : (tensor<f32>) -> tensor<f32>
  %1 = tk.reduce %e {axes = array<i64: 1>, keep_dims = false, kind = #tk.reduce_kind<sum>} : (tensor<2x0xf32>) -> tensor<2xf32>
  %2 = tk.arg_reduce %e {axis = 0 : i64, keep_dims = true, kind = #tk.reduce_kind<min>} : (tensor<2x0xf32>) -> tensor<1x0xi64>
  return
}

func.func @anchors(%a: tensor<2x0xf32>, %b: tensor<0x3xf32>, %e: tensor<0x3x5xf32>, %w: tensor<4x3x5xf32>, %thin: tensor<1x3x0xf32>, %t: tensor<3x4x2xf32>) {
  %0 = tk.matmul %a, %b : (tensor<2x0xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  %1 = tk.conv %e, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, group = 1 : i64} : (tensor<0x3x5xf32>, tensor<4x3x5xf32>) -> tensor<0x4x1xf32>
  // No element and no padding: no position, whatever the kernel.
  %2 = tk.conv %thin, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, group = 1 : i64} : (tensor<1x3x0xf32>, tensor<4x3x5xf32>) -> tensor<1x4x0xf32>
  // Padding alone.
  %3 = tk.conv %thin, %w {strides = array<i64: 2>, dilations = array<i64: 1>, pads_low = array<i64: 3>, pads_high = array<i64: 4>, group = 1 : i64} : (tensor<1x3x0xf32>, tensor<4x3x5xf32>) -> tensor<1x4x2xf32>
  // Cropped to nothing.
  %4 = tk.conv_transpose %e, %t {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 6>, pads_high = array<i64: 0>, output_padding = array<i64: 0>, group = 1 : i64} : (tensor<0x3x5xf32>, tensor<3x4x2xf32>) -> tensor<0x4x0xf32>
  return
}

func.func @library(%x: tensor<2x3xf32>, %n0: tensor<0xi64>, %d: tensor<0x0xf32>, %r: tensor<0x4xf32>, %b: tensor<0xi64>, %p: tensor<1x2x4x4xf32>) {
  %0:2 = tk.top_k %x {axis = 0 : i64, k = 0 : i64, largest = false, sorted = true} : (tensor<2x3xf32>) -> (tensor<0x3xf32>, tensor<0x3xi64>)
  // An empty index names the whole tensor.
  %1 = tk.scatter_nd %x, %n0, %x {reduction = #tk.scatter_reduction<none>} : (tensor<2x3xf32>, tensor<0xi64>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = tk.det %d : (tensor<0x0xf32>) -> tensor<f32>
  %3 = tk.roi_align %p, %r, %b {half_pixel = false, height = 1 : i64, max_mode = true, sampling_ratio = 2 : i64, spatial_scale = 1.0 : f64, width = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<0x4xf32>, tensor<0xi64>) -> tensor<0x2x1x1xf32>
  return
}
