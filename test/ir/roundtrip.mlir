// Every operator is printed as it was written, in the custom and in the generic form.
// RUN: tokamak-opt %s > %t && tokamak-opt %t | diff %t - && FileCheck %s < %t
// RUN: tokamak-opt %s --mlir-print-op-generic | tokamak-opt | diff %t -

// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%x: tensor<2x3xf32>, %b: tensor<2x3xi1>, %i: tensor<3xi32>, %row: tensor<1x3xf32>) {
  // CHECK: tk.neg {{%[a-z0-9]+}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = tk.neg %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.abs {{%[a-z0-9]+}} : (tensor<3xi32>) -> tensor<3xi32>
  %1 = tk.abs %i : (tensor<3xi32>) -> tensor<3xi32>
  // CHECK: tk.sign {{%[a-z0-9]+}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = tk.sign %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.not {{%[a-z0-9]+}} : (tensor<2x3xi1>) -> tensor<2x3xi1>
  %3 = tk.not %b : (tensor<2x3xi1>) -> tensor<2x3xi1>
  // CHECK: tk.bit_not {{%[a-z0-9]+}} : (tensor<3xi32>) -> tensor<3xi32>
  %4 = tk.bit_not %i : (tensor<3xi32>) -> tensor<3xi32>
  // CHECK: tk.exp {{%[a-z0-9]+}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = tk.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.log {{%[a-z0-9]+}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = tk.log %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.sqrt {{%[a-z0-9]+}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = tk.sqrt %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.sin {{%[a-z0-9]+}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %8 = tk.sin %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.cos {{%[a-z0-9]+}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %9 = tk.cos %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.tan {{%[a-z0-9]+}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %10 = tk.tan %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.asin {{%[a-z0-9]+}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %11 = tk.asin %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.acos {{%[a-z0-9]+}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %12 = tk.acos %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.atan {{%[a-z0-9]+}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %13 = tk.atan %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.sinh {{%[a-z0-9]+}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %14 = tk.sinh %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.cosh {{%[a-z0-9]+}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %15 = tk.cosh %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.tanh {{%[a-z0-9]+}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %16 = tk.tanh %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.asinh {{%[a-z0-9]+}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %17 = tk.asinh %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.acosh {{%[a-z0-9]+}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %18 = tk.acosh %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.atanh {{%[a-z0-9]+}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %19 = tk.atanh %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.erf {{%[a-z0-9]+}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %20 = tk.erf %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.floor {{%[a-z0-9]+}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %21 = tk.floor %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.ceil {{%[a-z0-9]+}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %22 = tk.ceil %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.round {{%[a-z0-9]+}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %23 = tk.round %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.is_nan {{%[a-z0-9]+}} : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %24 = tk.is_nan %x : (tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK: tk.is_inf {{%[a-z0-9]+}} {negative = false} : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %25 = tk.is_inf %x {negative = false} : (tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK: tk.add {{%[a-z0-9]+}}, {{%[a-z0-9]+}} : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %26 = tk.add %x, %row : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.sub {{%[a-z0-9]+}}, {{%[a-z0-9]+}} : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %27 = tk.sub %x, %row : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.mul {{%[a-z0-9]+}}, {{%[a-z0-9]+}} : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %28 = tk.mul %x, %row : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.div {{%[a-z0-9]+}}, {{%[a-z0-9]+}} : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %29 = tk.div %x, %row : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.pow {{%[a-z0-9]+}}, {{%[a-z0-9]+}} : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %30 = tk.pow %x, %row : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.max {{%[a-z0-9]+}}, {{%[a-z0-9]+}} : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %31 = tk.max %x, %row : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.min {{%[a-z0-9]+}}, {{%[a-z0-9]+}} : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %32 = tk.min %x, %row : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.mod {{%[a-z0-9]+}}, {{%[a-z0-9]+}} {truncated = true} : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %33 = tk.mod %x, %row {truncated = true} : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.and {{%[a-z0-9]+}}, {{%[a-z0-9]+}} : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  %34 = tk.and %b, %b : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  // CHECK: tk.or {{%[a-z0-9]+}}, {{%[a-z0-9]+}} : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  %35 = tk.or %b, %b : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  // CHECK: tk.xor {{%[a-z0-9]+}}, {{%[a-z0-9]+}} : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  %36 = tk.xor %b, %b : (tensor<2x3xi1>, tensor<2x3xi1>) -> tensor<2x3xi1>
  // CHECK: tk.bit_and {{%[a-z0-9]+}}, {{%[a-z0-9]+}} : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %37 = tk.bit_and %i, %i : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  // CHECK: tk.bit_or {{%[a-z0-9]+}}, {{%[a-z0-9]+}} : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %38 = tk.bit_or %i, %i : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  // CHECK: tk.bit_xor {{%[a-z0-9]+}}, {{%[a-z0-9]+}} : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %39 = tk.bit_xor %i, %i : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  // CHECK: tk.shift_left {{%[a-z0-9]+}}, {{%[a-z0-9]+}} : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %40 = tk.shift_left %i, %i : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  // CHECK: tk.shift_right {{%[a-z0-9]+}}, {{%[a-z0-9]+}} : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %41 = tk.shift_right %i, %i : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  // CHECK: tk.compare {{%[a-z0-9]+}}, {{%[a-z0-9]+}} {predicate = #tk.predicate<le>} : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xi1>
  %42 = tk.compare %x, %row {predicate = #tk.predicate<le>} : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xi1>
  // CHECK: tk.select {{%[a-z0-9]+}}, {{%[a-z0-9]+}}, {{%[a-z0-9]+}} : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %43 = tk.select %b, %x, %row : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.cast {{%[a-z0-9]+}} {saturate = true, to = ui8} : (tensor<2x3xf32>) -> tensor<2x3xui8>
  %44 = tk.cast %x {saturate = true, to = ui8} : (tensor<2x3xf32>) -> tensor<2x3xui8>
  return
}
// CHECK-LABEL: func.func @constants
func.func @constants() {
  // CHECK: tk.constant dense<[1.500000e+00, 0x7FC00000, 0x7F800000, -0.000000e+00]> : tensor<4xf32>
  %0 = tk.constant dense<[1.5, 0x7FC00000, 0x7F800000, -0.0]> : tensor<4xf32>
  // CHECK: tk.constant dense<true> : tensor<i1>
  %1 = tk.constant dense<true> : tensor<i1>
  // CHECK: tk.constant dense<> : tensor<2x0xi64>
  %2 = tk.constant dense<> : tensor<2x0xi64>
  // CHECK: tk.constant dense<[true, false, true]> : tensor<3xi1>
  %3 = tk.constant dense<[true, false, true]> : tensor<3xi1>
  // CHECK: tk.constant dense<255> : tensor<2x2xui8>
  %4 = tk.constant dense<255> : tensor<2x2xui8>
  // CHECK: tk.constant dense_resource<w> : tensor<2xf32>
  %5 = tk.constant dense_resource<w> : tensor<2xf32>
  return
}
// CHECK-LABEL: func.func @movement
func.func @movement(%x: tensor<2x3xf32>, %zero: tensor<f32>, %i: tensor<4xi64>, %e: tensor<2x1xi32>, %n: tensor<5x2xi64>) {
  // CHECK: tk.broadcast {{%[a-z0-9]+}} {shape = array<i64: 4, 2, 3>} : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  %0 = tk.broadcast %x {shape = array<i64: 4, 2, 3>} : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  // CHECK: tk.reshape {{%[a-z0-9]+}} {shape = array<i64: 6, 1>} : (tensor<2x3xf32>) -> tensor<6x1xf32>
  %1 = tk.reshape %x {shape = array<i64: 6, 1>} : (tensor<2x3xf32>) -> tensor<6x1xf32>
  // CHECK: tk.transpose {{%[a-z0-9]+}} {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = tk.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK: tk.slice {{%[a-z0-9]+}} {sizes = array<i64: 1, 2>, starts = array<i64: 1, 2>, steps = array<i64: 1, -2>} : (tensor<2x3xf32>) -> tensor<1x2xf32>
  %3 = tk.slice %x {sizes = array<i64: 1, 2>, starts = array<i64: 1, 2>, steps = array<i64: 1, -2>} : (tensor<2x3xf32>) -> tensor<1x2xf32>
  // CHECK: tk.concat {{%[a-z0-9]+}}, {{%[a-z0-9]+}}, {{%[a-z0-9]+}} {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x9xf32>
  %4 = tk.concat %x, %x, %x {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x9xf32>
  // CHECK: tk.pad {{%[a-z0-9]+}}, {{%[a-z0-9]+}} {high = array<i64: 1, 0>, low = array<i64: 0, 2>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x5xf32>
  %5 = tk.pad %x, %zero {high = array<i64: 1, 0>, low = array<i64: 0, 2>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x5xf32>
  // CHECK: tk.gather {{%[a-z0-9]+}}, {{%[a-z0-9]+}} {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  %6 = tk.gather %x, %i {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  // CHECK: tk.gather_elements {{%[a-z0-9]+}}, {{%[a-z0-9]+}} {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x1xi32>) -> tensor<2x1xf32>
  %7 = tk.gather_elements %x, %e {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x1xi32>) -> tensor<2x1xf32>
  // CHECK: tk.gather_nd {{%[a-z0-9]+}}, {{%[a-z0-9]+}} : (tensor<2x3xf32>, tensor<5x2xi64>) -> tensor<5xf32>
  %8 = tk.gather_nd %x, %n : (tensor<2x3xf32>, tensor<5x2xi64>) -> tensor<5xf32>
  // CHECK: tk.iota  {axis = 0 : i64, shape = array<i64: 4>, to = i64} : () -> tensor<4xi64>
  %9 = tk.iota {axis = 0 : i64, shape = array<i64: 4>, to = i64} : () -> tensor<4xi64>
  return
}
// CHECK-LABEL: func.func @reductions
func.func @reductions(%x: tensor<2x3xf32>) {
  // CHECK: tk.reduce {{%[a-z0-9]+}} {axes = array<i64: 0, 1>, keep_dims = false, kind = #tk.reduce_kind<sum>} : (tensor<2x3xf32>) -> tensor<f32>
  %0 = tk.reduce %x {axes = array<i64: 0, 1>, keep_dims = false, kind = #tk.reduce_kind<sum>} : (tensor<2x3xf32>) -> tensor<f32>
  // CHECK: tk.arg_reduce {{%[a-z0-9]+}} {axis = 1 : i64, keep_dims = true, kind = #tk.reduce_kind<max>, select_last = true} : (tensor<2x3xf32>) -> tensor<2x1xi64>
  %1 = tk.arg_reduce %x {axis = 1 : i64, keep_dims = true, kind = #tk.reduce_kind<max>, select_last = true} : (tensor<2x3xf32>) -> tensor<2x1xi64>
  return
}
// CHECK-LABEL: func.func @anchors
func.func @anchors(%a: tensor<2x3xf32>, %x: tensor<1x4x5x5xf32>, %w: tensor<6x2x3x3xf32>, %bias: tensor<6xf32>, %t: tensor<4x3x3x3xf32>, %c: tensor<4xf32>) {
  // CHECK: tk.matmul {{%[a-z0-9]+}}, {{%[a-z0-9]+}} {transpose_rhs = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  %0 = tk.matmul %a, %a {transpose_rhs = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  // CHECK: tk.conv {{%[a-z0-9]+}}, {{%[a-z0-9]+}} {dilations = array<i64: 1, 1>, group = 2 : i64, pads_high = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, strides = array<i64: 2, 1>} : (tensor<1x4x5x5xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x3x5xf32>
  %1 = tk.conv %x, %w {dilations = array<i64: 1, 1>, group = 2 : i64, pads_high = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, strides = array<i64: 2, 1>} : (tensor<1x4x5x5xf32>, tensor<6x2x3x3xf32>) -> tensor<1x6x3x5xf32>
  // CHECK: tk.conv {{%[a-z0-9]+}}, {{%[a-z0-9]+}}, {{%[a-z0-9]+}} {dilations = array<i64: 1, 1>, group = 2 : i64, pads_high = array<i64: 0, 0>, pads_low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x4x5x5xf32>, tensor<6x2x3x3xf32>, tensor<6xf32>) -> tensor<1x6x3x3xf32>
  %2 = tk.conv %x, %w, %bias {dilations = array<i64: 1, 1>, group = 2 : i64, pads_high = array<i64: 0, 0>, pads_low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x4x5x5xf32>, tensor<6x2x3x3xf32>, tensor<6xf32>) -> tensor<1x6x3x3xf32>
  // CHECK: tk.conv_transpose {{%[a-z0-9]+}}, {{%[a-z0-9]+}} {dilations = array<i64: 1, 1>, group = 1 : i64, output_padding = array<i64: 1, 0>, pads_high = array<i64: 1, -1>, pads_low = array<i64: 1, 0>, strides = array<i64: 2, 1>} : (tensor<1x4x5x5xf32>, tensor<4x3x3x3xf32>) -> tensor<1x3x10x8xf32>
  %3 = tk.conv_transpose %x, %t {dilations = array<i64: 1, 1>, group = 1 : i64, output_padding = array<i64: 1, 0>, pads_high = array<i64: 1, -1>, pads_low = array<i64: 1, 0>, strides = array<i64: 2, 1>} : (tensor<1x4x5x5xf32>, tensor<4x3x3x3xf32>) -> tensor<1x3x10x8xf32>
  // CHECK: tk.window {{%[a-z0-9]+}} {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, kind = #tk.reduce_kind<max>, pads_high = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x4x5x5xf32>) -> tensor<1x4x2x2xf32>
  %4 = tk.window %x {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, kind = #tk.reduce_kind<max>, pads_high = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x4x5x5xf32>) -> tensor<1x4x2x2xf32>
  // CHECK: tk.batch_norm {{%[a-z0-9]+}}, {{%[a-z0-9]+}}, {{%[a-z0-9]+}}, {{%[a-z0-9]+}}, {{%[a-z0-9]+}} {epsilon = 1.000000e-05 : f64} : (tensor<1x4x5x5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x5x5xf32>
  %5 = tk.batch_norm %x, %c, %c, %c, %c {epsilon = 1.000000e-05 : f64} : (tensor<1x4x5x5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x5x5xf32>
  return
}
// CHECK-LABEL: func.func @library
func.func @library(%x: tensor<2x3xf32>, %i: tensor<2x3xi64>, %n: tensor<5x2xi64>, %u: tensor<5xf32>, %p: tensor<1x4x5x5xf32>, %r: tensor<7x4xf32>, %b: tensor<7xi64>, %g: tensor<1x8x9x2xf32>, %m: tensor<3x2x2xf32>) {
  // CHECK: tk.cumsum {{%[a-z0-9]+}} {axis = 1 : i64, exclusive = false, reverse = true} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = tk.cumsum %x {axis = 1 : i64, exclusive = false, reverse = true} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.top_k {{%[a-z0-9]+}} {axis = 1 : i64, k = 2 : i64, largest = true, sorted = true} : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xi64>)
  %1:2 = tk.top_k %x {axis = 1 : i64, k = 2 : i64, largest = true, sorted = true} : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xi64>)
  // CHECK: tk.scatter_elements {{%[a-z0-9]+}}, {{%[a-z0-9]+}}, {{%[a-z0-9]+}} {axis = 0 : i64, reduction = #tk.scatter_reduction<add>} : (tensor<2x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = tk.scatter_elements %x, %i, %x {axis = 0 : i64, reduction = #tk.scatter_reduction<add>} : (tensor<2x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.scatter_nd {{%[a-z0-9]+}}, {{%[a-z0-9]+}}, {{%[a-z0-9]+}} {reduction = #tk.scatter_reduction<none>} : (tensor<2x3xf32>, tensor<5x2xi64>, tensor<5xf32>) -> tensor<2x3xf32>
  %3 = tk.scatter_nd %x, %n, %u {reduction = #tk.scatter_reduction<none>} : (tensor<2x3xf32>, tensor<5x2xi64>, tensor<5xf32>) -> tensor<2x3xf32>
  // CHECK: tk.max_pool_indices {{%[a-z0-9]+}} {column_major = false, dilations = array<i64: 1, 1>, kernel = array<i64: 2, 2>, pads_high = array<i64: 0, 0>, pads_low = array<i64: 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x4x5x5xf32>) -> (tensor<1x4x2x2xf32>, tensor<1x4x2x2xi64>)
  %4:2 = tk.max_pool_indices %p {column_major = false, dilations = array<i64: 1, 1>, kernel = array<i64: 2, 2>, pads_high = array<i64: 0, 0>, pads_low = array<i64: 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x4x5x5xf32>) -> (tensor<1x4x2x2xf32>, tensor<1x4x2x2xi64>)
  // CHECK: tk.roi_align {{%[a-z0-9]+}}, {{%[a-z0-9]+}}, {{%[a-z0-9]+}} {half_pixel = true, height = 2 : i64, max_mode = false, sampling_ratio = 0 : i64, spatial_scale = 5.000000e-01 : f64, width = 3 : i64} : (tensor<1x4x5x5xf32>, tensor<7x4xf32>, tensor<7xi64>) -> tensor<7x4x2x3xf32>
  %5 = tk.roi_align %p, %r, %b {half_pixel = true, height = 2 : i64, max_mode = false, sampling_ratio = 0 : i64, spatial_scale = 5.000000e-01 : f64, width = 3 : i64} : (tensor<1x4x5x5xf32>, tensor<7x4xf32>, tensor<7xi64>) -> tensor<7x4x2x3xf32>
  // CHECK: tk.grid_sample {{%[a-z0-9]+}}, {{%[a-z0-9]+}} {align_corners = true, mode = #tk.grid_mode<cubic>, padding = #tk.grid_padding<reflection>} : (tensor<1x4x5x5xf32>, tensor<1x8x9x2xf32>) -> tensor<1x4x8x9xf32>
  %6 = tk.grid_sample %p, %g {align_corners = true, mode = #tk.grid_mode<cubic>, padding = #tk.grid_padding<reflection>} : (tensor<1x4x5x5xf32>, tensor<1x8x9x2xf32>) -> tensor<1x4x8x9xf32>
  // CHECK: tk.det {{%[a-z0-9]+}} : (tensor<3x2x2xf32>) -> tensor<3xf32>
  %7 = tk.det %m : (tensor<3x2x2xf32>) -> tensor<3xf32>
  return
}
// CHECK-LABEL: func.func @regions
func.func @regions(%x: tensor<2x3xf32>, %c: tensor<i1>, %n: tensor<i64>) {
  // CHECK: tk.composite "Relu"({{%[a-z0-9]+}}) {
  %0 = tk.composite "Relu"(%x) {
  ^bb0(%arg0: tensor<2x3xf32>):
    // CHECK: tk.constant dense<0.000000e+00> : tensor<f32>
    %5 = tk.constant dense<0.0> : tensor<f32>
    // CHECK: tk.max {{%[a-z0-9]+}}, {{%[a-z0-9]+}} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %6 = tk.max %arg0, %5 : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    tk.yield %6 : tensor<2x3xf32>
  } : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: tk.fusion "exp_neg"({{%[a-z0-9]+}}) {
  %1:2 = tk.fusion "exp_neg"(%x) {
  ^bb0(%arg0: tensor<2x3xf32>):
    // CHECK: tk.exp {{%[a-z0-9]+}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %5 = tk.exp %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    // CHECK: tk.neg {{%[a-z0-9]+}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %6 = tk.neg %5 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    // CHECK: tk.yield {{%[a-z0-9]+}}, {{%[a-z0-9]+}} : tensor<2x3xf32>, tensor<2x3xf32>
    tk.yield %5, %6 : tensor<2x3xf32>, tensor<2x3xf32>
  } : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  // CHECK: tk.fusion() {
  %2 = tk.fusion() {
    // CHECK: tk.iota  {axis = 0 : i64, shape = array<i64: 4>, to = i64} : () -> tensor<4xi64>
    %5 = tk.iota {axis = 0 : i64, shape = array<i64: 4>, to = i64} : () -> tensor<4xi64>
    tk.yield %5 : tensor<4xi64>
  } : () -> tensor<4xi64>
  // CHECK: tk.if {{%[a-z0-9]+}} {
  %3 = tk.if %c {
    tk.yield %x : tensor<2x3xf32>
  } else {
    // CHECK: tk.neg {{%[a-z0-9]+}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %5 = tk.neg %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    tk.yield %5 : tensor<2x3xf32>
  } : (tensor<i1>) -> tensor<2x3xf32>
  // CHECK: tk.loop limit({{%[a-z0-9]+}} : tensor<i64>) while({{%[a-z0-9]+}} : tensor<i1>) carry({{%[a-z0-9]+}}) trips 5 {
  %4:2 = tk.loop limit(%n : tensor<i64>) while(%c : tensor<i1>) carry(%x) trips 5 {
  ^bb0(%arg0: tensor<i64>, %arg1: tensor<i1>, %arg2: tensor<2x3xf32>):
    // CHECK: tk.neg {{%[a-z0-9]+}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %5 = tk.neg %arg2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    tk.yield %arg1, %5, %arg0 : tensor<i1>, tensor<2x3xf32>, tensor<i64>
  } : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<5xi64>)
  // CHECK: tk.loop carry() trips 0 {
  tk.loop carry() trips 0 {
  ^bb0(%arg0: tensor<i64>, %arg1: tensor<i1>):
    tk.yield %arg1 : tensor<i1>
  } : () -> ()
  return
}
{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F00000040"
    }
  }
#-}
