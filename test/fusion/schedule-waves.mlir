// Kernels that do not depend on each other share one dispatch where threads would idle. A group of 16384 tanh is too small
// to be shared among threads, so two of them take half the time at once; times are those of the default description.
// RUN: tokamak-opt %s --split-input-file --pass-pipeline='builtin.module(tokamak-pipeline{threads=2 target-cpu=x86-64-v3})' | FileCheck %s
// RUN: tokamak-opt %s --split-input-file --pass-pipeline='builtin.module(tokamak-pipeline{threads=1 target-cpu=x86-64-v3})' | FileCheck %s --check-prefix=ONE
// RUN: tokamak-opt %s --split-input-file --pass-pipeline='builtin.module(tokamak-pipeline{fusion=dominator threads=2 target-cpu=x86-64-v3})' | FileCheck %s --check-prefix=ONE

// ONE-NOT: tk.wave

// Two chains: their first kernels run at once, then their second ones.
// CHECK-LABEL: func.func @chains
// CHECK: tk.fusion "a1"
// CHECK: {tk.wave = 0 : i64}
// CHECK: tk.fusion "b1"
// CHECK: {tk.wave = 0 : i64}
// CHECK: tk.fusion "a2"
// CHECK: {tk.wave = 1 : i64}
// CHECK: tk.fusion "b2"
// CHECK: {tk.wave = 1 : i64}
// CHECK: return
func.func @chains(%x: tensor<128x128xf32>, %y: tensor<128x128xf32>) -> (tensor<128x128xf32>, tensor<128x128xf32>) {
  %a = tk.fusion "a1"(%x) {
  ^bb0(%i: tensor<128x128xf32>):
    %r = tk.tanh %i : (tensor<128x128xf32>) -> tensor<128x128xf32>
    tk.yield %r : tensor<128x128xf32>
  } : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %c = tk.fusion "a2"(%a) {
  ^bb0(%i: tensor<128x128xf32>):
    %r = tk.tanh %i : (tensor<128x128xf32>) -> tensor<128x128xf32>
    tk.yield %r : tensor<128x128xf32>
  } : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %b = tk.fusion "b1"(%y) {
  ^bb0(%i: tensor<128x128xf32>):
    %r = tk.tanh %i : (tensor<128x128xf32>) -> tensor<128x128xf32>
    tk.yield %r : tensor<128x128xf32>
  } : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %d = tk.fusion "b2"(%b) {
  ^bb0(%i: tensor<128x128xf32>):
    %r = tk.tanh %i : (tensor<128x128xf32>) -> tensor<128x128xf32>
    tk.yield %r : tensor<128x128xf32>
  } : (tensor<128x128xf32>) -> tensor<128x128xf32>
  return %c, %d : tensor<128x128xf32>, tensor<128x128xf32>
}

// -----

// The longest piece comes first, so that no thread waits for one that began late.
// CHECK-LABEL: func.func @longest_first
// CHECK: tk.fusion "long"
// CHECK: {tk.wave = 0 : i64}
// CHECK: tk.fusion "short"
// CHECK: {tk.wave = 0 : i64}
// CHECK: return
func.func @longest_first(%x: tensor<128x128xf32>, %y: tensor<256x128xf32>) -> (tensor<128x128xf32>, tensor<256x128xf32>) {
  %a = tk.fusion "short"(%x) {
  ^bb0(%i: tensor<128x128xf32>):
    %r = tk.tanh %i : (tensor<128x128xf32>) -> tensor<128x128xf32>
    tk.yield %r : tensor<128x128xf32>
  } : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %b = tk.fusion "long"(%y) {
  ^bb0(%i: tensor<256x128xf32>):
    %r = tk.tanh %i : (tensor<256x128xf32>) -> tensor<256x128xf32>
    tk.yield %r : tensor<256x128xf32>
  } : (tensor<256x128xf32>) -> tensor<256x128xf32>
  return %a, %b : tensor<128x128xf32>, tensor<256x128xf32>
}

// -----

