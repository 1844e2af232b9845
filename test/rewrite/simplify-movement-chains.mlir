// RUN: tokamak-opt %s --simplify-movement-chains | FileCheck %s

// CHECK-LABEL: func.func @reshapes
// CHECK-NEXT: %[[R:.*]] = tk.reshape %arg0 {shape = array<i64: 2, 4>}
// CHECK-NEXT: return %[[R]], %arg0
func.func @reshapes(%x: tensor<8xf32>) -> (tensor<2x4xf32>, tensor<8xf32>) {
  %0 = tk.reshape %x {shape = array<i64: 4, 2>} : (tensor<8xf32>) -> tensor<4x2xf32>
  %1 = tk.reshape %0 {shape = array<i64: 2, 2, 2>} : (tensor<4x2xf32>) -> tensor<2x2x2xf32>
  %2 = tk.reshape %1 {shape = array<i64: 2, 4>} : (tensor<2x2x2xf32>) -> tensor<2x4xf32>
  %3 = tk.reshape %1 {shape = array<i64: 8>} : (tensor<2x2x2xf32>) -> tensor<8xf32>
  return %2, %3 : tensor<2x4xf32>, tensor<8xf32>
}

// Transposes that cancel go.
// CHECK-LABEL: func.func @transposes
// CHECK-NEXT: %[[T:.*]] = tk.transpose %arg0 {permutation = array<i64: 2, 0, 1>}
// CHECK-NEXT: return %arg0, %[[T]]
func.func @transposes(%x: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<4x2x3xf32>) {
  %0 = tk.transpose %x {permutation = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = tk.transpose %0 {permutation = array<i64: 2, 0, 1>} : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  %2 = tk.transpose %0 {permutation = array<i64: 1, 2, 0>} : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  return %1, %2 : tensor<2x3x4xf32>, tensor<4x2x3xf32>
}

// There and back through a wider type changes nothing; a wider type on the way is skipped.
// CHECK-LABEL: func.func @lossless_casts
// CHECK-NEXT: %[[H:.*]] = tk.cast %arg1 {to = f16}
// CHECK-NEXT: return %arg0, %[[H]]
func.func @lossless_casts(%x: tensor<2xf32>, %i: tensor<2xi8>) -> (tensor<2xf32>, tensor<2xf16>) {
  %0 = tk.cast %x {to = f64} : (tensor<2xf32>) -> tensor<2xf64>
  %1 = tk.cast %0 {to = f32} : (tensor<2xf64>) -> tensor<2xf32>
  %2 = tk.cast %i {to = i32} : (tensor<2xi8>) -> tensor<2xi32>
  %3 = tk.cast %2 {to = f32} : (tensor<2xi32>) -> tensor<2xf32>
  %4 = tk.cast %3 {to = f16} : (tensor<2xf32>) -> tensor<2xf16>
  return %1, %4 : tensor<2xf32>, tensor<2xf16>
}

// What a cast on the way rounds, wraps or cuts off stays.
// CHECK-LABEL: func.func @lossy_casts
// CHECK-COUNT-10: tk.cast
// CHECK-NOT: tk.cast
func.func @lossy_casts(%x: tensor<2xf32>, %i: tensor<2xi64>, %u: tensor<2xui8>, %b: tensor<2xbf16>)
    -> (tensor<2xf32>, tensor<2xi64>, tensor<2xi32>, tensor<2xbf16>, tensor<2xf32>) {
  %0 = tk.cast %x {to = f16} : (tensor<2xf32>) -> tensor<2xf16>
  %1 = tk.cast %0 {to = f32} : (tensor<2xf16>) -> tensor<2xf32>
  %2 = tk.cast %i {to = f64} : (tensor<2xi64>) -> tensor<2xf64>
  %3 = tk.cast %2 {to = i64} : (tensor<2xf64>) -> tensor<2xi64>
  %4 = tk.cast %u {to = i8} : (tensor<2xui8>) -> tensor<2xi8>
  %5 = tk.cast %4 {to = i32} : (tensor<2xi8>) -> tensor<2xi32>
  %6 = tk.cast %b {to = f16} : (tensor<2xbf16>) -> tensor<2xf16>
  %7 = tk.cast %6 {to = bf16} : (tensor<2xf16>) -> tensor<2xbf16>
  %8 = tk.cast %x {to = i1} : (tensor<2xf32>) -> tensor<2xi1>
  %9 = tk.cast %8 {to = f32} : (tensor<2xi1>) -> tensor<2xf32>
  return %1, %3, %5, %7, %9 : tensor<2xf32>, tensor<2xi64>, tensor<2xi32>, tensor<2xbf16>, tensor<2xf32>
}

// Operators that change nothing; -0.0 is what an addition does not see, 0.0 is not.
// CHECK-LABEL: func.func @identities
// CHECK: tk.add
// CHECK-NOT: tk.mul
// CHECK-NOT: tk.slice
func.func @identities(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %one = tk.constant dense<1.0> : tensor<f32>
  %zero = tk.constant dense<0.0> : tensor<f32>
  %0 = tk.mul %x, %one : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = tk.slice %0 {starts = array<i64: 0, 0>, sizes = array<i64: 2, 3>, steps = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = tk.add %x, %zero : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %1, %2 : tensor<2x3xf32>, tensor<2x3xf32>
}

// In regions as outside, not in composites.
// CHECK-LABEL: func.func @regions
// CHECK: tk.if
// CHECK-NEXT: tk.yield %arg0
// CHECK: tk.composite "Neg"
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tk.neg
// CHECK-NEXT: tk.neg
func.func @regions(%x: tensor<8xf32>, %c: tensor<i1>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = tk.if %c {
    %1 = tk.neg %x : (tensor<8xf32>) -> tensor<8xf32>
    %2 = tk.neg %1 : (tensor<8xf32>) -> tensor<8xf32>
    tk.yield %2 : tensor<8xf32>
  } else {
    tk.yield %x : tensor<8xf32>
  } : (tensor<i1>) -> tensor<8xf32>
  %3 = tk.composite "Neg"(%x) {
  ^bb0(%i: tensor<8xf32>):
    %4 = tk.neg %i : (tensor<8xf32>) -> tensor<8xf32>
    %5 = tk.neg %4 : (tensor<8xf32>) -> tensor<8xf32>
    tk.yield %5 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %3 : tensor<8xf32>, tensor<8xf32>
}

// A transpose that moves nothing but axes of extent 1 is a reshape.
// CHECK-LABEL: func.func @unit_transposes
// CHECK-NEXT: %[[A:.*]] = tk.reshape %arg0 {shape = array<i64: 4, 1, 5>}
// CHECK-NEXT: %[[T:.*]] = tk.transpose %arg0 {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: return %[[A]], %[[T]]
func.func @unit_transposes(%x: tensor<1x4x5xf32>) -> (tensor<4x1x5xf32>, tensor<1x5x4xf32>) {
  %0 = tk.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<1x4x5xf32>) -> tensor<4x1x5xf32>
  %1 = tk.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<1x4x5xf32>) -> tensor<1x5x4xf32>
  return %0, %1 : tensor<4x1x5xf32>, tensor<1x5x4xf32>
}
