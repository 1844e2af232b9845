// Values are checked by SimplifySlicesTest.cpp; here is what becomes of the chains.
// RUN: tokamak-opt %s --simplify-slices --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: func.func @slice_of_slice
// CHECK-NEXT: tk.slice %arg0 {sizes = array<i64: 2>, starts = array<i64: 7>, steps = array<i64: -4>} {{.*}} loc(fused["a:Slice", "b:Slice"])
// CHECK-NEXT: return
func.func @slice_of_slice(%x: tensor<10xf32>) -> tensor<2xf32> {
  %0 = tk.slice %x {starts = array<i64: 9>, sizes = array<i64: 4>, steps = array<i64: -2>} : (tensor<10xf32>) -> tensor<4xf32> loc("a:Slice")
  %1 = tk.slice %0 {starts = array<i64: 1>, sizes = array<i64: 2>, steps = array<i64: 2>} : (tensor<4xf32>) -> tensor<2xf32> loc("b:Slice")
  return %1 : tensor<2xf32>
}

// A split of a concatenation takes it apart again; one piece more takes parts that it meets.
// CHECK-LABEL: func.func @slice_of_concat
// CHECK-NEXT: %[[C:.*]] = tk.concat %arg0, %arg1 {axis = 0 : i64}
// CHECK-NEXT: %[[S:.*]] = tk.slice %[[C]] {sizes = array<i64: 2>, starts = array<i64: 1>, steps = array<i64: 1>}
// CHECK-NEXT: return %[[S]]
func.func @slice_of_concat(%x: tensor<2xf32>, %y: tensor<3xf32>, %z: tensor<4xf32>) -> tensor<2xf32> {
  %0 = tk.concat %x, %y, %z {axis = 0 : i64} : (tensor<2xf32>, tensor<3xf32>, tensor<4xf32>) -> tensor<9xf32>
  %1 = tk.slice %0 {starts = array<i64: 1>, sizes = array<i64: 2>, steps = array<i64: 1>} : (tensor<9xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: func.func @split_of_concat
// CHECK-NEXT: return %arg0, %arg1, %arg2
func.func @split_of_concat(%x: tensor<2xf32>, %y: tensor<3xf32>, %z: tensor<4xf32>) -> (tensor<2xf32>, tensor<3xf32>, tensor<4xf32>) {
  %0 = tk.concat %x, %y, %z {axis = 0 : i64} : (tensor<2xf32>, tensor<3xf32>, tensor<4xf32>) -> tensor<9xf32>
  %1 = tk.slice %0 {starts = array<i64: 0>, sizes = array<i64: 2>, steps = array<i64: 1>} : (tensor<9xf32>) -> tensor<2xf32>
  %2 = tk.slice %0 {starts = array<i64: 2>, sizes = array<i64: 3>, steps = array<i64: 1>} : (tensor<9xf32>) -> tensor<3xf32>
  %3 = tk.slice %0 {starts = array<i64: 5>, sizes = array<i64: 4>, steps = array<i64: 1>} : (tensor<9xf32>) -> tensor<4xf32>
  return %1, %2, %3 : tensor<2xf32>, tensor<3xf32>, tensor<4xf32>
}

// The whole concatenation is needed anyway: a shorter one would be a second copy.
// CHECK-LABEL: func.func @concat_is_output
// CHECK-COUNT-1: tk.concat
// CHECK-NOT: tk.concat
func.func @concat_is_output(%x: tensor<2xf32>, %y: tensor<3xf32>, %z: tensor<4xf32>) -> (tensor<9xf32>, tensor<2xf32>) {
  %0 = tk.concat %x, %y, %z {axis = 0 : i64} : (tensor<2xf32>, tensor<3xf32>, tensor<4xf32>) -> tensor<9xf32>
  %1 = tk.slice %0 {starts = array<i64: 1>, sizes = array<i64: 2>, steps = array<i64: 1>} : (tensor<9xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<9xf32>, tensor<2xf32>
}

// A concatenation of a split is the value, or a longer slice of it.
// CHECK-LABEL: func.func @concat_of_split
// CHECK-NEXT: %[[S:.*]] = tk.slice %arg0 {sizes = array<i64: 5>, starts = array<i64: 1>, steps = array<i64: 1>}
// CHECK-NEXT: return %arg0, %[[S]]
func.func @concat_of_split(%x: tensor<6xf32>) -> (tensor<6xf32>, tensor<5xf32>) {
  %0 = tk.slice %x {starts = array<i64: 0>, sizes = array<i64: 1>, steps = array<i64: 1>} : (tensor<6xf32>) -> tensor<1xf32>
  %1 = tk.slice %x {starts = array<i64: 1>, sizes = array<i64: 3>, steps = array<i64: 1>} : (tensor<6xf32>) -> tensor<3xf32>
  %2 = tk.slice %x {starts = array<i64: 4>, sizes = array<i64: 2>, steps = array<i64: 1>} : (tensor<6xf32>) -> tensor<2xf32>
  %3 = tk.concat %0, %1, %2 {axis = 0 : i64} : (tensor<1xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<6xf32>
  %4 = tk.concat %1, %2 {axis = 0 : i64} : (tensor<3xf32>, tensor<2xf32>) -> tensor<5xf32>
  return %3, %4 : tensor<6xf32>, tensor<5xf32>
}

// Slices that overlap, leave a gap, stand in another order, differ in another axis, or come from two values.
// CHECK-LABEL: func.func @concats_that_stay
// CHECK-COUNT-5: tk.concat
func.func @concats_that_stay(%x: tensor<6x2xf32>, %y: tensor<6x2xf32>) -> (tensor<6x2xf32>, tensor<4x2xf32>, tensor<6x2xf32>, tensor<6x1xf32>, tensor<6x2xf32>) {
  %0 = tk.slice %x {starts = array<i64: 0, 0>, sizes = array<i64: 3, 2>, steps = array<i64: 1, 1>} : (tensor<6x2xf32>) -> tensor<3x2xf32>
  %1 = tk.slice %x {starts = array<i64: 2, 0>, sizes = array<i64: 3, 2>, steps = array<i64: 1, 1>} : (tensor<6x2xf32>) -> tensor<3x2xf32>
  %2 = tk.concat %0, %1 {axis = 0 : i64} : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<6x2xf32>
  %3 = tk.slice %x {starts = array<i64: 5, 0>, sizes = array<i64: 1, 2>, steps = array<i64: 1, 1>} : (tensor<6x2xf32>) -> tensor<1x2xf32>
  %4 = tk.concat %0, %3 {axis = 0 : i64} : (tensor<3x2xf32>, tensor<1x2xf32>) -> tensor<4x2xf32>
  %5 = tk.slice %x {starts = array<i64: 3, 0>, sizes = array<i64: 3, 2>, steps = array<i64: 1, 1>} : (tensor<6x2xf32>) -> tensor<3x2xf32>
  %6 = tk.concat %5, %0 {axis = 0 : i64} : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<6x2xf32>
  %7 = tk.slice %x {starts = array<i64: 0, 0>, sizes = array<i64: 3, 1>, steps = array<i64: 1, 1>} : (tensor<6x2xf32>) -> tensor<3x1xf32>
  %8 = tk.slice %x {starts = array<i64: 3, 1>, sizes = array<i64: 3, 1>, steps = array<i64: 1, 1>} : (tensor<6x2xf32>) -> tensor<3x1xf32>
  %9 = tk.concat %7, %8 {axis = 0 : i64} : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<6x1xf32>
  %10 = tk.slice %y {starts = array<i64: 3, 0>, sizes = array<i64: 3, 2>, steps = array<i64: 1, 1>} : (tensor<6x2xf32>) -> tensor<3x2xf32>
  %11 = tk.concat %0, %10 {axis = 0 : i64} : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<6x2xf32>
  return %2, %4, %6, %9, %11 : tensor<6x2xf32>, tensor<4x2xf32>, tensor<6x2xf32>, tensor<6x1xf32>, tensor<6x2xf32>
}

// CHECK-LABEL: func.func @concat_of_concat
// CHECK-NEXT: %[[C:.*]] = tk.concat %arg0, %arg1, %arg0 {axis = 0 : i64}
// CHECK-NEXT: return %[[C]]
func.func @concat_of_concat(%x: tensor<2xf32>, %y: tensor<3xf32>, %e: tensor<0xf32>) -> tensor<7xf32> {
  %0 = tk.concat %x, %e, %y {axis = 0 : i64} : (tensor<2xf32>, tensor<0xf32>, tensor<3xf32>) -> tensor<5xf32>
  %1 = tk.concat %0, %x {axis = 0 : i64} : (tensor<5xf32>, tensor<2xf32>) -> tensor<7xf32>
  return %1 : tensor<7xf32>
}

// CHECK-LABEL: func.func @concat_of_other_axis
// CHECK-COUNT-2: tk.concat
func.func @concat_of_other_axis(%x: tensor<2x2xf32>) -> tensor<4x4xf32> {
  %0 = tk.concat %x, %x {axis = 0 : i64} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %1 = tk.concat %0, %0 {axis = 1 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// A crop of what was padded, and one that keeps some of the padding.
// CHECK-LABEL: func.func @slice_of_pad
// CHECK-NEXT: tk.constant
// CHECK-NEXT: %[[P:.*]] = tk.pad
// CHECK-NEXT: %[[S:.*]] = tk.slice %[[P]]
// CHECK-NEXT: return %arg0, %[[S]]
func.func @slice_of_pad(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %0 = tk.pad %x, %zero {low = array<i64: 1>, high = array<i64: 1>} : (tensor<4xf32>, tensor<f32>) -> tensor<6xf32>
  %1 = tk.slice %0 {starts = array<i64: 1>, sizes = array<i64: 4>, steps = array<i64: 1>} : (tensor<6xf32>) -> tensor<4xf32>
  %2 = tk.slice %0 {starts = array<i64: 2>, sizes = array<i64: 4>, steps = array<i64: 1>} : (tensor<6xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