// Never: what depends through a view. The reader of the reshape waits for what it shows, also where that is the part of a
// concatenation, or a slice.
// CHECK-LABEL: func.func @through_reshape
// CHECK-NOT: tk.wave
// CHECK: return
func.func @through_reshape(%x: tensor<128x128xf32>) -> tensor<64x256xf32> {
  %a = tk.fusion "a"(%x) {
  ^bb0(%i: tensor<128x128xf32>):
    %r = tk.tanh %i : (tensor<128x128xf32>) -> tensor<128x128xf32>
    tk.yield %r : tensor<128x128xf32>
  } : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %v = tk.reshape %a {shape = array<i64: 64, 256>} : (tensor<128x128xf32>) -> tensor<64x256xf32>
  %b = tk.fusion "b"(%v) {
  ^bb0(%i: tensor<64x256xf32>):
    %r = tk.tanh %i : (tensor<64x256xf32>) -> tensor<64x256xf32>
    tk.yield %r : tensor<64x256xf32>
  } : (tensor<64x256xf32>) -> tensor<64x256xf32>
  return %b : tensor<64x256xf32>
}

// -----

// Both parts of a concatenation are written into one buffer, side by side, at once; the slices of it are read at once.
// What reads the concatenation waits for both.
// CHECK-LABEL: func.func @parts
// CHECK: tk.fusion "a"
// CHECK: {tk.wave = 0 : i64}
// CHECK: tk.fusion "b"
// CHECK: {tk.wave = 0 : i64}
// CHECK-DAG: tk.fusion "joined"
// CHECK-DAG: tk.fusion "low"
// CHECK-DAG: tk.fusion "high"
// CHECK: tk.fusion "c"
// CHECK: {tk.wave = 1 : i64}
// CHECK: tk.fusion "d"
// CHECK: {tk.wave = 1 : i64}
// CHECK: return
func.func @parts(%x: tensor<1x32x16x32xf32>, %y: tensor<1x32x16x32xf32>) -> (tensor<1x32x16x32xf32>, tensor<1x32x16x32xf32>) {
  %a = tk.fusion "a"(%x) {
  ^bb0(%i: tensor<1x32x16x32xf32>):
    %r = tk.tanh %i : (tensor<1x32x16x32xf32>) -> tensor<1x32x16x32xf32>
    tk.yield %r : tensor<1x32x16x32xf32>
  } : (tensor<1x32x16x32xf32>) -> tensor<1x32x16x32xf32>
  %b = tk.fusion "b"(%y) {
  ^bb0(%i: tensor<1x32x16x32xf32>):
    %r = tk.tanh %i : (tensor<1x32x16x32xf32>) -> tensor<1x32x16x32xf32>
    tk.yield %r : tensor<1x32x16x32xf32>
  } : (tensor<1x32x16x32xf32>) -> tensor<1x32x16x32xf32>
  %j = tk.fusion "joined"(%a, %b) {
  ^bb0(%i: tensor<1x32x16x32xf32>, %j: tensor<1x32x16x32xf32>):
    %r = tk.concat %i, %j {axis = 1 : i64} : (tensor<1x32x16x32xf32>, tensor<1x32x16x32xf32>) -> tensor<1x64x16x32xf32>
    tk.yield %r : tensor<1x64x16x32xf32>
  } : (tensor<1x32x16x32xf32>, tensor<1x32x16x32xf32>) -> tensor<1x64x16x32xf32>
  %l = tk.fusion "low"(%j) {
  ^bb0(%i: tensor<1x64x16x32xf32>):
    %r = tk.slice %i {starts = array<i64: 0, 0, 0, 0>, sizes = array<i64: 1, 32, 16, 32>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x64x16x32xf32>) -> tensor<1x32x16x32xf32>
    tk.yield %r : tensor<1x32x16x32xf32>
  } : (tensor<1x64x16x32xf32>) -> tensor<1x32x16x32xf32>
  %c = tk.fusion "c"(%l) {
  ^bb0(%i: tensor<1x32x16x32xf32>):
    %r = tk.tanh %i : (tensor<1x32x16x32xf32>) -> tensor<1x32x16x32xf32>
    tk.yield %r : tensor<1x32x16x32xf32>
  } : (tensor<1x32x16x32xf32>) -> tensor<1x32x16x32xf32>
  %h = tk.fusion "high"(%j) {
  ^bb0(%i: tensor<1x64x16x32xf32>):
    %r = tk.slice %i {starts = array<i64: 0, 32, 0, 0>, sizes = array<i64: 1, 32, 16, 32>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x64x16x32xf32>) -> tensor<1x32x16x32xf32>
    tk.yield %r : tensor<1x32x16x32xf32>
  } : (tensor<1x64x16x32xf32>) -> tensor<1x32x16x32xf32>
  %d = tk.fusion "d"(%h) {
  ^bb0(%i: tensor<1x32x16x32xf32>):
    %r = tk.tanh %i : (tensor<1x32x16x32xf32>) -> tensor<1x32x16x32xf32>
    tk.yield %r : tensor<1x32x16x32xf32>
  } : (tensor<1x32x16x32xf32>) -> tensor<1x32x16x32xf32>
  return %c, %d : tensor<1x32x16x32xf32>, tensor<1x32x16x32xf32>
}

