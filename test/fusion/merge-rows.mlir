// Beyond the baseline: reductions share a kernel with the elementwise work around them, row by row.
// RUN: tokamak-opt %s --partition-dominator --merge-rows --outline-groups | FileCheck %s

// A layer norm in primitive pieces: the baseline makes four kernels, rows make one.
// CHECK-LABEL: func.func @layer_norm
// CHECK-NEXT: %[[R:.*]] = tk.fusion {{.*}}(%arg0)
// CHECK-NOT: tk.fusion
// CHECK: return %[[R]]
func.func @layer_norm(%x: tensor<40x64xf32>) -> tensor<40x64xf32> {
  %n = tk.constant dense<64.0> : tensor<f32>
  %e = tk.constant dense<1.0e-5> : tensor<f32>
  %s = tk.reduce %x {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<40x64xf32>) -> tensor<40x1xf32>
  %m = tk.div %s, %n : (tensor<40x1xf32>, tensor<f32>) -> tensor<40x1xf32>
  %d = tk.sub %x, %m : (tensor<40x64xf32>, tensor<40x1xf32>) -> tensor<40x64xf32>
  %q = tk.mul %d, %d : (tensor<40x64xf32>, tensor<40x64xf32>) -> tensor<40x64xf32>
  %t = tk.reduce %q {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<40x64xf32>) -> tensor<40x1xf32>
  %v = tk.div %t, %n : (tensor<40x1xf32>, tensor<f32>) -> tensor<40x1xf32>
  %w = tk.add %v, %e : (tensor<40x1xf32>, tensor<f32>) -> tensor<40x1xf32>
  %u = tk.sqrt %w : (tensor<40x1xf32>) -> tensor<40x1xf32>
  %r = tk.div %d, %u : (tensor<40x64xf32>, tensor<40x1xf32>) -> tensor<40x64xf32>
  return %r : tensor<40x64xf32>
}

// Over channels: the root of each column is kept, so it is not asked for again by each channel.
// CHECK-LABEL: func.func @channel_norm
// CHECK-NEXT: %[[R:.*]] = tk.fusion {{.*}}(%arg0)
// CHECK-NOT: tk.fusion
// CHECK: return %[[R]]
func.func @channel_norm(%x: tensor<1x64x28x28xf32>) -> tensor<1x64x28x28xf32> {
  %n = tk.constant dense<64.0> : tensor<f32>
  %e = tk.constant dense<1.0e-5> : tensor<f32>
  %s = tk.reduce %x {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<1x64x28x28xf32>) -> tensor<1x1x28x28xf32>
  %m = tk.div %s, %n : (tensor<1x1x28x28xf32>, tensor<f32>) -> tensor<1x1x28x28xf32>
  %d = tk.sub %x, %m : (tensor<1x64x28x28xf32>, tensor<1x1x28x28xf32>) -> tensor<1x64x28x28xf32>
  %q = tk.mul %d, %d : (tensor<1x64x28x28xf32>, tensor<1x64x28x28xf32>) -> tensor<1x64x28x28xf32>
  %t = tk.reduce %q {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<1x64x28x28xf32>) -> tensor<1x1x28x28xf32>
  %v = tk.div %t, %n : (tensor<1x1x28x28xf32>, tensor<f32>) -> tensor<1x1x28x28xf32>
  %w = tk.add %v, %e : (tensor<1x1x28x28xf32>, tensor<f32>) -> tensor<1x1x28x28xf32>
  %u = tk.sqrt %w : (tensor<1x1x28x28xf32>) -> tensor<1x1x28x28xf32>
  %r = tk.div %d, %u : (tensor<1x64x28x28xf32>, tensor<1x1x28x28xf32>) -> tensor<1x64x28x28xf32>
  return %r : tensor<1x64x28x28xf32>
}

