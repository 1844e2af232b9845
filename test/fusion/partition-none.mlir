// Every operator alone; reshapes stay views, library calls and control flow stay themselves.
// RUN: tokamak-opt %s --partition-none --outline-groups | FileCheck %s

// CHECK-LABEL: func.func @none
// CHECK-NEXT: tk.fusion "exp"
// CHECK: tk.reshape
// CHECK-NEXT: tk.cumsum
// CHECK-NEXT: tk.fusion "gelu"
// CHECK: tk.loop
// CHECK: tk.fusion "add"
// CHECK: return
func.func @none(%x: tensor<4x2xf32>) -> tensor<8xf32> {
  %0 = tk.exp %x : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = tk.reshape %0 {shape = array<i64: 8>} : (tensor<4x2xf32>) -> tensor<8xf32>
  %2 = tk.cumsum %1 {axis = 0 : i64, exclusive = false, reverse = false} : (tensor<8xf32>) -> tensor<8xf32>
  %3 = tk.composite "Gelu"(%2) {
  ^bb0(%i: tensor<8xf32>):
    %e = tk.erf %i : (tensor<8xf32>) -> tensor<8xf32>
    %m = tk.mul %e, %i : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    tk.yield %m : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %n = tk.constant dense<3> : tensor<i64>
  %4 = tk.loop limit(%n : tensor<i64>) carry(%3) trips 3 {
  ^bb0(%it: tensor<i64>, %go: tensor<i1>, %c: tensor<8xf32>):
    %s = tk.add %c, %3 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    tk.yield %go, %s : tensor<i1>, tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}
