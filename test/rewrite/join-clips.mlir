// Values are checked by JoinClipsTest.cpp.
// RUN: tokamak-opt %s --join-clips | FileCheck %s

// relu(clip(clip(x))): the tightest bounds.
// CHECK-LABEL: func.func @clips
// CHECK: %[[LOW:.*]] = tk.constant dense<0.0{{.*}}>
// CHECK-NEXT: %[[A:.*]] = tk.max %arg0, %[[LOW]]
// CHECK-NEXT: %[[HIGH:.*]] = tk.constant dense<4.0{{.*}}>
// CHECK-NEXT: %[[B:.*]] = tk.min %[[A]], %[[HIGH]]
// CHECK-NEXT: return %[[B]]
func.func @clips(%x: tensor<8xf32>) -> tensor<8xf32> {
  %m2 = tk.constant dense<-2.0> : tensor<f32>
  %m1 = tk.constant dense<-1.0> : tensor<f32>
  %zero = tk.constant dense<0.0> : tensor<f32>
  %four = tk.constant dense<4.0> : tensor<f32>
  %six = tk.constant dense<6.0> : tensor<f32>
  %0 = tk.max %x, %m2 : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = tk.min %0, %six : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = tk.max %1, %m1 : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = tk.min %2, %four : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %4 = tk.max %3, %zero : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// A clip's interior value is a graph output.
// CHECK-LABEL: func.func @interior_output
// CHECK: tk.max
// CHECK: tk.min
// CHECK: tk.max
func.func @interior_output(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %m1 = tk.constant dense<-1.0> : tensor<f32>
  %zero = tk.constant dense<0.0> : tensor<f32>
  %six = tk.constant dense<6.0> : tensor<f32>
  %0 = tk.max %x, %m1 : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = tk.min %0, %six : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = tk.max %1, %zero : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}