// Apart, a sum of lines and what divides the lines by it read them twice from front to back; together they would
// read them twice by columns.
// CHECK-LABEL: func.func @columns_scaled
// CHECK-NEXT: %[[Q:.*]] = tk.fusion "mul_reduce"(%arg0)
// CHECK: %[[R:.*]] = tk.fusion "sqrt_div"(%[[Q]], %arg0)
// CHECK: return %[[R]]
func.func @columns_scaled(%x: tensor<96x3136xf32>) -> tensor<96x3136xf32> {
  %q = tk.mul %x, %x : (tensor<96x3136xf32>, tensor<96x3136xf32>) -> tensor<96x3136xf32>
  %s = tk.reduce %q {kind = #tk.reduce_kind<sum>, axes = array<i64: 0>, keep_dims = true} : (tensor<96x3136xf32>) -> tensor<1x3136xf32>
  %t = tk.sqrt %s : (tensor<1x3136xf32>) -> tensor<1x3136xf32>
  %r = tk.div %x, %t : (tensor<96x3136xf32>, tensor<1x3136xf32>) -> tensor<96x3136xf32>
  return %r : tensor<96x3136xf32>
}

// Rows of the same shape stay in the cache.
// CHECK-LABEL: func.func @rows_scaled
// CHECK-NEXT: %[[R:.*]] = tk.fusion {{.*}}(%arg0)
// CHECK-NOT: tk.fusion
// CHECK: return %[[R]]
func.func @rows_scaled(%x: tensor<96x3136xf32>) -> tensor<96x3136xf32> {
  %q = tk.mul %x, %x : (tensor<96x3136xf32>, tensor<96x3136xf32>) -> tensor<96x3136xf32>
  %s = tk.reduce %q {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<96x3136xf32>) -> tensor<96x1xf32>
  %t = tk.sqrt %s : (tensor<96x1xf32>) -> tensor<96x1xf32>
  %r = tk.div %x, %t : (tensor<96x3136xf32>, tensor<96x1xf32>) -> tensor<96x3136xf32>
  return %r : tensor<96x3136xf32>
}

// A column of 6000 elements has left the cache before it is read again: the differences go through memory.
// CHECK-LABEL: func.func @long_columns
// CHECK-NEXT: tk.fusion
// CHECK: tk.fusion
// CHECK: return
func.func @long_columns(%x: tensor<6000x512xf32>) -> tensor<6000x512xf32> {
  %s = tk.reduce %x {kind = #tk.reduce_kind<max>, axes = array<i64: 0>, keep_dims = true} : (tensor<6000x512xf32>) -> tensor<1x512xf32>
  %d = tk.sub %x, %s : (tensor<6000x512xf32>, tensor<1x512xf32>) -> tensor<6000x512xf32>
  %q = tk.mul %d, %d : (tensor<6000x512xf32>, tensor<6000x512xf32>) -> tensor<6000x512xf32>
  %t = tk.reduce %q {kind = #tk.reduce_kind<sum>, axes = array<i64: 0>, keep_dims = true} : (tensor<6000x512xf32>) -> tensor<1x512xf32>
  %r = tk.div %d, %t : (tensor<6000x512xf32>, tensor<1x512xf32>) -> tensor<6000x512xf32>
  return %r : tensor<6000x512xf32>
}

// Threads share the rows of the large one; the little work behind it has none of its own.
// CHECK-LABEL: func.func @little_behind_much
// CHECK-NEXT: %[[A:.*]] = tk.fusion {{.*}}(%arg0)
// CHECK: %[[B:.*]] = tk.fusion {{.*}}(%[[A]])
// CHECK: return %[[B]]
func.func @little_behind_much(%x: tensor<2000x2000xf32>) -> tensor<1x1xf32> {
  %s = tk.reduce %x {kind = #tk.reduce_kind<sum>, axes = array<i64: 0>, keep_dims = true} : (tensor<2000x2000xf32>) -> tensor<1x2000xf32>
  %e = tk.tanh %s : (tensor<1x2000xf32>) -> tensor<1x2000xf32>
  %r = tk.reduce %e {kind = #tk.reduce_kind<max>, axes = array<i64: 1>, keep_dims = true} : (tensor<1x2000xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}

// A value that others need is one more result of the kernel.
// CHECK-LABEL: func.func @interior_output
// CHECK-NEXT: %[[R:.*]]:2 = tk.fusion
// CHECK-NOT: tk.fusion
// CHECK: return %[[R]]#{{.}}, %[[R]]#{{.}}
func.func @interior_output(%x: tensor<40x64xf32>) -> (tensor<40x1xf32>, tensor<40x64xf32>) {
  %s = tk.reduce %x {kind = #tk.reduce_kind<max>, axes = array<i64: 1>, keep_dims = true} : (tensor<40x64xf32>) -> tensor<40x1xf32>
  %d = tk.sub %x, %s : (tensor<40x64xf32>, tensor<40x1xf32>) -> tensor<40x64xf32>
  return %s, %d : tensor<40x1xf32>, tensor<40x64xf32>
}

// Reductions of different axes have no row in common that threads could share: they stay apart.
// CHECK-LABEL: func.func @no_common_rows
// CHECK: tk.fusion
// CHECK: tk.fusion
// CHECK: return
func.func @no_common_rows(%x: tensor<40x64xf32>) -> tensor<64xf32> {
  %s = tk.reduce %x {kind = #tk.reduce_kind<sum>, axes = array<i64: 1>, keep_dims = true} : (tensor<40x64xf32>) -> tensor<40x1xf32>
  %d = tk.mul %x, %s : (tensor<40x64xf32>, tensor<40x1xf32>) -> tensor<40x64xf32>
  %r = tk.reduce %d {kind = #tk.reduce_kind<sum>, axes = array<i64: 0>, keep_dims = false} : (tensor<40x64xf32>) -> tensor<64xf32>
  return %r : tensor<64xf32>
}

// A path through a library call would make the merged group depend on itself.
// CHECK-LABEL: func.func @cycle
// CHECK: tk.fusion
// CHECK: tk.cumsum
// CHECK: tk.fusion
func.func @cycle(%x: tensor<40x64xf32>) -> tensor<40x64xf32> {
  %s = tk.reduce %x {kind = #tk.reduce_kind<max>, axes = array<i64: 1>, keep_dims = true} : (tensor<40x64xf32>) -> tensor<40x1xf32>
  %c = tk.cumsum %s {axis = 0 : i64, exclusive = false, reverse = false} : (tensor<40x1xf32>) -> tensor<40x1xf32>
  %a = tk.add %s, %c : (tensor<40x1xf32>, tensor<40x1xf32>) -> tensor<40x1xf32>
  %d = tk.sub %x, %a : (tensor<40x64xf32>, tensor<40x1xf32>) -> tensor<40x64xf32>
  return %d : tensor<40x64xf32>
}

// What nothing uses, dead code elimination being off, merges with nothing.
// CHECK-LABEL: func.func @dead
// CHECK: return
func.func @dead(%x: tensor<40x64xf32>) -> tensor<40x1xf32> {
  %s = tk.reduce %x {kind = #tk.reduce_kind<max>, axes = array<i64: 1>, keep_dims = true} : (tensor<40x64xf32>) -> tensor<40x1xf32>
  %d = tk.sub %x, %s : (tensor<40x64xf32>, tensor<40x1xf32>) -> tensor<40x64xf32>
  return %s : tensor<40x1xf32>
}

// -----

// A sum of little work before much: few rows keep four threads busy where hardly one waits for another.
// CHECK-LABEL: func.func @eight_rows
// CHECK-COUNT-1: tk.fusion
// CHECK-NOT: tk.fusion
// CHECK: return
func.func @eight_rows(%x: tensor<8x80x80xf32>) -> tensor<8x80x80xf32> {
  %s = tk.reduce %x {kind = #tk.reduce_kind<sum>, axes = array<i64: 1, 2>, keep_dims = true} : (tensor<8x80x80xf32>) -> tensor<8x1x1xf32>
  %p = tk.mul %x, %s : (tensor<8x80x80xf32>, tensor<8x1x1xf32>) -> tensor<8x80x80xf32>
  %y = tk.tanh %p : (tensor<8x80x80xf32>) -> tensor<8x80x80xf32>
  return %y : tensor<8x80x80xf32>
}

// -----

// CHECK-LABEL: func.func @five_rows
// CHECK-COUNT-2: tk.fusion
// CHECK: return
func.func @five_rows(%x: tensor<5x100x100xf32>) -> tensor<5x100x100xf32> {
  %s = tk.reduce %x {kind = #tk.reduce_kind<sum>, axes = array<i64: 1, 2>, keep_dims = true} : (tensor<5x100x100xf32>) -> tensor<5x1x1xf32>
  %p = tk.mul %x, %s : (tensor<5x100x100xf32>, tensor<5x1x1xf32>) -> tensor<5x100x100xf32>
  %y = tk.tanh %p : (tensor<5x100x100xf32>) -> tensor<5x100x100xf32>
  return %y : tensor<5x100x100xf32>
}
