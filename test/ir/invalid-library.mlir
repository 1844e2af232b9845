// Refused library operators, with the message that the user of a model reads.
// RUN: tokamak-opt %s --split-input-file --verify-diagnostics

func.func @cumsum(%a: tensor<f32>) {
  // expected-error@+2 {{axis 0 of a scalar, which has no axes}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.cumsum %a {axis = 0 : i64, exclusive = false, reverse = false} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @top_k(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{cannot take the first 4 of 3 elements (axis 1 of [2,3])}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = tk.top_k %a {k = 4 : i64, axis = 1 : i64, largest = true, sorted = true} : (tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xi64>)
  return
}

// -----

func.func @scatter_elements(%a: tensor<2x3xf32>, %i: tensor<2x1xi64>) {
  // expected-error@+2 {{indices [2,1] and updates [2,3] should have the same shape}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.scatter_elements %a, %i, %a {axis = 1 : i64, reduction = #tk.scatter_reduction<none>} : (tensor<2x3xf32>, tensor<2x1xi64>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @scatter_elements(%a: tensor<2x3xi1>, %i: tensor<2x3xi64>) {
  // expected-error@+2 {{bool elements cannot be combined by add}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.scatter_elements %a, %i, %a {axis = 1 : i64, reduction = #tk.scatter_reduction<add>} : (tensor<2x3xi1>, tensor<2x3xi64>, tensor<2x3xi1>) -> tensor<2x3xi1>
  return
}

// -----

func.func @scatter_nd(%a: tensor<2x3xf32>, %i: tensor<4x1xi64>) {
  // expected-error@+2 {{updates [2,3] should have shape [4,3] for input [2,3] and indices [4,1]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.scatter_nd %a, %i, %a {reduction = #tk.scatter_reduction<none>} : (tensor<2x3xf32>, tensor<4x1xi64>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @scatter_nd(%a: tensor<2x3xf32>, %i: tensor<4x3xi64>, %u: tensor<4xf32>) {
  // expected-error@+2 {{indices [4,3] index 3 axes, but the input [2,3] has 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.scatter_nd %a, %i, %u {reduction = #tk.scatter_reduction<none>} : (tensor<2x3xf32>, tensor<4x3xi64>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @roi_align(%x: tensor<1x2x4x4xf32>, %r: tensor<7x5xf32>, %b: tensor<7xi64>) {
  // expected-error@+2 {{rois [7,5] and batch_indices [7] should have shapes [R,4] and [R]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.roi_align %x, %r, %b {max_mode = false, half_pixel = true, height = 2 : i64, width = 2 : i64, sampling_ratio = 0 : i64, spatial_scale = 1.0 : f64} : (tensor<1x2x4x4xf32>, tensor<7x5xf32>, tensor<7xi64>) -> tensor<7x2x2x2xf32>
  return
}

// -----

func.func @roi_align(%x: tensor<1x2x4x4xf32>, %r: tensor<7x4xf32>, %b: tensor<7xi64>) {
  // expected-error@+2 {{height [0] should be 1 or more}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.roi_align %x, %r, %b {max_mode = false, half_pixel = true, height = 0 : i64, width = 2 : i64, sampling_ratio = 0 : i64, spatial_scale = 1.0 : f64} : (tensor<1x2x4x4xf32>, tensor<7x4xf32>, tensor<7xi64>) -> tensor<7x2x0x2xf32>
  return
}

// -----

func.func @grid_sample(%x: tensor<1x2x4x4xf32>, %g: tensor<1x3x3x3xf32>) {
  // expected-error@+2 {{grid [1,3,3,3] does not fit input [1,2,4,4]: it should have rank 4, the same batch, and 2 coordinates in its last axis}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.grid_sample %x, %g {mode = #tk.grid_mode<linear>, padding = #tk.grid_padding<zeros>, align_corners = false} : (tensor<1x2x4x4xf32>, tensor<1x3x3x3xf32>) -> tensor<1x2x3x3xf32>
  return
}

// -----

func.func @grid_sample(%x: tensor<1x2x4x4x4x4xf32>, %g: tensor<1x3x3x3x3x4xf32>) {
  // expected-error@+2 {{the input [1,2,4,4,4,4] should have one to three spatial axes}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.grid_sample %x, %g {mode = #tk.grid_mode<cubic>, padding = #tk.grid_padding<zeros>, align_corners = false} : (tensor<1x2x4x4x4x4xf32>, tensor<1x3x3x3x3x4xf32>) -> tensor<1x2x3x3x3x3xf32>
  return
}

// -----

func.func @grid_sample(%x: tensor<1x2x4x0xf32>, %g: tensor<1x3x3x2xf32>) {
  // expected-error@+2 {{there is nothing to sample in [1,2,4,0]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.grid_sample %x, %g {mode = #tk.grid_mode<linear>, padding = #tk.grid_padding<zeros>, align_corners = false} : (tensor<1x2x4x0xf32>, tensor<1x3x3x2xf32>) -> tensor<1x2x3x3xf32>
  return
}

// -----

func.func @roi_align(%x: tensor<1x2x0x4xf32>, %r: tensor<7x4xf32>, %b: tensor<7xi64>) {
  // expected-error@+2 {{there is nothing to sample in [1,2,0,4]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.roi_align %x, %r, %b {max_mode = false, half_pixel = true, height = 2 : i64, width = 2 : i64, sampling_ratio = 0 : i64, spatial_scale = 1.0 : f64} : (tensor<1x2x0x4xf32>, tensor<7x4xf32>, tensor<7xi64>) -> tensor<7x2x2x2xf32>
  return
}

// -----

func.func @det(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{determinant of [2,3], which holds no square matrices}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.det %x : (tensor<2x3xf32>) -> tensor<f32>
  return
}
