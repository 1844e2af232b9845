// RUN: tokamak-opt %s --decompose-batch-norm --eliminate-dead-code | FileCheck %s

// CHECK-LABEL: func.func @constant_statistics
// CHECK: %[[S:.*]] = tk.constant dense<{{\[\[\[}}1.0{{.*}}-3.0{{.*}} : tensor<2x1x1xf32>
// CHECK: %[[M:.*]] = tk.mul %arg0, %[[S]]
// CHECK: %[[T:.*]] = tk.constant dense<{{\[\[\[}}0.0{{.*}}-1.0{{.*}} : tensor<2x1x1xf32>
// CHECK: %[[R:.*]] = tk.add %[[M]], %[[T]]
// CHECK: return %[[R]]
func.func @constant_statistics(%x: tensor<3x2x4x4xf32>) -> tensor<3x2x4x4xf32> {
  %g = tk.constant dense<[2.0, -3.0]> : tensor<2xf32>
  %b = tk.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %m = tk.constant dense<[1.0, -1.0]> : tensor<2xf32>
  %v = tk.constant dense<[4.0, 1.0]> : tensor<2xf32>
  %0 = tk.batch_norm %x, %g, %b, %m, %v {epsilon = 0.0} : (tensor<3x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<3x2x4x4xf32>
  return %0 : tensor<3x2x4x4xf32>
}

// [N, C] without spatial axes, and a batch of nothing.
// CHECK-LABEL: func.func @ranks
// CHECK: tk.mul %arg0, %{{.*}} : (tensor<5x2xf32>, tensor<2xf32>) -> tensor<5x2xf32>
// CHECK: tk.mul %arg1, %{{.*}} : (tensor<0x2x3xf32>, tensor<2x1xf32>) -> tensor<0x2x3xf32>
// CHECK-NOT: tk.batch_norm
func.func @ranks(%x: tensor<5x2xf32>, %z: tensor<0x2x3xf32>) -> (tensor<5x2xf32>, tensor<0x2x3xf32>) {
  %g = tk.constant dense<[2.0, -3.0]> : tensor<2xf32>
  %v = tk.constant dense<[4.0, 1.0]> : tensor<2xf32>
  %0 = tk.batch_norm %x, %g, %g, %g, %v {epsilon = 0.0} : (tensor<5x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<5x2xf32>
  %1 = tk.batch_norm %z, %g, %g, %g, %v {epsilon = 0.0} : (tensor<0x2x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<0x2x3xf32>
  return %0, %1 : tensor<5x2xf32>, tensor<0x2x3xf32>
}

// Statistics that are inputs, and half precision, whose product may overflow where the norm does not.
// CHECK-LABEL: func.func @kept
// CHECK: tk.batch_norm
// CHECK: tk.batch_norm
func.func @kept(%x: tensor<3x2xf32>, %h: tensor<3x2xf16>, %m: tensor<2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf16>) {
  %g = tk.constant dense<[2.0, -3.0]> : tensor<2xf32>
  %gh = tk.constant dense<[2.0, 3.0]> : tensor<2xf16>
  %0 = tk.batch_norm %x, %g, %g, %m, %g {epsilon = 0.0} : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %1 = tk.batch_norm %h, %gh, %gh, %gh, %gh {epsilon = 0.0} : (tensor<3x2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>) -> tensor<3x2xf16>
  return %0, %1 : tensor<3x2xf32>, tensor<3x2xf16>
}

// No variance: the factor is infinite, and infinity times the mean, 0, is no number, where the norm is infinite.
// CHECK-LABEL: func.func @no_variance
// CHECK: tk.batch_norm
func.func @no_variance(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %g = tk.constant dense<1.0> : tensor<2xf32>
  %z = tk.constant dense<0.0> : tensor<2xf32>
  %0 = tk.batch_norm %x, %g, %g, %z, %z {epsilon = 0.0} : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// The factor times the mean, 1e40, is none of single precision.
// CHECK-LABEL: func.func @large_shift
// CHECK: tk.batch_norm
func.func @large_shift(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %g = tk.constant dense<1.0e+18> : tensor<2xf32>
  %z = tk.constant dense<0.0> : tensor<2xf32>
  %m = tk.constant dense<1.0e+20> : tensor<2xf32>
  %v = tk.constant dense<1.0e-4> : tensor<2xf32>
  %0 = tk.batch_norm %x, %g, %z, %m, %v {epsilon = 0.0} : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
