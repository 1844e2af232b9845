// RUN: tokamak-opt %s --sink-reshapes | FileCheck %s

// Bias along the last axis, activation, and a residual that others read: all run at the product's shape.
// CHECK-LABEL: func.func @behind_a_product
// CHECK: %[[E:.*]] = tk.exp %arg0 : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// CHECK: %[[P:.*]] = tk.matmul
// CHECK-NEXT: %[[B:.*]] = tk.add %[[P]], %{{.*}} : (tensor<6x4xf32>, tensor<4xf32>) -> tensor<6x4xf32>
// CHECK-NEXT: %[[V:.*]] = tk.reshape %[[E]] {shape = array<i64: 6, 4>}
// CHECK-NEXT: %[[R:.*]] = tk.add %[[B]], %[[V]]
// CHECK-NEXT: %[[M:.*]] = tk.max %[[R]], %{{.*}} : (tensor<6x4xf32>, tensor<f32>) -> tensor<6x4xf32>
// CHECK-NEXT: %[[Y:.*]] = tk.reshape %[[M]] {shape = array<i64: 2, 3, 4>}
// CHECK-NEXT: return %[[Y]], %[[E]]
func.func @behind_a_product(%x: tensor<2x3x4xf32>, %m: tensor<6x5xf32>, %w: tensor<5x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>) {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %bias = tk.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %residual = tk.exp %x : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %0 = tk.matmul %m, %w : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
  %1 = tk.reshape %0 {shape = array<i64: 2, 3, 4>} : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  %2 = tk.add %1, %bias : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  %3 = tk.add %2, %residual : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %4 = tk.max %3, %zero : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  return %4, %residual : tensor<2x3x4xf32>, tensor<2x3x4xf32>
}

// Two products, viewed alike.
// CHECK-LABEL: func.func @both_reshaped
// CHECK: tk.matmul
// CHECK: tk.matmul
// CHECK-NEXT: tk.sub %{{.*}} : (tensor<6x4xf32>, tensor<6x4xf32>)
// CHECK-NEXT: tk.reshape
// CHECK-NEXT: return
func.func @both_reshaped(%m: tensor<6x5xf32>, %n: tensor<6x5xf32>, %w: tensor<5x4xf32>) -> tensor<4x6xf32> {
  %0 = tk.matmul %m, %w : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
  %1 = tk.matmul %n, %w : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
  %2 = tk.reshape %0 {shape = array<i64: 4, 6>} : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %3 = tk.reshape %1 {shape = array<i64: 4, 6>} : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %4 = tk.sub %2, %3 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %4 : tensor<4x6xf32>
}

// A constant along an axis that the reshape does not keep; a value that the reshaped one is broadcast to; a
// reshaped value that something else reads; one that only gains axes of extent 1, which fuses as it is; a second
// operand that would have to be viewed and could be moved in turn.
// CHECK-LABEL: func.func @reshapes_that_stay
// CHECK: tk.reshape %{{.*}} {shape = array<i64: 4, 6>}
// CHECK-NEXT: tk.add
// CHECK: tk.reshape %{{.*}} {shape = array<i64: 4, 6>}
// CHECK-NEXT: tk.add
// CHECK: tk.reshape %{{.*}} {shape = array<i64: 4, 6>}
// CHECK-NEXT: tk.exp
// CHECK: tk.reshape %{{.*}} {shape = array<i64: 1, 6, 4>}
// CHECK-NEXT: tk.exp
// CHECK: tk.reshape %{{.*}} {shape = array<i64: 4, 6>}
// CHECK-NEXT: tk.exp
// CHECK-NEXT: tk.mul
func.func @reshapes_that_stay(%m: tensor<6x5xf32>, %w: tensor<5x4xf32>, %wide: tensor<2x4x6xf32>, %k: tensor<4x6xf32>)
    -> (tensor<4x6xf32>, tensor<2x4x6xf32>, tensor<4x6xf32>, tensor<6x4xf32>, tensor<1x6x4xf32>, tensor<4x6xf32>) {
  %row = tk.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
  %0 = tk.exp %m : (tensor<6x5xf32>) -> tensor<6x5xf32>
  %p0 = tk.matmul %0, %w : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
  %r0 = tk.reshape %p0 {shape = array<i64: 4, 6>} : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %y0 = tk.add %r0, %row : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  %p1 = tk.matmul %0, %w : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
  %r1 = tk.reshape %p1 {shape = array<i64: 4, 6>} : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %y1 = tk.add %r1, %wide : (tensor<4x6xf32>, tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %p2 = tk.matmul %0, %w : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
  %r2 = tk.reshape %p2 {shape = array<i64: 4, 6>} : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %y2 = tk.exp %r2 : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %p3 = tk.matmul %0, %w : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
  %r3 = tk.reshape %p3 {shape = array<i64: 1, 6, 4>} : (tensor<6x4xf32>) -> tensor<1x6x4xf32>
  %y3 = tk.exp %r3 : (tensor<1x6x4xf32>) -> tensor<1x6x4xf32>
  %p4 = tk.matmul %0, %w : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
  %r4 = tk.reshape %p4 {shape = array<i64: 4, 6>} : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %e4 = tk.exp %k : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %y4 = tk.mul %r4, %e4 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %y0, %y1, %y2, %p2, %y3, %y4 : tensor<4x6xf32>, tensor<2x4x6xf32>, tensor<4x6xf32>, tensor<6x4xf32>, tensor<1x6x4xf32>, tensor<4x6xf32>
}

// -----

// Never: a composite, whose body is written for its shapes.
// CHECK-LABEL: func.func @composite
// CHECK: tk.reshape
// CHECK: tk.composite
// CHECK-NOT: tk.reshape
// CHECK: return
func.func @composite(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  %n = tk.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %r = tk.reshape %n {shape = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>
  %c = tk.composite "Abs"(%r) {
  ^bb0(%a: tensor<2x2xf32>):
    %b = tk.abs %a : (tensor<2x2xf32>) -> tensor<2x2xf32>
    tk.yield %b : tensor<2x2xf32>
  } : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %c : tensor<2x2xf32>
}
