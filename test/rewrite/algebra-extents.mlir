// Every rewrite on tensors without elements, and of rank 0.
// RUN: tokamak-opt %s --inline-composites --simplify-slices --sink-reshapes --sink-transposes --fold-transposes --reduce-strength --join-clips --gather-constants --fold-scale-shift --fold-padding --reassociate-products | FileCheck %s

// CHECK-LABEL: func.func @zero
// CHECK: return %{{.*}} : tensor<0x3xf32>
func.func @zero(%x: tensor<0x3xf32>) -> tensor<0x3xf32> {
  %a = tk.constant dense<1.0> : tensor<0x3xf32>
  %b = tk.constant dense<> : tensor<0x3xf32>
  %0 = tk.add %x, %a : (tensor<0x3xf32>, tensor<0x3xf32>) -> tensor<0x3xf32>
  %1 = tk.add %0, %b : (tensor<0x3xf32>, tensor<0x3xf32>) -> tensor<0x3xf32>
  %2 = tk.pow %1, %b : (tensor<0x3xf32>, tensor<0x3xf32>) -> tensor<0x3xf32>
  %3 = tk.max %2, %b : (tensor<0x3xf32>, tensor<0x3xf32>) -> tensor<0x3xf32>
  %4 = tk.max %3, %a : (tensor<0x3xf32>, tensor<0x3xf32>) -> tensor<0x3xf32>
  %5 = tk.div %4, %b : (tensor<0x3xf32>, tensor<0x3xf32>) -> tensor<0x3xf32>
  return %5 : tensor<0x3xf32>
}

// CHECK-LABEL: func.func @scalar
// CHECK: %[[A:.*]] = tk.add %arg0, %{{.*}} : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[S:.*]] = tk.mul %[[A]], %[[A]]
// CHECK: %[[M:.*]] = tk.max %[[S]]
// CHECK: %[[D:.*]] = tk.mul %[[M]]
// CHECK-NEXT: return %[[D]]
func.func @scalar(%x: tensor<f32>) -> tensor<f32> {
  %a = tk.constant dense<2.0> : tensor<f32>
  %0 = tk.add %x, %a : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = tk.add %0, %a : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %2 = tk.pow %1, %a : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %3 = tk.max %2, %a : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %4 = tk.max %3, %a : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %5 = tk.div %4, %a : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %5 : tensor<f32>
}

// Sums over no products, and products without elements.
// CHECK-LABEL: func.func @mm0
// CHECK-COUNT-3: tk.matmul
func.func @mm0(%x: tensor<2x0xf32>) -> tensor<2x3xf32> {
  %w = tk.constant dense<> : tensor<0x3xf32>
  %a = tk.constant dense<2.0> : tensor<f32>
  %0 = tk.matmul %x, %w : (tensor<2x0xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  %1 = tk.mul %0, %a : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %w2 = tk.constant dense<1.0> : tensor<3x0xf32>
  %2 = tk.matmul %1, %w2 : (tensor<2x3xf32>, tensor<3x0xf32>) -> tensor<2x0xf32>
  %3 = tk.matmul %2, %w : (tensor<2x0xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  return %3 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @conv0
// CHECK: %[[W:.*]] = tk.constant dense<4.0{{.*}}> : tensor<2x2x1x1xf32>
// CHECK-NEXT: %[[C:.*]] = tk.conv %arg0, %[[W]]
// CHECK-NEXT: return %[[C]]
func.func @conv0(%x: tensor<1x2x0x4xf32>) -> tensor<1x2x0x4xf32> {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %a = tk.constant dense<2.0> : tensor<1x2x0x4xf32>
  %w = tk.constant dense<1.0> : tensor<2x2x1x1xf32>
  %p = tk.mul %x, %a : (tensor<1x2x0x4xf32>, tensor<1x2x0x4xf32>) -> tensor<1x2x0x4xf32>
  %0 = tk.conv %p, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x2x0x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x0x4xf32>
  %1 = tk.mul %0, %a : (tensor<1x2x0x4xf32>, tensor<1x2x0x4xf32>) -> tensor<1x2x0x4xf32>
  return %1 : tensor<1x2x0x4xf32>
}

// Integers: quotients truncate, powers are defined in double.
// CHECK-LABEL: func.func @int
// CHECK: tk.pow
// CHECK: tk.div
func.func @int(%x: tensor<8xi32>) -> tensor<8xi32> {
  %a = tk.constant dense<2> : tensor<i32>
  %0 = tk.sub %x, %a : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
  %1 = tk.neg %0 : (tensor<8xi32>) -> tensor<8xi32>
  %2 = tk.pow %1, %a : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
  %3 = tk.div %2, %a : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
  return %3 : tensor<8xi32>
}
