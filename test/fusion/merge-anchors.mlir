// Anchors inside anchors, where the values between them would not stay in the cache: 32 kB, 256 kB and 1 MB here.
// RUN: tokamak-opt %s --split-input-file --pass-pipeline='builtin.module(tokamak-pipeline{target-cpu=x86-64-v3 target-description=%S/Inputs/banding-caches.json})' | FileCheck %s
// RUN: tokamak-opt %s --split-input-file --pass-pipeline='builtin.module(tokamak-pipeline{target-cpu=x86-64-v3 target-description=%S/Inputs/banding-caches.json disable=merge-anchors})' | FileCheck %s --check-prefix=OFF
// RUN: tokamak-opt %s --split-input-file --pass-pipeline='builtin.module(tokamak-pipeline{target-cpu=x86-64-v3 target-description=%S/Inputs/banding-caches.json fuel=3})' | FileCheck %s --check-prefix=FUEL

// Expand, depthwise, project and the residual are one kernel: 144 channels of 56 x 56 are 1.8 MB.
// CHECK-LABEL: func.func @beyond_the_cache
// CHECK: tk.fusion "conv_max_conv_max_conv_add"(%arg0
// CHECK-NOT: tk.fusion
// CHECK: return
// OFF-LABEL: func.func @beyond_the_cache
// OFF-COUNT-3: tk.fusion
// OFF-NOT: tk.fusion
// OFF: return
// Without fuel for the merge, the groups stay as they are: each merge takes one unit whatever its length.
// FUEL-LABEL: func.func @beyond_the_cache
// FUEL-COUNT-3: tk.fusion
// FUEL: return
func.func @beyond_the_cache(%x: tensor<1x24x56x56xf32>) -> tensor<1x24x56x56xf32> {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %we = tk.constant dense<0.5> : tensor<144x24x1x1xf32>
  %e = tk.conv %x, %we {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x24x56x56xf32>, tensor<144x24x1x1xf32>) -> tensor<1x144x56x56xf32>
  %f = tk.max %e, %zero : (tensor<1x144x56x56xf32>, tensor<f32>) -> tensor<1x144x56x56xf32>
  %wd = tk.constant dense<0.5> : tensor<144x1x3x3xf32>
  %d = tk.conv %f, %wd {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 144 : i64} : (tensor<1x144x56x56xf32>, tensor<144x1x3x3xf32>) -> tensor<1x144x56x56xf32>
  %g = tk.max %d, %zero : (tensor<1x144x56x56xf32>, tensor<f32>) -> tensor<1x144x56x56xf32>
  %wp = tk.constant dense<0.5> : tensor<24x144x1x1xf32>
  %q = tk.conv %g, %wp {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x144x56x56xf32>, tensor<24x144x1x1xf32>) -> tensor<1x24x56x56xf32>
  %p = tk.add %q, %x : (tensor<1x24x56x56xf32>, tensor<1x24x56x56xf32>) -> tensor<1x24x56x56xf32>
  return %p : tensor<1x24x56x56xf32>
}

// -----

// Two convolutions of 3x3 whose value between, 200 kB, stays in the cache: computing the rows that bands share twice
// would take longer than moving it.
// CHECK-LABEL: func.func @inside_the_cache
// CHECK: tk.fusion "conv_max"(%arg0
// CHECK: tk.fusion "conv"
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @inside_the_cache(%x: tensor<1x64x28x28xf32>) -> tensor<1x64x28x28xf32> {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %v = tk.constant dense<0.5> : tensor<64x64x3x3xf32>
  %0 = tk.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x64x28x28xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x28x28xf32>
  %1 = tk.max %0, %zero : (tensor<1x64x28x28xf32>, tensor<f32>) -> tensor<1x64x28x28xf32>
  %w = tk.constant dense<0.5> : tensor<64x64x3x3xf32>
  %2 = tk.conv %1, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x64x28x28xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x28x28xf32>
  return %2 : tensor<1x64x28x28xf32>
}

// -----

