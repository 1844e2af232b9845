// Cells of recurrent networks with one product of input and state side by side, as Keras has them: the product is the
// sum of a term for each part.
// RUN: tokamak-opt %s --pass-pipeline='builtin.module(tokamak-pipeline{target-cpu=x86-64-v3 target-description=%S/Inputs/small-caches.json})' | FileCheck %s
// RUN: tokamak-opt %s --pass-pipeline='builtin.module(tokamak-pipeline{target-cpu=x86-64-v3 target-description=%S/Inputs/small-caches.json disable=merge-anchors})' | FileCheck %s --check-prefix=OFF

// CHECK-LABEL: func.func @joined_cell
// CHECK-COUNT-1: tk.fusion "concat_matmul_
// CHECK-NOT: tk.fusion
// CHECK: return
// OFF-LABEL: func.func @joined_cell
// OFF-COUNT-2: tk.fusion
func.func @joined_cell(%x: tensor<1x128xf32>, %h: tensor<1x128xf32>) -> tensor<1x128xf32> {
  %w = tk.constant dense<0.5> : tensor<256x256xf32>
  %xh = tk.concat %x, %h {axis = 1 : i64} : (tensor<1x128xf32>, tensor<1x128xf32>) -> tensor<1x256xf32>
  %g = tk.matmul %xh, %w : (tensor<1x256xf32>, tensor<256x256xf32>) -> tensor<1x256xf32>
  %g0 = tk.slice %g {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>, sizes = array<i64: 1, 128>} : (tensor<1x256xf32>) -> tensor<1x128xf32>
  %g1 = tk.slice %g {starts = array<i64: 0, 128>, steps = array<i64: 1, 1>, sizes = array<i64: 1, 128>} : (tensor<1x256xf32>) -> tensor<1x128xf32>
  %r = tk.tanh %g0 : (tensor<1x128xf32>) -> tensor<1x128xf32>
  %c = tk.add %r, %g1 : (tensor<1x128xf32>, tensor<1x128xf32>) -> tensor<1x128xf32>
  return %c : tensor<1x128xf32>
}
