// Values are checked by GatherConstantsTest.cpp; here is what joins and what does not.
// RUN: tokamak-opt %s --gather-constants --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// A channel's constant and a scalar's; the merged operator carries both names.
// CHECK-LABEL: func.func @sums
// CHECK: %[[C:.*]] = tk.constant dense<{{\[\[\[}}6.0{{.*}}]], {{\[\[}}8.0{{.*}}]]]> : tensor<2x1x1xf32>
// CHECK-NEXT: %[[Y:.*]] = tk.add %arg0, %[[C]] {{.*}} loc(fused["a:Add", "b:Sub"])
// CHECK-NEXT: return %[[Y]]
func.func @sums(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %a = tk.constant dense<[[[1.0]], [[3.0]]]> : tensor<2x1x1xf32>
  %b = tk.constant dense<-5.0> : tensor<f32>
  %0 = tk.add %x, %a : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32> loc("a:Add")
  %1 = tk.sub %0, %b : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32> loc("b:Sub")
  return %1 : tensor<1x2x4x4xf32>
}

// A chain of any length.
// CHECK-LABEL: func.func @products
// CHECK: %[[C:.*]] = tk.constant dense<1.250000e-01>
// CHECK-NEXT: tk.mul %arg0, %[[C]]
// CHECK-NEXT: return
func.func @products(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = tk.constant dense<0.5> : tensor<f32>
  %0 = tk.mul %x, %a : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = tk.mul %a, %0 : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = tk.mul %1, %a : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// The combined constant would be as large as an activation.
// CHECK-LABEL: func.func @outer_sum
// CHECK-COUNT-2: tk.add
func.func @outer_sum(%x: tensor<80x80xf32>) -> tensor<80x80xf32> {
  %a = tk.constant dense<"0x000000000000803F0000004000004040000080400000A0400000C0400000E0400000004100001041000020410000304100004041000050410000604100007041000080410000884100009041000098410000A0410000A8410000B0410000B8410000C0410000C8410000D0410000D8410000E0410000E8410000F0410000F84100000042000004420000084200000C4200001042000014420000184200001C4200002042000024420000284200002C4200003042000034420000384200003C4200004042000044420000484200004C4200005042000054420000584200005C4200006042000064420000684200006C4200007042000074420000784200007C42000080420000824200008442000086420000884200008A4200008C4200008E42000090420000924200009442000096420000984200009A4200009C4200009E42"> : tensor<1x80xf32>
  %b = tk.constant dense<"0x000000000000803F0000004000004040000080400000A0400000C0400000E0400000004100001041000020410000304100004041000050410000604100007041000080410000884100009041000098410000A0410000A8410000B0410000B8410000C0410000C8410000D0410000D8410000E0410000E8410000F0410000F84100000042000004420000084200000C4200001042000014420000184200001C4200002042000024420000284200002C4200003042000034420000384200003C4200004042000044420000484200004C4200005042000054420000584200005C4200006042000064420000684200006C4200007042000074420000784200007C42000080420000824200008442000086420000884200008A4200008C4200008E42000090420000924200009442000096420000984200009A4200009C4200009E42"> : tensor<80x1xf32>
  %0 = tk.add %x, %a : (tensor<80x80xf32>, tensor<1x80xf32>) -> tensor<80x80xf32>
  %1 = tk.add %0, %b : (tensor<80x80xf32>, tensor<80x1xf32>) -> tensor<80x80xf32>
  return %1 : tensor<80x80xf32>
}

// The constant broadcasts the value: the order of the two matters for the shape.
// CHECK-LABEL: func.func @broadcasts
// CHECK-COUNT-2: tk.add
func.func @broadcasts(%x: tensor<1x4xf32>) -> tensor<2x4xf32> {
  %a = tk.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %b = tk.constant dense<1.0> : tensor<f32>
  %0 = tk.add %x, %a : (tensor<1x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %1 = tk.add %0, %b : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// Two values, no constant.
// CHECK-LABEL: func.func @no_constant
// CHECK-COUNT-2: tk.mul
func.func @no_constant(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %a = tk.constant dense<0.5> : tensor<f32>
  %0 = tk.mul %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = tk.mul %0, %a : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
