// Folders are exact: what they leave alone is tested as much as what they take.
// RUN: tokamak-opt %s --canonicalize --split-input-file | FileCheck %s

// CHECK-LABEL: @float_identities
// CHECK-NEXT: return %arg0, %arg0, %arg0, %arg0, %arg0
func.func @float_identities(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %one = tk.constant dense<1.0> : tensor<f32>
  %ones = tk.constant dense<1.0> : tensor<2x3xf32>
  %zero = tk.constant dense<0.0> : tensor<1x3xf32>
  %minus_zero = tk.constant dense<-0.0> : tensor<f32>
  %0 = tk.mul %x, %one : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %1 = tk.mul %ones, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = tk.div %x, %one : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %3 = tk.sub %x, %zero : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %4 = tk.add %minus_zero, %x : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1, %2, %3, %4 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// -0.0 + 0.0 is 0.0, and so is -0.0 - -0.0.
// CHECK-LABEL: @signed_zeros
// CHECK: tk.add
// CHECK: tk.sub
func.func @signed_zeros(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %minus_zero = tk.constant dense<-0.0> : tensor<f32>
  %0 = tk.add %x, %zero : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %1 = tk.sub %x, %minus_zero : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}

// -----

// x * 0 is not 0 where x is NaN, and x - x is not where x is infinite.
// CHECK-LABEL: @not_identities
// CHECK: tk.mul
// CHECK: tk.sub
// CHECK: tk.div
// CHECK: tk.sub
func.func @not_identities(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %one = tk.constant dense<1.0> : tensor<f32>
  %0 = tk.mul %x, %zero : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %1 = tk.sub %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %2 = tk.div %one, %x : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  %3 = tk.sub %zero, %x : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  return %0, %1, %2, %3 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// -----

// CHECK-LABEL: @integer_identities
// CHECK-NEXT: return %arg0, %arg0, %arg1, %arg1
func.func @integer_identities(%x: tensor<3xi32>, %u: tensor<3xui8>) -> (tensor<3xi32>, tensor<3xi32>, tensor<3xui8>, tensor<3xui8>) {
  %zero = tk.constant dense<0> : tensor<i32>
  %one = tk.constant dense<1> : tensor<ui8>
  %0 = tk.add %x, %zero : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
  %1 = tk.sub %x, %zero : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
  %2 = tk.mul %u, %one : (tensor<3xui8>, tensor<ui8>) -> tensor<3xui8>
  %3 = tk.div %u, %one : (tensor<3xui8>, tensor<ui8>) -> tensor<3xui8>
  return %0, %1, %2, %3 : tensor<3xi32>, tensor<3xi32>, tensor<3xui8>, tensor<3xui8>
}

// -----

// The constant's shape would be lost.
// CHECK-LABEL: @identity_that_broadcasts
// CHECK: tk.mul
func.func @identity_that_broadcasts(%x: tensor<3xf32>) -> tensor<2x3xf32> {
  %ones = tk.constant dense<1.0> : tensor<2x1xf32>
  %0 = tk.mul %x, %ones : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// Not all elements are one; nor is a constant of no elements anything.
// CHECK-LABEL: @not_all_ones
// CHECK: tk.mul
// CHECK: tk.mul
func.func @not_all_ones(%x: tensor<2xf32>, %none: tensor<0xf32>) -> (tensor<2xf32>, tensor<0xf32>) {
  %some = tk.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = tk.mul %x, %some : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %empty = tk.constant dense<> : tensor<0xf32>
  %1 = tk.mul %none, %empty : (tensor<0xf32>, tensor<0xf32>) -> tensor<0xf32>
  return %0, %1 : tensor<2xf32>, tensor<0xf32>
}

// -----

// CHECK-LABEL: @involutions
// CHECK-NEXT: return %arg0, %arg1
func.func @involutions(%x: tensor<3xf32>, %b: tensor<3xi1>) -> (tensor<3xf32>, tensor<3xi1>) {
  %0 = tk.neg %x : (tensor<3xf32>) -> tensor<3xf32>
  %1 = tk.neg %0 : (tensor<3xf32>) -> tensor<3xf32>
  %2 = tk.not %b : (tensor<3xi1>) -> tensor<3xi1>
  %3 = tk.not %2 : (tensor<3xi1>) -> tensor<3xi1>
  return %1, %3 : tensor<3xf32>, tensor<3xi1>
}

// -----

// CHECK-LABEL: @nothing_changes
// CHECK-NEXT: return %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0
func.func @nothing_changes(%x: tensor<2x1xf32>) -> (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>) {
  %0 = tk.cast %x {to = f32} : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %1 = tk.broadcast %x {shape = array<i64: 2, 1>} : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %2 = tk.reshape %x {shape = array<i64: 2, 1>} : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %3 = tk.transpose %x {permutation = array<i64: 0, 1>} : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %4 = tk.slice %x {starts = array<i64: 0, 0>, sizes = array<i64: 2, 1>, steps = array<i64: 1, -1>} : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %5 = tk.concat %x {axis = 1 : i64} : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %6 = tk.reduce %x {axes = array<i64>, keep_dims = false, kind = #tk.reduce_kind<sum>} : (tensor<2x1xf32>) -> tensor<2x1xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>
}

// -----

// A reversal, a swap of equal extents, and a sum over an axis of one element (-0.0 becomes 0.0) keep the type only.
// CHECK-LABEL: @same_type_only
// CHECK: tk.slice
// CHECK: tk.transpose
// CHECK: tk.reduce
func.func @same_type_only(%x: tensor<2x2x1xf32>) -> (tensor<2x2x1xf32>, tensor<2x2x1xf32>, tensor<2x2x1xf32>) {
  %0 = tk.slice %x {starts = array<i64: 1, 0, 0>, sizes = array<i64: 2, 2, 1>, steps = array<i64: -1, 1, 1>} : (tensor<2x2x1xf32>) -> tensor<2x2x1xf32>
  %1 = tk.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<2x2x1xf32>) -> tensor<2x2x1xf32>
  %2 = tk.reduce %x {axes = array<i64: 2>, keep_dims = true, kind = #tk.reduce_kind<sum>} : (tensor<2x2x1xf32>) -> tensor<2x2x1xf32>
  return %0, %1, %2 : tensor<2x2x1xf32>, tensor<2x2x1xf32>, tensor<2x2x1xf32>
}

// -----

// CHECK-LABEL: @chains
// CHECK-NEXT: %[[R:.*]] = tk.reshape %arg0 {shape = array<i64: 24>}
// CHECK-NEXT: %[[T:.*]] = tk.transpose %arg0 {permutation = array<i64: 2, 0, 1>}
// CHECK-NEXT: %[[B:.*]] = tk.broadcast %arg0 {shape = array<i64: 5, 6, 2, 3, 4>}
// CHECK-NEXT: return %[[R]], %[[T]], %[[B]], %arg0, %arg0
func.func @chains(%x: tensor<2x3x4xf32>) -> (tensor<24xf32>, tensor<4x2x3xf32>, tensor<5x6x2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) {
  %0 = tk.reshape %x {shape = array<i64: 6, 4>} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %1 = tk.reshape %0 {shape = array<i64: 24>} : (tensor<6x4xf32>) -> tensor<24xf32>
  %2 = tk.transpose %x {permutation = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %3 = tk.transpose %2 {permutation = array<i64: 1, 2, 0>} : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  %4 = tk.broadcast %x {shape = array<i64: 6, 2, 3, 4>} : (tensor<2x3x4xf32>) -> tensor<6x2x3x4xf32>
  %5 = tk.broadcast %4 {shape = array<i64: 5, 6, 2, 3, 4>} : (tensor<6x2x3x4xf32>) -> tensor<5x6x2x3x4xf32>
  %6 = tk.reshape %1 {shape = array<i64: 2, 3, 4>} : (tensor<24xf32>) -> tensor<2x3x4xf32>
  %7 = tk.transpose %3 {permutation = array<i64: 1, 2, 0>} : (tensor<4x2x3xf32>) -> tensor<2x3x4xf32>
  return %1, %3, %5, %6, %7 : tensor<24xf32>, tensor<4x2x3xf32>, tensor<5x6x2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>
}
