// Values, and what is left alone, are checked by ReduceStrengthTest.cpp.
// RUN: tokamak-opt %s --reduce-strength | FileCheck %s

// CHECK-LABEL: func.func @powers
// CHECK: %[[SQUARE:.*]] = tk.mul %arg0, %arg0
// CHECK: %[[S:.*]] = tk.mul %arg0, %arg0
// CHECK-NEXT: %[[CUBE:.*]] = tk.mul %[[S]], %arg0
// CHECK: %[[ONE:.*]] = tk.constant dense<1.0{{.*}}> : tensor<f32>
// CHECK-NEXT: %[[INVERSE:.*]] = tk.div %[[ONE]], %arg0
// CHECK: %[[ROOT:.*]] = tk.sqrt %[[SQUARE]]
// CHECK: %[[ONES:.*]] = tk.broadcast
// CHECK: return %[[SQUARE]], %[[CUBE]], %[[INVERSE]], %[[ROOT]], %[[ONES]]
func.func @powers(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %two = tk.constant dense<2.0> : tensor<f32>
  %three = tk.constant dense<3.0> : tensor<f32>
  %minus = tk.constant dense<-1.0> : tensor<f32>
  %half = tk.constant dense<0.5> : tensor<f32>
  %zero = tk.constant dense<0.0> : tensor<f32>
  %0 = tk.pow %x, %two : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = tk.pow %x, %three : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = tk.pow %x, %minus : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = tk.pow %0, %half : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %4 = tk.pow %x, %zero : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0, %1, %2, %3, %4 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @division
// CHECK: %[[C:.*]] = tk.constant dense<1.250000e-01>
// CHECK-NEXT: tk.mul %arg0, %[[C]]
func.func @division(%x: tensor<8xf32>) -> tensor<8xf32> {
  %eight = tk.constant dense<8.0> : tensor<f32>
  %0 = tk.div %x, %eight : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A root with as many elements as what it divides, or that something else reads, gains nothing.
// CHECK-LABEL: func.func @roots_that_stay
// CHECK: tk.div %arg0, %{{.*}} : (tensor<8xf32>, tensor<8xf32>)
// CHECK: tk.div %arg0, %{{.*}} : (tensor<8xf32>, tensor<1xf32>)
func.func @roots_that_stay(%x: tensor<8xf32>, %v: tensor<8xf32>, %w: tensor<1xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<1xf32>) {
  %0 = tk.sqrt %v : (tensor<8xf32>) -> tensor<8xf32>
  %1 = tk.div %x, %0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = tk.sqrt %w : (tensor<1xf32>) -> tensor<1xf32>
  %3 = tk.div %x, %2 : (tensor<8xf32>, tensor<1xf32>) -> tensor<8xf32>
  return %1, %3, %2 : tensor<8xf32>, tensor<8xf32>, tensor<1xf32>
}
