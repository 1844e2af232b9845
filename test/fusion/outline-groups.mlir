// Groups that are written by hand, as any partitioner might: several results, members between other operators, groups
// behind each other.
// RUN: tokamak-opt %s --outline-groups --split-input-file --verify-diagnostics | FileCheck %s

// An interior value with a consumer outside becomes a result; that consumer moves behind the group.
// CHECK-LABEL: func.func @several_results
// CHECK: %[[G:.*]]:2 = tk.fusion "exp_neg"(%arg0)
// CHECK: tk.yield
// CHECK: %[[T:.*]] = tk.fusion "tanh"(%[[G]]#0)
// CHECK: return %[[G]]#1, %[[T]]
func.func @several_results(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = tk.exp %x {tk.group = 7 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tk.tanh %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tk.neg %0 {tk.group = 7 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %2, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Constants of one element live inside, others are operands; a constant without a user left goes.
// CHECK-LABEL: func.func @constants
// CHECK-NEXT: %[[W:.*]] = tk.constant dense<[1.0
// CHECK-NEXT: tk.fusion "add_mul"(%arg0, %[[W]]) {
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<4xf32>, %[[V:.*]]: tensor<4xf32>):
// CHECK-NEXT: %[[C:.*]] = tk.constant dense<2.0
// CHECK-NEXT: %[[S:.*]] = tk.add %[[X]], %[[C]]
// CHECK-NEXT: tk.mul %[[S]], %[[V]]
func.func @constants(%x: tensor<4xf32>) -> tensor<4xf32> {
  %w = tk.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %c = tk.constant dense<2.0> : tensor<1xf32>
  %0 = tk.add %x, %c {tk.group = 0 : i64} : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %1 = tk.mul %0, %w {tk.group = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A lone reshape is a view and needs no kernel; nor do two.
// CHECK-LABEL: func.func @views
// CHECK-NEXT: tk.reshape
// CHECK-NEXT: tk.reshape
// CHECK-NEXT: return
func.func @views(%x: tensor<4x2xf32>) -> tensor<2x4xf32> {
  %0 = tk.reshape %x {shape = array<i64: 8>, tk.group = 0 : i64} : (tensor<4x2xf32>) -> tensor<8xf32>
  %1 = tk.reshape %0 {shape = array<i64: 2, 4>, tk.group = 0 : i64} : (tensor<8xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// -----

// Two groups of which parts lie between parts of the other.
// CHECK-LABEL: func.func @interleaved
// CHECK: %[[A:.*]]:2 = tk.fusion "exp_neg"(%arg0, %arg1)
// CHECK: tk.fusion "tanh_add"(%[[A]]#0, %[[A]]#1)
func.func @interleaved(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tk.exp %x {tk.group = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tk.tanh %0 {tk.group = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tk.neg %y {tk.group = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = tk.add %1, %2 {tk.group = 1 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// A group that would wait for itself is an error, not a wrong program: through an operator outside, ...
func.func @cycle(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tk.exp %x {tk.group = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{lies between the operators of a group, which would depend on itself}}
  %1 = tk.tanh %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tk.add %0, %1 {tk.group = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// ... or through another group.
func.func @cycle_of_groups(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error @+1 {{lies between the operators of a group, which would depend on itself}}
  %0 = tk.exp %x {tk.group = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tk.neg %y {tk.group = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tk.tanh %1 {tk.group = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = tk.sin %0 {tk.group = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %2, %3 : tensor<4xf32>, tensor<4xf32>
}
