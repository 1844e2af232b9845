// Passes go by the target that the pipeline is given: a row of 64 kB fits a quarter of one second-level cache, not of the
// other.
// RUN: tokamak-opt %s --pass-pipeline='builtin.module(tokamak-pipeline{target-cpu=x86-64-v3 target-description=%S/Inputs/large-caches.json})' | FileCheck %s --check-prefix=LARGE
// RUN: tokamak-opt %s --pass-pipeline='builtin.module(tokamak-pipeline{target-cpu=x86-64-v3 target-description=%S/Inputs/small-caches.json})' | FileCheck %s --check-prefix=SMALL
// RUN: not tokamak-opt %s --pass-pipeline='builtin.module(tokamak-pipeline{target-description=%S/Inputs/no-target.json})' 2>&1 | FileCheck %s --check-prefix=FAULT
// RUN: not tokamak-opt %s --pass-pipeline='builtin.module(tokamak-pipeline{target-cpu=z80})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// LARGE-LABEL: func.func @main
// LARGE: tk.fusion
// LARGE-NOT: tk.fusion
// LARGE: return
// SMALL-LABEL: func.func @main
// SMALL: tk.fusion
// SMALL: tk.fusion
// SMALL: return
// FAULT: no-target.json': 'l2_bytes' must be an integer
// UNKNOWN: target CPU 'z80' is unknown
func.func @main(%x: tensor<64x16384xf32>) -> tensor<64x16384xf32> {
  %m = tk.reduce %x {kind = #tk.reduce_kind<max>, axes = array<i64: 1>, keep_dims = true} : (tensor<64x16384xf32>) -> tensor<64x1xf32>
  %d = tk.sub %x, %m : (tensor<64x16384xf32>, tensor<64x1xf32>) -> tensor<64x16384xf32>
  %e = tk.exp %d : (tensor<64x16384xf32>) -> tensor<64x16384xf32>
  %s = tk.reduce %e {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<64x16384xf32>) -> tensor<64x1xf32>
  %r = tk.div %e, %s : (tensor<64x16384xf32>, tensor<64x1xf32>) -> tensor<64x16384xf32>
  return %r : tensor<64x16384xf32>
}
