// The lecture's example: a 1x1 and a 3x3 convolution of one input; the latter through one more, plus the former, through
// a ReLU. Enlarging is forced, since it takes nine times the arithmetic of that branch; what follows it is found. By minimal
// filtering the sum of the later two would cost less, so there the siblings are forced too.
// RUN: tokamak-opt %s --pass-pipeline='builtin.module(tokamak-pipeline{exact=true force-rewrite=enlarge-kernels,residual-to-convolution})' | FileCheck %s
// RUN: tokamak-opt %s --pass-pipeline='builtin.module(tokamak-pipeline{force-rewrite=enlarge-kernels,merge-siblings,residual-to-convolution})' | FileCheck %s
// RUN: tokamak-opt %s --pass-pipeline='builtin.module(tokamak-pipeline{target-cpu=x86-64-v4 force-rewrite=enlarge-kernels,residual-to-convolution})' | FileCheck %s --check-prefix=FILTERED
// RUN: tokamak-opt %s --pass-pipeline='builtin.module(tokamak-pipeline{force-rewrite=merge-sums})' | FileCheck %s --check-prefix=COST
// RUN: tokamak-opt %s --pass-pipeline='builtin.module(tokamak-pipeline{disable=rewrite-search})' | FileCheck %s --check-prefix=OFF
// RUN: not tokamak-opt %s --pass-pipeline='builtin.module(tokamak-pipeline{force-rewrite=merge-sums disable=rewrite-search})' 2>&1 | FileCheck %s --check-prefix=DISABLED
// RUN: not tokamak-opt %s --pass-pipeline='builtin.module(tokamak-pipeline{force-rewrite=merge-sums fusion=dominator})' 2>&1 | FileCheck %s --check-prefix=DOMINATOR

// One 3x3 of 512 channels, one 3x3 of 256 with the ReLU in its epilogue, and nothing else.
// CHECK: tk.fusion "conv"
// CHECK: tk.conv {{.*}} : (tensor<1x256x7x7xf32>, tensor<512x256x3x3xf32>) -> tensor<1x512x7x7xf32>
// CHECK: tk.fusion "conv_max"
// CHECK: tk.conv {{.*}} : (tensor<1x512x7x7xf32>, tensor<256x512x3x3xf32>) -> tensor<1x256x7x7xf32>
// CHECK-NEXT: tk.max
// CHECK-NOT: tk.fusion

// FILTERED: tk.fusion "conv"
// FILTERED: tk.fusion "concat"
// FILTERED: tk.fusion "conv_max"
// FILTERED: tk.conv {{.*}}winograd = 2{{.*}} : (tensor<1x512x7x7xf32>, tensor<256x512x3x3xf32>) -> tensor<1x256x7x7xf32>
// FILTERED-NOT: tk.fusion

// The cost model leaves it alone (there is no sum to force), and so does a pass that is not there.
// COST-COUNT-3: tk.conv
// COST-NOT: tk.conv
// DISABLED: rewrite 'merge-sums' cannot be forced: pass 'rewrite-search', which forces it, is disabled
// DOMINATOR: rewrite 'merge-sums' cannot be forced: rewrites are searched and forced with --fusion full alone
// OFF-COUNT-3: tk.conv
// OFF-NOT: tk.conv
func.func @main(%x: tensor<1x256x7x7xf32>) -> (tensor<1x256x7x7xf32>) {
  %wa = tk.constant dense<2.0> : tensor<256x256x1x1xf32>
  %wb = tk.constant dense<3.0> : tensor<256x256x3x3xf32>
  %wc = tk.constant dense<4.0> : tensor<256x256x3x3xf32>
  %zero = tk.constant dense<0.0> : tensor<f32>
  %a = tk.conv %x, %wa {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x256x7x7xf32>, tensor<256x256x1x1xf32>) -> tensor<1x256x7x7xf32> loc("one:Conv")
  %b = tk.conv %x, %wb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x256x7x7xf32>, tensor<256x256x3x3xf32>) -> tensor<1x256x7x7xf32> loc("three:Conv")
  %c = tk.conv %b, %wc {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x256x7x7xf32>, tensor<256x256x3x3xf32>) -> tensor<1x256x7x7xf32> loc("last:Conv")
  %d = tk.add %c, %a : (tensor<1x256x7x7xf32>, tensor<1x256x7x7xf32>) -> tensor<1x256x7x7xf32> loc("sum:Add")
  %y = tk.max %d, %zero : (tensor<1x256x7x7xf32>, tensor<f32>) -> tensor<1x256x7x7xf32> loc("relu:Relu")
  return %y : tensor<1x256x7x7xf32>
}
