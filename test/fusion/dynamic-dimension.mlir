// Shapes are bound before there is a graph: an unbound dimension never reaches a pass.
// RUN: not tokamak-opt %s --partition-dominator 2>&1 | FileCheck %s

// CHECK: error: 'tk.exp' op operand #0 must be
func.func @unbound(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tk.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
