// Refused operators that move elements, with the message that the user of a model reads.
// RUN: tokamak-opt %s --split-input-file --verify-diagnostics

func.func @broadcast(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{shape [2,3] does not broadcast to [2]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.broadcast %a {shape = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @broadcast(%a: tensor<1x3xf32>) {
  // expected-error@+2 {{shape [-1,3] should be 0 or more}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.broadcast %a {shape = array<i64: -1, 3>} : (tensor<1x3xf32>) -> tensor<1x3xf32>
  return
}

// -----

func.func @broadcast(%a: tensor<1xf32>) {
  // expected-error@+2 {{the result shape [1073741824,1073741824] has more than 2^40 elements}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.broadcast %a {shape = array<i64: 1073741824, 1073741824>} : (tensor<1xf32>) -> tensor<1073741824x1073741824xf32>
  return
}

// -----

func.func @reshape(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{cannot reshape [2,3] (6 elements) to [7] (7 elements)}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.reshape %a {shape = array<i64: 7>} : (tensor<2x3xf32>) -> tensor<7xf32>
  return
}

// -----

func.func @reshape(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{the result shape [-1] has a negative extent}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.reshape %a {shape = array<i64: -1>} : (tensor<2x3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @transpose(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{permutation [1] should have 2 values, one for each axis}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.transpose %a {permutation = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @transpose(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{permutation [1,1] should name each of the 2 axes once}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.transpose %a {permutation = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @transpose(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{permutation [0,-1] should name each of the 2 axes once}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.transpose %a {permutation = array<i64: 0, -1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice(%a: tensor<5xf32>) {
  // expected-error@+2 {{slice of [5] leaves axis 0: start 4, size 3, step -3}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.slice %a {starts = array<i64: 4>, sizes = array<i64: 3>, steps = array<i64: -3>} : (tensor<5xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @slice(%a: tensor<5xf32>) {
  // expected-error@+2 {{steps [0] has a 0}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.slice %a {starts = array<i64: 0>, sizes = array<i64: 3>, steps = array<i64: 0>} : (tensor<5xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @slice(%a: tensor<5xf32>) {
  // expected-error@+2 {{slice of [5] leaves axis 0: start 0, size 3, step 9223372036854775807}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.slice %a {starts = array<i64: 0>, sizes = array<i64: 3>, steps = array<i64: 9223372036854775807>} : (tensor<5xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @slice(%a: tensor<5xf32>) {
  // expected-error@+2 {{starts [0,0] should have 1 values, one for each axis}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.slice %a {starts = array<i64: 0, 0>, sizes = array<i64: 3>, steps = array<i64: 1>} : (tensor<5xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @concat() {
  // expected-error@+2 {{concatenation of nothing}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.concat  {axis = 0 : i64} : () -> tensor<1xf32>
  return
}

// -----

func.func @concat(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{axis -1 is out of range: rank 2 has axes 0 to 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.concat %a, %a {axis = -1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @concat(%a: tensor<f32>) {
  // expected-error@+2 {{axis 0 of a scalar, which has no axes}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.concat %a, %a {axis = 0 : i64} : (tensor<f32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @concat(%a: tensor<2x3xf32>, %b: tensor<3x3xf32>) {
  // expected-error@+2 {{shapes [2,3] and [3,3] do not concatenate along axis 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.concat %a, %b {axis = 1 : i64} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @pad(%a: tensor<2xf32>, %v: tensor<f32>) {
  // expected-error@+2 {{low [9223372036854775807] should be below 2^41}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.pad %a, %v {low = array<i64: 9223372036854775807>, high = array<i64: 1>} : (tensor<2xf32>, tensor<f32>) -> tensor<3xf32>
  return
}

// -----

func.func @pad(%a: tensor<2xf32>, %v: tensor<1xf32>) {
  // expected-error@+2 {{the padding value should be a scalar, not float32[1]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.pad %a, %v {low = array<i64: 1>, high = array<i64: 1>} : (tensor<2xf32>, tensor<1xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @pad(%a: tensor<2xf32>, %v: tensor<f32>) {
  // expected-error@+2 {{low [-1] should be 0 or more}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.pad %a, %v {low = array<i64: -1>, high = array<i64: 1>} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @gather(%a: tensor<2xf32>, %i: tensor<3xi64>) {
  // expected-error@+2 {{axis 1 is out of range: rank 1 has axes 0 to 0}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.gather %a, %i {axis = 1 : i64} : (tensor<2xf32>, tensor<3xi64>) -> tensor<3xf32>
  return
}

// -----

func.func @gather(%a: tensor<0xf32>, %i: tensor<3xi64>) {
  // expected-error@+2 {{gather from axis 0 of [0], which is empty}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.gather %a, %i {axis = 0 : i64} : (tensor<0xf32>, tensor<3xi64>) -> tensor<3xf32>
  return
}

// -----

func.func @gather_elements(%a: tensor<2x3xf32>, %i: tensor<3x1xi64>) {
  // expected-error@+2 {{indices [3,1] do not fit into [2,3] outside axis 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.gather_elements %a, %i {axis = 1 : i64} : (tensor<2x3xf32>, tensor<3x1xi64>) -> tensor<3x1xf32>
  return
}

// -----

func.func @gather_nd(%a: tensor<2x3xf32>, %i: tensor<4x3xi64>) {
  // expected-error@+2 {{indices [4,3] index 3 axes, but input [2,3] has 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.gather_nd %a, %i : (tensor<2x3xf32>, tensor<4x3xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @gather_nd(%a: tensor<2x3xf32>, %i: tensor<4x1xi64>) {
  // expected-error@+2 {{input [2,3] and indices [4,1] differ in their first 1 axes (batch_dims)}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.gather_nd %a, %i {batch_dims = 1 : i64} : (tensor<2x3xf32>, tensor<4x1xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @gather_nd(%a: tensor<2x3xf32>, %i: tensor<i64>) {
  // expected-error@+2 {{indices are a scalar; their last axis should hold the index}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.gather_nd %a, %i : (tensor<2x3xf32>, tensor<i64>) -> tensor<f32>
  return
}

// -----

func.func @gather_nd(%a: tensor<2x3xf32>, %i: tensor<4x1xi64>) {
  // expected-error@+2 {{batch_dims 2 does not fit input [2,3] and indices [4,1]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.gather_nd %a, %i {batch_dims = 2 : i64} : (tensor<2x3xf32>, tensor<4x1xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @iota() {
  // expected-error@+2 {{cannot count in bool}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.iota  {shape = array<i64: 3>, axis = 0 : i64, to = i1} : () -> tensor<3xi1>
  return
}