// -----

// Never: a library call between two kernels keeps them apart. What does not depend on it may run before it.
// CHECK-LABEL: func.func @library_call
// CHECK: tk.fusion "a"
// CHECK: {tk.wave = 0 : i64}
// CHECK: tk.fusion "c"
// CHECK: {tk.wave = 0 : i64}
// CHECK: tk.cumsum
// CHECK: tk.fusion "b"
// CHECK-NOT: tk.wave
// CHECK: return
func.func @library_call(%x: tensor<128x128xf32>, %y: tensor<128x128xf32>) -> (tensor<128x128xf32>, tensor<128x128xf32>) {
  %a = tk.fusion "a"(%x) {
  ^bb0(%i: tensor<128x128xf32>):
    %r = tk.tanh %i : (tensor<128x128xf32>) -> tensor<128x128xf32>
    tk.yield %r : tensor<128x128xf32>
  } : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %s = tk.cumsum %a {axis = 0 : i64, exclusive = false, reverse = false} : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %b = tk.fusion "b"(%s) {
  ^bb0(%i: tensor<128x128xf32>):
    %r = tk.tanh %i : (tensor<128x128xf32>) -> tensor<128x128xf32>
    tk.yield %r : tensor<128x128xf32>
  } : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %c = tk.fusion "c"(%y) {
  ^bb0(%i: tensor<128x128xf32>):
    %r = tk.tanh %i : (tensor<128x128xf32>) -> tensor<128x128xf32>
    tk.yield %r : tensor<128x128xf32>
  } : (tensor<128x128xf32>) -> tensor<128x128xf32>
  return %b, %c : tensor<128x128xf32>, tensor<128x128xf32>
}

// -----

// Nor is a value that a branch reads from outside computed beside it.
// CHECK-LABEL: func.func @branch
// CHECK: tk.fusion "outside"
// CHECK-NOT: tk.wave
// CHECK: tk.if
// CHECK: tk.fusion "t1"
// CHECK: {tk.wave = 0 : i64}
// CHECK: tk.fusion "t2"
// CHECK: {tk.wave = 0 : i64}
// CHECK: else
// CHECK: tk.fusion "e1"
// CHECK-NOT: tk.wave
// CHECK: tk.fusion "behind"
// CHECK-NOT: tk.wave
// CHECK: return
func.func @branch(%x: tensor<128x128xf32>, %c: tensor<i1>) -> tensor<128x128xf32> {
  %o = tk.fusion "outside"(%x) {
  ^bb0(%i: tensor<128x128xf32>):
    %r = tk.tanh %i : (tensor<128x128xf32>) -> tensor<128x128xf32>
    tk.yield %r : tensor<128x128xf32>
  } : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %w:2 = tk.if %c {
    %p = tk.fusion "t1"(%o) {
    ^bb0(%i: tensor<128x128xf32>):
      %r = tk.tanh %i : (tensor<128x128xf32>) -> tensor<128x128xf32>
      tk.yield %r : tensor<128x128xf32>
    } : (tensor<128x128xf32>) -> tensor<128x128xf32>
    %q = tk.fusion "t2"(%x) {
    ^bb0(%i: tensor<128x128xf32>):
      %r = tk.exp %i : (tensor<128x128xf32>) -> tensor<128x128xf32>
      tk.yield %r : tensor<128x128xf32>
    } : (tensor<128x128xf32>) -> tensor<128x128xf32>
    tk.yield %p, %q : tensor<128x128xf32>, tensor<128x128xf32>
  } else {
    %p = tk.fusion "e1"(%o) {
    ^bb0(%i: tensor<128x128xf32>):
      %r = tk.tanh %i : (tensor<128x128xf32>) -> tensor<128x128xf32>
      tk.yield %r : tensor<128x128xf32>
    } : (tensor<128x128xf32>) -> tensor<128x128xf32>
    tk.yield %p, %x : tensor<128x128xf32>, tensor<128x128xf32>
  } : (tensor<i1>) -> (tensor<128x128xf32>, tensor<128x128xf32>)
  %b = tk.fusion "behind"(%w#0, %w#1) {
  ^bb0(%i: tensor<128x128xf32>, %j: tensor<128x128xf32>):
    %r = tk.add %i, %j : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
    tk.yield %r : tensor<128x128xf32>
  } : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  return %b : tensor<128x128xf32>
}

