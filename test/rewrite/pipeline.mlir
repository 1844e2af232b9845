// The whole pipeline; fuel stops it after so many steps, and passes can be left out.
// RUN: tokamak-opt %s --pass-pipeline='builtin.module(tokamak-pipeline{fusion=dominator})' | FileCheck %s --check-prefix=ALL
// RUN: tokamak-opt %s --pass-pipeline='builtin.module(tokamak-pipeline{fusion=none})' | FileCheck %s --check-prefix=NONE
// RUN: tokamak-opt %s --pass-pipeline='builtin.module(tokamak-pipeline{fuel=0})' | FileCheck %s --check-prefix=EMPTY
// RUN: tokamak-opt %s --pass-pipeline='builtin.module(tokamak-pipeline{fuel=2})' | FileCheck %s --check-prefix=TWO
// RUN: tokamak-opt %s --pass-pipeline='builtin.module(tokamak-pipeline{disable=fold-constants,partition-dominator,merge-outputs,recompute-producers})' | FileCheck %s --check-prefix=DISABLED

// ALL: tk.fusion "add_exp"
// ALL-NOT: tk.fusion
// NONE: tk.fusion "add"
// NONE: tk.fusion "exp"
// NONE-NOT: tk.fusion
// EMPTY: tk.fusion "mul"
// EMPTY: tk.fusion "add"
// EMPTY: tk.fusion "neg"
// EMPTY: tk.fusion "neg"
// EMPTY: tk.fusion "exp"
// TWO-NOT: tk.fusion "mul"
// TWO: tk.fusion "add"
// TWO-NEXT: ^bb0
// TWO: tk.fusion "exp"
// DISABLED: tk.fusion "mul"
// DISABLED: tk.fusion "add"
// DISABLED: tk.fusion "exp"
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = tk.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = tk.mul %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = tk.add %x, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = tk.neg %1 : (tensor<2xf32>) -> tensor<2xf32>
  %3 = tk.neg %2 : (tensor<2xf32>) -> tensor<2xf32>
  %4 = tk.exp %3 : (tensor<2xf32>) -> tensor<2xf32>
  return %4 : tensor<2xf32>
}
