// Refused reductions, products, convolutions and windows, with the message that the user of a model reads.
// RUN: tokamak-opt %s --split-input-file --verify-diagnostics

func.func @reduce(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{axes [1,0] should be in ascending order, each once}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.reduce %a {axes = array<i64: 1, 0>, keep_dims = false, kind = #tk.reduce_kind<max>} : (tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

func.func @reduce(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{axis 2 is out of range: rank 2 has axes 0 to 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.reduce %a {axes = array<i64: 2>, keep_dims = false, kind = #tk.reduce_kind<max>} : (tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

func.func @arg_reduce(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{only a maximum or minimum has an index}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.arg_reduce %a {axis = 1 : i64, keep_dims = false, kind = #tk.reduce_kind<sum>} : (tensor<2x3xf32>) -> tensor<2xi64>
  return
}

// -----

func.func @arg_reduce(%a: tensor<2x0xf32>) {
  // expected-error@+2 {{axis 1 of [2,0] is empty, so it has no extreme}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.arg_reduce %a {axis = 1 : i64, keep_dims = false, kind = #tk.reduce_kind<max>} : (tensor<2x0xf32>) -> tensor<2xi64>
  return
}

// -----

func.func @matmul(%a: tensor<3xf32>, %b: tensor<3x2xf32>) {
  // expected-error@+2 {{matrix product of [3] and [3,2]: both need two axes or more}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.matmul %a, %b : (tensor<3xf32>, tensor<3x2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @matmul(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{matrix product of [2,3] and [2,3]: inner extents 3 and 2 differ}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.matmul %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @matmul(%a: tensor<3x2xf32>, %b: tensor<2x4xf32>) {
  // expected-error@+2 {{matrix product of [3,2] (transposed) and [2,4]: inner extents 3 and 2 differ}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.matmul %a, %b {transpose_lhs = true} : (tensor<3x2xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @matmul(%a: tensor<2x2x3xf32>, %b: tensor<3x3x4xf32>) {
  // expected-error@+2 {{matrix product of [2,2,3] and [3,3,4]: leading axes do not broadcast}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.matmul %a, %b : (tensor<2x2x3xf32>, tensor<3x3x4xf32>) -> tensor<2x2x4xf32>
  return
}

// -----

func.func @conv(%x: tensor<1x4x5x5xf32>, %w: tensor<6x3x3x3xf32>) {
  // expected-error@+2 {{input [1,4,5,5] has 4 channels in 1 group(s), but weight [6,3,3,3] expects 3 a group}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x5x5xf32>, tensor<6x3x3x3xf32>) -> tensor<1x1x1x1xf32>
  return
}

// -----

func.func @conv(%x: tensor<1x4x5x5xf32>, %w: tensor<6x2x3x3xf32>) {
  // expected-error@+2 {{group [0] should be 1 or more}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 0 : i64} : (tensor<1x4x5x5xf32>, tensor<6x2x3x3xf32>) -> tensor<1x1x1x1xf32>
  return
}

// -----

func.func @conv(%x: tensor<1x4x5x5xf32>, %w: tensor<5x2x3x3xf32>) {
  // expected-error@+2 {{5 output channels (weight [5,2,3,3]) do not divide into 2 groups}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 2 : i64} : (tensor<1x4x5x5xf32>, tensor<5x2x3x3xf32>) -> tensor<1x1x1x1xf32>
  return
}

// -----

func.func @conv(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>, %b: tensor<5xf32>) {
  // expected-error@+2 {{bias [5] should have shape [6], one value for each output channel}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>, tensor<5xf32>) -> tensor<1x1x1x1xf32>
  return
}

// -----

func.func @conv(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error@+2 {{input [1,4,5,5] and weight [6,4,3] should have the same rank}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x5x5xf32>, tensor<6x4x3xf32>) -> tensor<1x1x1x1xf32>
  return
}

// -----

func.func @conv(%x: tensor<4x5xf32>, %w: tensor<6x4xf32>) {
  // expected-error@+2 {{the input [4,5] should have a batch, a channel and at least one spatial axis}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<4x5xf32>, tensor<6x4xf32>) -> tensor<1x1x1x1xf32>
  return
}

// -----

func.func @conv(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@+2 {{strides [0,1] should be 1 or more}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.conv %x, %w {strides = array<i64: 0, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>) -> tensor<1x1x1x1xf32>
  return
}

// -----

func.func @conv(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@+2 {{strides [1] should have 2 values, one for each axis}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>) -> tensor<1x1x1x1xf32>
  return
}

// -----

func.func @conv(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@+2 {{pads_low [0,-1] should be 0 or more}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, -1>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>) -> tensor<1x1x1x1xf32>
  return
}

// -----

func.func @conv(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@+2 {{the window spans 7 elements of spatial axis 1, but the padded input [5,5] has only 5 there}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 3>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>) -> tensor<1x1x1x1xf32>
  return
}

// -----

func.func @conv(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x0x3xf32>) {
  // expected-error@+2 {{kernel [0,3] should be 1 or more}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x5x5xf32>, tensor<6x4x0x3xf32>) -> tensor<1x1x1x1xf32>
  return
}

// -----

func.func @conv(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@+2 {{dilations [2147483648,1] should be below 2^31}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 2147483648, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>) -> tensor<1x1x1x1xf32>
  return
}

// -----

func.func @conv(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf64>) {
  // expected-error@+2 {{operands have different element types: float32[1,4,5,5] and float64[6,4,3,3]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf64>) -> tensor<1x1x1x1xf32>
  return
}

// -----

func.func @conv_transpose(%x: tensor<1x4x5x5xf32>, %w: tensor<3x4x3x3xf32>) {
  // expected-error@+2 {{input [1,4,5,5] has 4 channels, but weight [3,4,3,3] expects 3}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.conv_transpose %x, %w {output_padding = array<i64: 0, 0>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x5x5xf32>, tensor<3x4x3x3xf32>) -> tensor<1x1x1x1xf32>
  return
}

// -----

func.func @conv_transpose(%x: tensor<1x4x5x5xf32>, %w: tensor<4x4x3x3xf32>) {
  // expected-error@+2 {{4 channels do not divide into 3 groups}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.conv_transpose %x, %w {output_padding = array<i64: 0, 0>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 3 : i64} : (tensor<1x4x5x5xf32>, tensor<4x4x3x3xf32>) -> tensor<1x1x1x1xf32>
  return
}

// -----

func.func @conv_transpose(%x: tensor<1x4x5x5xf32>, %w: tensor<4x4x3x3xf32>) {
  // expected-error@+2 {{the output of input [1,4,5,5] with kernel [3,3] has a negative extent along spatial axis 0}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.conv_transpose %x, %w {output_padding = array<i64: 0, 0>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 9, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x5x5xf32>, tensor<4x4x3x3xf32>) -> tensor<1x1x1x1xf32>
  return
}

// -----

func.func @conv_transpose(%x: tensor<1x4x5x5xf32>, %w: tensor<4x2x3x3xf32>, %b: tensor<2xf32>) {
  // expected-error@+2 {{bias [2] should have shape [4], one value for each output channel}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.conv_transpose %x, %w, %b {output_padding = array<i64: 0, 0>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 2 : i64} : (tensor<1x4x5x5xf32>, tensor<4x2x3x3xf32>, tensor<2xf32>) -> tensor<1x1x1x1xf32>
  return
}

// -----

func.func @conv_transpose(%x: tensor<1x4x5x5xf32>, %w: tensor<4x4x3x3xf32>) {
  // expected-error@+2 {{output_padding [-1,0] should be 0 or more}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.conv_transpose %x, %w {output_padding = array<i64: -1, 0>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x4x5x5xf32>, tensor<4x4x3x3xf32>) -> tensor<1x1x1x1xf32>
  return
}

// -----

func.func @window(%x: tensor<1x4x5x5xf32>) {
  // expected-error@+2 {{windows are combined by sum or max}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.window %x {kind = #tk.reduce_kind<product>, kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>} : (tensor<1x4x5x5xf32>) -> tensor<1x1x1x1xf32>
  return
}

// -----

func.func @window(%x: tensor<1x4x5x5xf32>) {
  // expected-error@+2 {{kernel [3] should have 2 values, one for each axis}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.window %x {kind = #tk.reduce_kind<max>, kernel = array<i64: 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>} : (tensor<1x4x5x5xf32>) -> tensor<1x1x1x1xf32>
  return
}

// -----

func.func @window(%x: tensor<1x4x5x5xf32>) {
  // expected-error@+2 {{the window spans 6 elements of spatial axis 1, but the padded input [5,5] has only 5 there}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.window %x {kind = #tk.reduce_kind<max>, kernel = array<i64: 3, 6>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>} : (tensor<1x4x5x5xf32>) -> tensor<1x1x1x1xf32>
  return
}

// -----

func.func @window(%x: tensor<4x5xf32>) {
  // expected-error@+2 {{the input [4,5] should have a batch, a channel and at least one spatial axis}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.window %x {kind = #tk.reduce_kind<max>, kernel = array<i64: 3, 6>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>} : (tensor<4x5xf32>) -> tensor<1x1x1x1xf32>
  return
}

// -----

func.func @max_pool_indices(%x: tensor<1x4x5x5xf32>) {
  // expected-error@+2 {{the window spans 6 elements of spatial axis 0, but the padded input [5,5] has only 5 there}}
  // expected-error@+1 {{failed to infer returned types}}
  %0:2 = tk.max_pool_indices %x {column_major = false, kernel = array<i64: 6, 6>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>} : (tensor<1x4x5x5xf32>) -> (tensor<1x4x1x1xf32>, tensor<1x4x1x1xi64>)
  return
}

// -----

func.func @conv(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@+1 {{'tk.conv' op has attribute 'winograd', but there are no tiles of 3x3 results, of 2x2 and 4x4 only}}
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64, winograd = 3 : i64} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x3x3xf32>
  return
}

// -----

func.func @conv(%x: tensor<1x4x5x5xf64>, %w: tensor<6x4x3x3xf64>) {
  // expected-error@+1 {{'tk.conv' op has attribute 'winograd', but its elements are 'f64', not f32}}
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64, winograd = 2 : i64} : (tensor<1x4x5x5xf64>, tensor<6x4x3x3xf64>) -> tensor<1x6x3x3xf64>
  return
}

// -----

func.func @conv(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x1xf32>) {
  // expected-error@+1 {{'tk.conv' op has attribute 'winograd', but its kernel is [3, 1], not [3, 3]}}
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64, winograd = 2 : i64} : (tensor<1x4x5x5xf32>, tensor<6x4x3x1xf32>) -> tensor<1x6x3x5xf32>
  return
}

// -----

func.func @conv(%x: tensor<1x4x5xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error@+1 {{'tk.conv' op has attribute 'winograd', but its kernel is [3], not [3, 3]}}
  %0 = tk.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads_low = array<i64: 0>, pads_high = array<i64: 0>, group = 1 : i64, winograd = 2 : i64} : (tensor<1x4x5xf32>, tensor<6x4x3xf32>) -> tensor<1x6x3xf32>
  return
}

// -----

func.func @conv(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@+1 {{'tk.conv' op has attribute 'winograd', but it has strides or dilations}}
  %0 = tk.conv %x, %w {strides = array<i64: 1, 2>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64, winograd = 2 : i64} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x3x2xf32>
  return
}

// -----

func.func @conv(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@+1 {{'tk.conv' op has attribute 'winograd', but it has strides or dilations}}
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 2, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64, winograd = 2 : i64} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x1x3xf32>
  return
}

// -----

func.func @conv(%x: tensor<1x4x5x5xf32>, %w: tensor<6x2x3x3xf32>) {
  // expected-error@+1 {{'tk.conv' op has attribute 'winograd', but it has 2 groups}}
  %0 = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 2 : i64, winograd = 4 : i64} : (tensor<1x4x5x5xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x3x3xf32>
  return
}