// -----

// The body of a loop has its waves; what it carries is read and written in turns.
// CHECK-LABEL: func.func @loop
// CHECK: tk.loop
// CHECK: tk.fusion "b"
// CHECK: {tk.wave = 0 : i64}
// CHECK: tk.fusion "a"
// CHECK: {tk.wave = 0 : i64}
// CHECK: return
func.func @loop(%x: tensor<128x128xf32>, %y: tensor<128x128xf32>) -> (tensor<128x128xf32>, tensor<128x128xf32>) {
  %n = tk.constant dense<3> : tensor<i64>
  %r:2 = tk.loop limit(%n : tensor<i64>) carry(%x, %y) trips 0 {
  ^bb0(%it: tensor<i64>, %go: tensor<i1>, %u: tensor<128x128xf32>, %v: tensor<128x128xf32>):
    %p = tk.fusion "a"(%u) {
    ^bb0(%i: tensor<128x128xf32>):
      %r = tk.tanh %i : (tensor<128x128xf32>) -> tensor<128x128xf32>
      tk.yield %r : tensor<128x128xf32>
    } : (tensor<128x128xf32>) -> tensor<128x128xf32>
    %q = tk.fusion "b"(%v) {
    ^bb0(%i: tensor<128x128xf32>):
      %r = tk.sin %i : (tensor<128x128xf32>) -> tensor<128x128xf32>
      tk.yield %r : tensor<128x128xf32>
    } : (tensor<128x128xf32>) -> tensor<128x128xf32>
    tk.yield %go, %q, %p : tensor<i1>, tensor<128x128xf32>, tensor<128x128xf32>
  } : (tensor<128x128xf32>, tensor<128x128xf32>) -> (tensor<128x128xf32>, tensor<128x128xf32>)
  return %r#0, %r#1 : tensor<128x128xf32>, tensor<128x128xf32>
}

// -----

// Kernels that fill both threads gain one wake-up of some microseconds: not worth moving them.
// CHECK-LABEL: func.func @full
// CHECK-NOT: tk.wave
// CHECK: return
func.func @full(%x: tensor<1024x1024xf32>, %y: tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>, tensor<1024x1024xf32>) {
  %a = tk.fusion "a"(%x) {
  ^bb0(%i: tensor<1024x1024xf32>):
    %r = tk.tanh %i : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    tk.yield %r : tensor<1024x1024xf32>
  } : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %b = tk.fusion "b"(%y) {
  ^bb0(%i: tensor<1024x1024xf32>):
    %r = tk.tanh %i : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    tk.yield %r : tensor<1024x1024xf32>
  } : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %a, %b : tensor<1024x1024xf32>, tensor<1024x1024xf32>
}

// -----

