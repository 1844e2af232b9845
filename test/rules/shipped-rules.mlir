// The three rules of docs/rules.md: what they match, in either order of commutative operands, and what they leave alone.
// RUN: tokamak-opt %s --apply-rules=rules=arithmetic --fold-constants --eliminate-dead-code | FileCheck %s

// CHECK-LABEL: func.func @double
// CHECK: %[[TWO:.*]] = tk.constant dense<2.0{{.*}}> : tensor<f32>
// CHECK: %[[R:.*]] = tk.mul %arg0, %[[TWO]]
// CHECK: return %[[R]]
func.func @double(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = tk.add %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// Each sum doubles: the second one matches what the first one became.
// CHECK-LABEL: func.func @chain
// CHECK-NOT: tk.add
// CHECK-COUNT-3: tk.mul
func.func @chain(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = tk.add %x, %x : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %1 = tk.add %0, %0 : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %2 = tk.add %1, %1 : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  return %2 : tensor<4xf64>
}

// All float types, rank 0, no elements.
// CHECK-LABEL: func.func @double_types
// CHECK-NOT: tk.add
// CHECK: return
func.func @double_types(%a: tensor<3xf16>, %b: tensor<bf16>, %c: tensor<0x2xf32>) -> (tensor<3xf16>, tensor<bf16>, tensor<0x2xf32>) {
  %0 = tk.add %a, %a : (tensor<3xf16>, tensor<3xf16>) -> tensor<3xf16>
  %1 = tk.add %b, %b : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
  %2 = tk.add %c, %c : (tensor<0x2xf32>, tensor<0x2xf32>) -> tensor<0x2xf32>
  return %0, %1, %2 : tensor<3xf16>, tensor<bf16>, tensor<0x2xf32>
}

// CHECK-LABEL: func.func @integers_and_others
// CHECK: tk.add %arg0, %arg0
// CHECK: tk.add %arg1, %arg2
func.func @integers_and_others(%i: tensor<3xi32>, %x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xi32>, tensor<3xf32>) {
  %0 = tk.add %i, %i : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %1 = tk.add %x, %y : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %0, %1 : tensor<3xi32>, tensor<3xf32>
}

// (x 2 + 3) 5 + 7 = x 10 + 22, constants on either side.
// CHECK-LABEL: func.func @multiply_add
// CHECK-DAG: %[[A:.*]] = tk.constant dense<1.0{{.*}}e+01> : tensor<f32>
// CHECK-DAG: %[[B:.*]] = tk.constant dense<2.2{{.*}}e+01> : tensor<f32>
// CHECK: %[[M:.*]] = tk.mul %arg0, %[[A]]
// CHECK: %[[R:.*]] = tk.add %[[M]], %[[B]]
// CHECK: return %[[R]]
func.func @multiply_add(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = tk.constant dense<2.0> : tensor<f32>
  %b = tk.constant dense<3.0> : tensor<f32>
  %c = tk.constant dense<5.0> : tensor<f32>
  %d = tk.constant dense<7.0> : tensor<f32>
  %0 = tk.mul %a, %x : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = tk.add %0, %b : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = tk.mul %c, %1 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = tk.add %d, %2 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %3 : tensor<2x3xf32>
}

// The inner sum is a result too: it would be computed twice.
// CHECK-LABEL: func.func @multiply_add_used
// CHECK-COUNT-2: tk.mul
func.func @multiply_add_used(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %a = tk.constant dense<2.0> : tensor<f32>
  %0 = tk.mul %x, %a : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %1 = tk.add %0, %a : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %2 = tk.mul %1, %a : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %3 = tk.add %2, %a : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  return %1, %3 : tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: func.func @hard_swish
// CHECK-NOT: tk.div
// CHECK: tk.mul
// CHECK: tk.add
// CHECK: tk.max
// CHECK: tk.min
// CHECK: tk.mul
// CHECK-NOT: tk.div
// CHECK: return
func.func @hard_swish(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %three = tk.constant dense<3.0> : tensor<f32>
  %zero = tk.constant dense<0.0> : tensor<f32>
  %six = tk.constant dense<6.0> : tensor<f32>
  %0 = tk.add %three, %x : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = tk.max %0, %zero : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = tk.min %six, %1 : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = tk.mul %2, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = tk.div %3, %six : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %4 : tensor<2x3xf32>
}

// Other numbers are another function.
// CHECK-LABEL: func.func @no_hard_swish
// CHECK: tk.div
func.func @no_hard_swish(%x: tensor<3xf32>) -> tensor<3xf32> {
  %two = tk.constant dense<2.0> : tensor<f32>
  %zero = tk.constant dense<0.0> : tensor<f32>
  %six = tk.constant dense<6.0> : tensor<f32>
  %0 = tk.add %x, %two : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %1 = tk.max %0, %zero : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %2 = tk.min %1, %six : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %3 = tk.mul %x, %2 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %4 = tk.div %3, %six : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  return %4 : tensor<3xf32>
}