// Never: an interior value that is a graph output as well disappears. The depthwise convolution's is one.
// CHECK-LABEL: func.func @interior_output
// CHECK: %[[F:.*]] = tk.fusion "conv_max_conv_max"(%arg0
// CHECK: %[[P:.*]] = tk.fusion "conv_add"(%[[F]]
// CHECK-NOT: tk.fusion
// CHECK: return %[[F]], %[[P]]
func.func @interior_output(%x: tensor<1x24x56x56xf32>) -> (tensor<1x144x56x56xf32>, tensor<1x24x56x56xf32>) {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %we = tk.constant dense<0.5> : tensor<144x24x1x1xf32>
  %e = tk.conv %x, %we {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x24x56x56xf32>, tensor<144x24x1x1xf32>) -> tensor<1x144x56x56xf32>
  %f = tk.max %e, %zero : (tensor<1x144x56x56xf32>, tensor<f32>) -> tensor<1x144x56x56xf32>
  %wd = tk.constant dense<0.5> : tensor<144x1x3x3xf32>
  %d = tk.conv %f, %wd {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 144 : i64} : (tensor<1x144x56x56xf32>, tensor<144x1x3x3xf32>) -> tensor<1x144x56x56xf32>
  %g = tk.max %d, %zero : (tensor<1x144x56x56xf32>, tensor<f32>) -> tensor<1x144x56x56xf32>
  %wp = tk.constant dense<0.5> : tensor<24x144x1x1xf32>
  %q = tk.conv %g, %wp {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x144x56x56xf32>, tensor<24x144x1x1xf32>) -> tensor<1x24x56x56xf32>
  %p = tk.add %q, %x : (tensor<1x24x56x56xf32>, tensor<1x24x56x56xf32>) -> tensor<1x24x56x56xf32>
  return %g, %p : tensor<1x144x56x56xf32>, tensor<1x24x56x56xf32>
}

// -----

// Never: a reader outside. The residual reads what the depthwise convolution reads, at other rows than a band has.
// CHECK-LABEL: func.func @read_twice
// CHECK: tk.fusion "conv_max"(%arg0
// CHECK: tk.fusion "conv_add"
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @read_twice(%x: tensor<1x24x56x56xf32>) -> tensor<1x144x56x56xf32> {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %we = tk.constant dense<0.5> : tensor<144x24x1x1xf32>
  %e = tk.conv %x, %we {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x24x56x56xf32>, tensor<144x24x1x1xf32>) -> tensor<1x144x56x56xf32>
  %f = tk.max %e, %zero : (tensor<1x144x56x56xf32>, tensor<f32>) -> tensor<1x144x56x56xf32>
  %wd = tk.constant dense<0.5> : tensor<144x1x3x3xf32>
  %d = tk.conv %f, %wd {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 144 : i64} : (tensor<1x144x56x56xf32>, tensor<144x1x3x3xf32>) -> tensor<1x144x56x56xf32>
  %g = tk.add %d, %f : (tensor<1x144x56x56xf32>, tensor<1x144x56x56xf32>) -> tensor<1x144x56x56xf32>
  return %g : tensor<1x144x56x56xf32>
}

// -----

// Never: a cycle through a node outside. What scales the value between is reduced from all of it.
// CHECK-LABEL: func.func @cycle
// CHECK: %[[E:.*]] = tk.fusion "conv"(%arg0
// CHECK: %[[M:.*]] = tk.fusion "reduce_mul"(%[[E]]
// CHECK: tk.fusion "conv"(%[[M]]
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @cycle(%x: tensor<1x24x56x56xf32>) -> tensor<1x144x56x56xf32> {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %we = tk.constant dense<0.5> : tensor<144x24x1x1xf32>
  %e = tk.conv %x, %we {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x24x56x56xf32>, tensor<144x24x1x1xf32>) -> tensor<1x144x56x56xf32>
  %m = tk.reduce %e {kind = #tk.reduce_kind<max>, axes = array<i64: 2, 3>, keep_dims = true} : (tensor<1x144x56x56xf32>) -> tensor<1x144x1x1xf32>
  %f = tk.mul %e, %m : (tensor<1x144x56x56xf32>, tensor<1x144x1x1xf32>) -> tensor<1x144x56x56xf32>
  %wd = tk.constant dense<0.5> : tensor<144x1x3x3xf32>
  %d = tk.conv %f, %wd {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 144 : i64} : (tensor<1x144x56x56xf32>, tensor<144x1x3x3xf32>) -> tensor<1x144x56x56xf32>
  return %d : tensor<1x144x56x56xf32>
}
