// What the rule files of test_rules.py are tried on.
func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xf32>, tensor<4x3xf32>, tensor<2x3xi32>) {
  %i = tk.cast %y {to = i32} : (tensor<2x3xf32>) -> tensor<2x3xi32>
  %0 = tk.add %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = tk.neg %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = tk.sub %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = tk.reduce %y {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = false} : (tensor<2x3xf32>) -> tensor<2xf32>
  %4 = tk.concat %x, %y {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  return %1, %2, %3, %4, %i : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xf32>, tensor<4x3xf32>, tensor<2x3xi32>
}
