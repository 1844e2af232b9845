// One kernel computes no operator at more than 32 indices: each concatenation of a value with itself doubles them.
// RUN: tokamak-opt %s --partition-dominator --outline-groups | FileCheck %s

// CHECK-LABEL: func.func @doubled_eight_times
// CHECK: tk.fusion
// CHECK: tk.fusion
// CHECK-NOT: tk.fusion
func.func @doubled_eight_times(%x: tensor<2xf32>) -> tensor<512xf32> {
  %0 = tk.concat %x, %x {axis = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %1 = tk.concat %0, %0 {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %2 = tk.concat %1, %1 {axis = 0 : i64} : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  %3 = tk.concat %2, %2 {axis = 0 : i64} : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
  %4 = tk.concat %3, %3 {axis = 0 : i64} : (tensor<32xf32>, tensor<32xf32>) -> tensor<64xf32>
  %5 = tk.concat %4, %4 {axis = 0 : i64} : (tensor<64xf32>, tensor<64xf32>) -> tensor<128xf32>
  %6 = tk.concat %5, %5 {axis = 0 : i64} : (tensor<128xf32>, tensor<128xf32>) -> tensor<256xf32>
  %7 = tk.concat %6, %6 {axis = 0 : i64} : (tensor<256xf32>, tensor<256xf32>) -> tensor<512xf32>
  return %7 : tensor<512xf32>
}

// Reading in place shares the index, however often it is read.
// CHECK-LABEL: func.func @added_eight_times
// CHECK: tk.fusion "add_x8"
// CHECK-NOT: tk.fusion
func.func @added_eight_times(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tk.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = tk.add %0, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = tk.add %1, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = tk.add %2, %2 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %4 = tk.add %3, %3 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %5 = tk.add %4, %4 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %6 = tk.add %5, %5 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %7 = tk.add %6, %6 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %7 : tensor<2xf32>
}
