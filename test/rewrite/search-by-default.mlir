// What the search takes by default, and what it leaves: docs/rewrite-search.md has times (scripts/search-table narrow whole).
// RUN: tokamak-opt %s --split-input-file --pass-pipeline='builtin.module(tokamak-pipeline{target-cpu=x86-64-v4})' | FileCheck %s
// RUN: tokamak-opt %s --split-input-file --pass-pipeline='builtin.module(tokamak-pipeline{target-cpu=x86-64-v4 disable=rewrite-search})' | FileCheck %s --check-prefix=OFF
// RUN: tokamak-opt %s --split-input-file --pass-pipeline='builtin.module(tokamak-pipeline{target-cpu=x86-64-v4 fusion=dominator})' | FileCheck %s --check-prefix=OFF

// Branches that are joined again, whose channels fill vectors only together: one kernel, no copy.
// CHECK: tk.fusion "conv_max"
// CHECK: tk.conv {{.*}} -> tensor<1x72x28x28xf32>
// CHECK-NOT: tk.fusion
// CHECK: // -----
// OFF-COUNT-3: tk.conv {{.*}} -> tensor<1x24x28x28xf32>
func.func @main(%x: tensor<1x32x28x28xf32>) -> tensor<1x72x28x28xf32> {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %wa = tk.constant dense<2.0> : tensor<24x32x1x1xf32>
  %a = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x32x28x28xf32>, tensor<24x32x1x1xf32>) -> tensor<1x24x28x28xf32>
  %ra = tk.max %a, %zero : (tensor<1x24x28x28xf32>, tensor<f32>) -> tensor<1x24x28x28xf32>
  %wb = tk.constant dense<3.0> : tensor<24x32x1x1xf32>
  %b = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x32x28x28xf32>, tensor<24x32x1x1xf32>) -> tensor<1x24x28x28xf32>
  %rb = tk.max %b, %zero : (tensor<1x24x28x28xf32>, tensor<f32>) -> tensor<1x24x28x28xf32>
  %wc = tk.constant dense<4.0> : tensor<24x32x1x1xf32>
  %c = tk.conv %x, %wc {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x32x28x28xf32>, tensor<24x32x1x1xf32>) -> tensor<1x24x28x28xf32>
  %rc = tk.max %c, %zero : (tensor<1x24x28x28xf32>, tensor<f32>) -> tensor<1x24x28x28xf32>
  %y = tk.concat %ra, %rb, %rc {axis = 1 : i64} : (tensor<1x24x28x28xf32>, tensor<1x24x28x28xf32>, tensor<1x24x28x28xf32>) -> tensor<1x72x28x28xf32>
  return %y : tensor<1x72x28x28xf32>
}

// -----

// Branches of whole vectors, which one kernel would compute no faster: the input is read from the cache as it is.
// CHECK-COUNT-3: tk.conv {{.*}}tensor<64x256x1x1xf32>
// OFF-COUNT-3: tk.conv {{.*}}tensor<64x256x1x1xf32>
func.func @main(%x: tensor<1x256x14x14xf32>) -> tensor<1x192x14x14xf32> {
  %zero = tk.constant dense<0.0> : tensor<f32>
  %wa = tk.constant dense<2.0> : tensor<64x256x1x1xf32>
  %a = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x256x14x14xf32>, tensor<64x256x1x1xf32>) -> tensor<1x64x14x14xf32>
  %ra = tk.max %a, %zero : (tensor<1x64x14x14xf32>, tensor<f32>) -> tensor<1x64x14x14xf32>
  %va = tk.constant dense<5.0> : tensor<64x64x3x3xf32>
  %da = tk.conv %ra, %va {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x64x14x14xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x14x14xf32>
  %wb = tk.constant dense<3.0> : tensor<64x256x1x1xf32>
  %b = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x256x14x14xf32>, tensor<64x256x1x1xf32>) -> tensor<1x64x14x14xf32>
  %rb = tk.max %b, %zero : (tensor<1x64x14x14xf32>, tensor<f32>) -> tensor<1x64x14x14xf32>
  %vb = tk.constant dense<6.0> : tensor<64x64x3x3xf32>
  %db = tk.conv %rb, %vb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x64x14x14xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x14x14xf32>
  %wc = tk.constant dense<4.0> : tensor<64x256x1x1xf32>
  %c = tk.conv %x, %wc {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x256x14x14xf32>, tensor<64x256x1x1xf32>) -> tensor<1x64x14x14xf32>
  %rc = tk.max %c, %zero : (tensor<1x64x14x14xf32>, tensor<f32>) -> tensor<1x64x14x14xf32>
  %vc = tk.constant dense<7.0> : tensor<64x64x3x3xf32>
  %dc = tk.conv %rc, %vc {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x64x14x14xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x14x14xf32>
  %y = tk.concat %da, %db, %dc {axis = 1 : i64} : (tensor<1x64x14x14xf32>, tensor<1x64x14x14xf32>, tensor<1x64x14x14xf32>) -> tensor<1x192x14x14xf32>
  return %y : tensor<1x192x14x14xf32>
}

// -----

// Siblings that each write their part of an output: joined, they would have to be taken apart and put together.
// CHECK: tk.fusion "conv_max"
// CHECK: tk.fusion "conv"
// CHECK: tk.fusion "conv"
// CHECK: tk.fusion "concat"
// CHECK-NOT: tk.fusion
// OFF-COUNT-2: tk.conv {{.*}} -> tensor<1x4x1x5xf32>
func.func @main(%x: tensor<1x12x1x5xf32>, %y: tensor<1x12x1x5xf32>) -> tensor<1x20x1x5xf32> {
  %w = tk.constant dense<0.5> : tensor<4x12x1x1xf32>
  %v = tk.constant dense<0.25> : tensor<4x12x1x1xf32>
  %u = tk.constant dense<0.125> : tensor<12x12x1x1xf32>
  %zero = tk.constant dense<0.0> : tensor<f32>
  %a = tk.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x12x1x5xf32>, tensor<4x12x1x1xf32>) -> tensor<1x4x1x5xf32>
  %m = tk.max %a, %zero : (tensor<1x4x1x5xf32>, tensor<f32>) -> tensor<1x4x1x5xf32>
  %b = tk.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x12x1x5xf32>, tensor<4x12x1x1xf32>) -> tensor<1x4x1x5xf32>
  %d = tk.conv %y, %u {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x12x1x5xf32>, tensor<12x12x1x1xf32>) -> tensor<1x12x1x5xf32>
  %c = tk.concat %m, %d, %b {axis = 1 : i64} : (tensor<1x4x1x5xf32>, tensor<1x12x1x5xf32>, tensor<1x4x1x5xf32>) -> tensor<1x20x1x5xf32>
  return %c : tensor<1x20x1x5xf32>
}
