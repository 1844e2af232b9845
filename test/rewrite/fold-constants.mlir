// RUN: tokamak-opt %s --fold-constants --eliminate-dead-code | FileCheck %s

// Chains of constants go at once; what needs an input stays.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT: %[[C:.*]] = tk.constant dense<[3.0{{.*}}, 5.0{{.*}}]> : tensor<2xf32>
// CHECK-NEXT: %[[R:.*]] = tk.add %arg0, %[[C]]
// CHECK-NEXT: return %[[R]]
func.func @chain(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = tk.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %two = tk.constant dense<2.0> : tensor<f32>
  %one = tk.constant dense<1.0> : tensor<f32>
  %0 = tk.mul %a, %two : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = tk.add %0, %one : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %2 = tk.add %x, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

// A constant that would be much larger than what makes it stays computed.
// CHECK-LABEL: func.func @growth
// CHECK: tk.broadcast
func.func @growth() -> tensor<1024x1024xf32> {
  %c = tk.constant dense<1.0> : tensor<f32>
  %0 = tk.broadcast %c {shape = array<i64: 1024, 1024>} : (tensor<f32>) -> tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}

// An if with a constant condition is the branch that it takes, and that is folded in turn.
// CHECK-LABEL: func.func @branch
// CHECK-NEXT: %[[C:.*]] = tk.constant dense<4.0{{.*}}> : tensor<f32>
// CHECK-NEXT: %[[R:.*]] = tk.mul %arg0, %[[C]]
// CHECK-NEXT: return %[[R]]
func.func @branch(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = tk.constant dense<1> : tensor<i64>
  %b = tk.constant dense<2> : tensor<i64>
  %two = tk.constant dense<2.0> : tensor<f32>
  %less = tk.compare %a, %b {predicate = #tk.predicate<lt>} : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %0 = tk.if %less {
    %four = tk.mul %two, %two : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %1 = tk.mul %x, %four : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    tk.yield %1 : tensor<2xf32>
  } else {
    %2 = tk.exp %x : (tensor<2xf32>) -> tensor<2xf32>
    tk.yield %2 : tensor<2xf32>
  } : (tensor<i1>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// A branch that only hands a value through.
// CHECK-LABEL: func.func @empty_branch
// CHECK-NEXT: return %arg0
func.func @empty_branch(%x: tensor<2xf32>) -> tensor<2xf32> {
  %no = tk.constant dense<false> : tensor<1xi1>
  %0 = tk.if %no {
    %2 = tk.exp %x : (tensor<2xf32>) -> tensor<2xf32>
    tk.yield %2 : tensor<2xf32>
  } else {
    tk.yield %x : tensor<2xf32>
  } : (tensor<1xi1>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// Inside regions as outside; a loop itself is not run while compiling, since it need not end.
// CHECK-LABEL: func.func @loop
// CHECK: tk.loop
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tk.constant dense<2.0
// CHECK-NEXT: tk.add
func.func @loop() -> tensor<f32> {
  %go = tk.constant dense<true> : tensor<i1>
  %one = tk.constant dense<1.0> : tensor<f32>
  %0 = tk.loop while(%go : tensor<i1>) carry(%one) trips 0 {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>, %x: tensor<f32>):
    %two = tk.add %one, %one : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %y = tk.add %x, %two : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tk.yield %c, %y : tensor<i1>, tensor<f32>
  } : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// Composites fold as a whole; nothing inside one is touched.
// CHECK-LABEL: func.func @composites
// CHECK: tk.constant dense<3.0{{.*}}> : tensor<f32>
// CHECK: tk.composite "Twice"
// CHECK: tk.neg
// CHECK: tk.add
func.func @composites(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %c = tk.constant dense<1.0> : tensor<f32>
  %0 = tk.composite "AddTwo"(%c) {
  ^bb0(%a: tensor<f32>):
    %two = tk.constant dense<2.0> : tensor<f32>
    %s = tk.add %a, %two : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tk.yield %s : tensor<f32>
  } : (tensor<f32>) -> tensor<f32>
  %1 = tk.composite "Twice"(%x) {
  ^bb0(%a: tensor<f32>):
    %two = tk.constant dense<2.0> : tensor<f32>
    %n = tk.neg %two : (tensor<f32>) -> tensor<f32>
    %s = tk.add %a, %n : (tensor<f32>, tensor<f32>) -> tensor<f32>
    tk.yield %s : tensor<f32>
  } : (tensor<f32>) -> tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}

// What has no value (an index out of range) is left for the run to report, without a word now.
// CHECK-LABEL: func.func @undefined
// CHECK: tk.gather
func.func @undefined() -> tensor<1xf32> {
  %c = tk.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %i = tk.constant dense<7> : tensor<1xi64>
  %0 = tk.gather %c, %i {axis = 0 : i64} : (tensor<2xf32>, tensor<1xi64>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// Integers are exact, also where a double is not; zero extents and rank 0 fold.
// CHECK-LABEL: func.func @exact
// CHECK-DAG: tk.constant dense<9007199254740993> : tensor<i64>
// CHECK-DAG: tk.constant dense<> : tensor<0xf32>
// CHECK: return
func.func @exact() -> (tensor<i64>, tensor<0xf32>) {
  %a = tk.constant dense<9007199254740992> : tensor<i64>
  %one = tk.constant dense<1> : tensor<i64>
  %e = tk.constant dense<> : tensor<0xf32>
  %0 = tk.add %a, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %1 = tk.exp %e : (tensor<0xf32>) -> tensor<0xf32>
  return %0, %1 : tensor<i64>, tensor<0xf32>
}
