// A node: its index, operator and kind, then its parent with the largest kind on the ways there.
// RUN: tokamak-opt %s --print-post-dominator-tree -o /dev/null | FileCheck %s

// Two ways that meet; the transpose on one of them colours the edge of the node above.
// CHECK: post-dominator tree of a block of func.func
// CHECK-NEXT: 0: tk.exp elementwise -> 3 (injective)
// CHECK-NEXT: 1: tk.transpose injective -> 3 (elementwise)
// CHECK-NEXT: 2: tk.neg elementwise -> 3 (elementwise)
// CHECK-NEXT: 3: tk.add elementwise -> none (pinned)
func.func @diamond(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = tk.exp %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = tk.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = tk.neg %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = tk.add %1, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// An output on the way pins; a node whose ways never meet has no parent; nor has one without users.
// CHECK: post-dominator tree of a block of func.func
// CHECK-NEXT: 0: tk.exp elementwise -> none
// CHECK-NEXT: 1: tk.neg elementwise -> none (pinned)
// CHECK-NEXT: 2: tk.tanh elementwise -> none (pinned)
// CHECK-NEXT: 3: tk.sin elementwise -> none
func.func @no_parent(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = tk.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tk.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tk.tanh %0 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = tk.sin %x : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// An elementwise consumer of a smaller operand broadcasts it. Use in a region is use by its operator, which is opaque.
// CHECK: post-dominator tree of a block of func.func
// CHECK-NEXT: 0: tk.exp elementwise -> 1 (broadcast)
// CHECK-NEXT: 1: tk.add elementwise -> 2 (opaque)
// CHECK-NEXT: 2: tk.if opaque -> none (pinned)
// CHECK: post-dominator tree of a block of tk.if
// CHECK-NEXT: 0: tk.neg elementwise -> none (pinned)
// CHECK: post-dominator tree of a block of tk.if
func.func @regions(%x: tensor<4xf32>, %r: tensor<1xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %0 = tk.exp %r : (tensor<1xf32>) -> tensor<1xf32>
  %1 = tk.add %x, %0 : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %2 = tk.if %c {
    %3 = tk.neg %1 : (tensor<4xf32>) -> tensor<4xf32>
    tk.yield %3 : tensor<4xf32>
  } else {
    tk.yield %x : tensor<4xf32>
  } : (tensor<i1>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