// Nor do two that take less than waking the other thread.
// CHECK-LABEL: func.func @tiny
// CHECK-NOT: tk.wave
// CHECK: return
func.func @tiny(%x: tensor<16x16xf32>, %y: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %a = tk.fusion "a"(%x) {
  ^bb0(%i: tensor<16x16xf32>):
    %r = tk.tanh %i : (tensor<16x16xf32>) -> tensor<16x16xf32>
    tk.yield %r : tensor<16x16xf32>
  } : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %b = tk.fusion "b"(%y) {
  ^bb0(%i: tensor<16x16xf32>):
    %r = tk.tanh %i : (tensor<16x16xf32>) -> tensor<16x16xf32>
    tk.yield %r : tensor<16x16xf32>
  } : (tensor<16x16xf32>) -> tensor<16x16xf32>
  return %a, %b : tensor<16x16xf32>, tensor<16x16xf32>
}

// -----

// Memory stays bounded: of three sums over large values, each of which is gone before the next one begins, none begins
// early.
// CHECK-LABEL: func.func @bounded
// CHECK-NOT: tk.wave
// CHECK: return
func.func @bounded(%x: tensor<160x256xf64>) -> tensor<1x256xf64> {
  %l0 = tk.fusion "large0"(%x) {
  ^bb0(%i: tensor<160x256xf64>):
    %r = tk.tanh %i : (tensor<160x256xf64>) -> tensor<160x256xf64>
    tk.yield %r : tensor<160x256xf64>
  } : (tensor<160x256xf64>) -> tensor<160x256xf64>
  %s0 = tk.fusion "sum0"(%l0) {
  ^bb0(%i: tensor<160x256xf64>):
    %r = tk.reduce %i {kind = #tk.reduce_kind<sum>, axes = array<i64: 0>, keep_dims = true} : (tensor<160x256xf64>) -> tensor<1x256xf64>
    tk.yield %r : tensor<1x256xf64>
  } : (tensor<160x256xf64>) -> tensor<1x256xf64>
  %l1 = tk.fusion "large1"(%x) {
  ^bb0(%i: tensor<160x256xf64>):
    %r = tk.exp %i : (tensor<160x256xf64>) -> tensor<160x256xf64>
    tk.yield %r : tensor<160x256xf64>
  } : (tensor<160x256xf64>) -> tensor<160x256xf64>
  %s1 = tk.fusion "sum1"(%l1) {
  ^bb0(%i: tensor<160x256xf64>):
    %r = tk.reduce %i {kind = #tk.reduce_kind<sum>, axes = array<i64: 0>, keep_dims = true} : (tensor<160x256xf64>) -> tensor<1x256xf64>
    tk.yield %r : tensor<1x256xf64>
  } : (tensor<160x256xf64>) -> tensor<1x256xf64>
  %l2 = tk.fusion "large2"(%x) {
  ^bb0(%i: tensor<160x256xf64>):
    %r = tk.sin %i : (tensor<160x256xf64>) -> tensor<160x256xf64>
    tk.yield %r : tensor<160x256xf64>
  } : (tensor<160x256xf64>) -> tensor<160x256xf64>
  %s2 = tk.fusion "sum2"(%l2) {
  ^bb0(%i: tensor<160x256xf64>):
    %r = tk.reduce %i {kind = #tk.reduce_kind<sum>, axes = array<i64: 0>, keep_dims = true} : (tensor<160x256xf64>) -> tensor<1x256xf64>
    tk.yield %r : tensor<1x256xf64>
  } : (tensor<160x256xf64>) -> tensor<1x256xf64>
  %e = tk.fusion "end"(%s0, %s1, %s2) {
  ^bb0(%i: tensor<1x256xf64>, %j: tensor<1x256xf64>, %k: tensor<1x256xf64>):
    %r = tk.add %i, %j : (tensor<1x256xf64>, tensor<1x256xf64>) -> tensor<1x256xf64>
    %q = tk.add %r, %k : (tensor<1x256xf64>, tensor<1x256xf64>) -> tensor<1x256xf64>
    tk.yield %q : tensor<1x256xf64>
  } : (tensor<1x256xf64>, tensor<1x256xf64>, tensor<1x256xf64>) -> tensor<1x256xf64>
  return %e : tensor<1x256xf64>
}
