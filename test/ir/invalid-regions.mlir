// Refused composites, groups, branches and loops.
// RUN: tokamak-opt %s --split-input-file --verify-diagnostics

func.func @composite_arguments(%x: tensor<2xf32>) {
  // expected-error@+1 {{has a body that takes ('tensor<3xf32>'), but operands ('tensor<2xf32>')}}
  %0 = tk.composite "Exp"(%x) {
  ^bb0(%a: tensor<3xf32>):
    tk.yield %a : tensor<3xf32>
  } : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @composite_results(%x: tensor<2xf32>) {
  // expected-error@+1 {{has a body that yields ('tensor<2xf32>', 'tensor<2xf32>'), but results ('tensor<2xf32>')}}
  %0 = tk.composite "Exp"(%x) {
  ^bb0(%a: tensor<2xf32>):
    tk.yield %a, %a : tensor<2xf32>, tensor<2xf32>
  } : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @composite_opaque(%x: tensor<2xf32>) {
  // expected-error@+1 {{cannot hold tk.cumsum, which is no part of a kernel}}
  %0 = tk.composite "CumSum"(%x) {
  ^bb0(%a: tensor<2xf32>):
    %1 = tk.cumsum %a {axis = 0 : i64, exclusive = false, reverse = false} : (tensor<2xf32>) -> tensor<2xf32>
    tk.yield %1 : tensor<2xf32>
  } : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @composite_two_anchors(%x: tensor<2x2xf32>) {
  // expected-error@+1 {{holds more than one matrix product, convolution or window}}
  %0 = tk.composite "Attention"(%x) {
  ^bb0(%a: tensor<2x2xf32>):
    %1 = tk.matmul %a, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %2 = tk.matmul %1, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    tk.yield %2 : tensor<2x2xf32>
  } : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @composite_in_composite(%x: tensor<2xf32>) {
  // expected-error@+1 {{cannot hold tk.composite, which is no part of a kernel}}
  %0 = tk.composite "Outer"(%x) {
  ^bb0(%a: tensor<2xf32>):
    %1 = tk.composite "Inner"(%a) {
    ^bb0(%b: tensor<2xf32>):
      tk.yield %b : tensor<2xf32>
    } : (tensor<2xf32>) -> tensor<2xf32>
    tk.yield %1 : tensor<2xf32>
  } : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @outside_value(%x: tensor<2xf32>) {
  // expected-note@+1 {{required by region isolation constraints}}
  %0 = tk.fusion() {
    // expected-error@+1 {{using value defined outside the region}}
    %1 = tk.exp %x : (tensor<2xf32>) -> tensor<2xf32>
    tk.yield %1 : tensor<2xf32>
  } : () -> tensor<2xf32>
  return
}

// -----

func.func @fusion_in_fusion(%x: tensor<2xf32>) {
  // expected-error@+1 {{cannot hold tk.fusion, which is no part of a kernel}}
  %0 = tk.fusion(%x) {
  ^bb0(%a: tensor<2xf32>):
    %1 = tk.fusion(%a) {
    ^bb0(%b: tensor<2xf32>):
      tk.yield %b : tensor<2xf32>
    } : (tensor<2xf32>) -> tensor<2xf32>
    tk.yield %1 : tensor<2xf32>
  } : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @no_yield(%x: tensor<2xf32>) {
  %0 = tk.fusion(%x) {
  ^bb0(%a: tensor<2xf32>):
    // expected-error@+1 {{block with no terminator}}
    %1 = tk.exp %a : (tensor<2xf32>) -> tensor<2xf32>
  } : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @yield_outside(%x: tensor<2xf32>) {
  // expected-error@+1 {{expects parent op to be one of}}
  tk.yield %x : tensor<2xf32>
}

// -----

func.func @no_terminator(%x: tensor<2xf32>) {
  // expected-error@+1 {{expects a non-empty block}}
  %0 = tk.fusion(%x) {
  ^bb0(%a: tensor<2xf32>):
  } : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// An operation inside that is itself wrong is reported, and nothing asks for its kind before.
func.func @invalid_inside(%x: tensor<2xf32>) {
  %0 = tk.composite "Reshape"(%x) {
  ^bb0(%a: tensor<2xf32>):
    // expected-error@+2 {{cannot reshape [2] (2 elements) to [3] (3 elements)}}
    // expected-error@+1 {{failed to infer returned types}}
    %1 = tk.reshape %a {shape = array<i64: 3>} : (tensor<2xf32>) -> tensor<3xf32>
    tk.yield %1 : tensor<3xf32>
  } : (tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @if_condition(%c: tensor<2xi1>, %x: tensor<2xf32>) {
  // expected-error@+1 {{needs a condition of one element, not 'tensor<2xi1>'}}
  %0 = tk.if %c {
    tk.yield %x : tensor<2xf32>
  } else {
    tk.yield %x : tensor<2xf32>
  } : (tensor<2xi1>) -> tensor<2xf32>
  return
}

// -----

func.func @if_branch(%c: tensor<i1>, %x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{has a branch that yields ('tensor<3xf32>'), but results ('tensor<2xf32>')}}
  %0 = tk.if %c {
    tk.yield %x : tensor<2xf32>
  } else {
    tk.yield %y : tensor<3xf32>
  } : (tensor<i1>) -> tensor<2xf32>
  return
}

// -----

func.func @loop_limit(%n: tensor<2xi64>) {
  // expected-error@+1 {{needs a limit of one int64, not 'tensor<2xi64>'}}
  tk.loop limit(%n : tensor<2xi64>) carry() trips 0 {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>):
    tk.yield %c : tensor<i1>
  } : () -> ()
  return
}

// -----

func.func @loop_limit_type(%n: tensor<i32>) {
  // expected-error@+1 {{needs a limit of one int64, not 'tensor<i32>'}}
  tk.loop limit(%n : tensor<i32>) carry() trips 0 {
  ^bb0(%i: tensor<i64>, %c: tensor<i1>):
    tk.yield %c : tensor<i1>
  } : () -> ()
  return
}

// -----

func.func @loop_condition(%c: tensor<0xi1>) {
  // expected-error@+1 {{needs a condition of one element, not 'tensor<0xi1>'}}
  tk.loop while(%c : tensor<0xi1>) carry() trips 0 {
  ^bb0(%i: tensor<i64>, %d: tensor<i1>):
    tk.yield %d : tensor<i1>
  } : () -> ()
  return
}

// -----

func.func @loop_trips() {
  // expected-error@+1 {{has a negative number of iterations}}
  tk.loop carry() trips -1 {
  ^bb0(%i: tensor<i64>, %d: tensor<i1>):
    tk.yield %d : tensor<i1>
  } : () -> ()
  return
}

// -----

func.func @loop_arguments(%x: tensor<2xf32>) {
  // expected-error@+1 {{has a body that takes ('tensor<i64>', 'tensor<i1>'), but iteration, condition and carried values are ('tensor<i64>', 'tensor<i1>', 'tensor<2xf32>')}}
  %0 = tk.loop carry(%x) trips 0 {
  ^bb0(%i: tensor<i64>, %d: tensor<i1>):
    tk.yield %d : tensor<i1>
  } : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @loop_yields(%x: tensor<2xf32>) {
  // expected-error@+1 {{should yield a condition and one value for each of its 1 results, 1 of them carried}}
  %0 = tk.loop carry(%x) trips 0 {
  ^bb0(%i: tensor<i64>, %d: tensor<i1>, %a: tensor<2xf32>):
    tk.yield %d : tensor<i1>
  } : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @loop_fewer_results(%x: tensor<2xf32>) {
  // expected-error@+1 {{should yield a condition and one value for each of its 0 results, 1 of them carried}}
  tk.loop carry(%x) trips 0 {
  ^bb0(%i: tensor<i64>, %d: tensor<i1>, %a: tensor<2xf32>):
    tk.yield %d : tensor<i1>
  } : (tensor<2xf32>) -> ()
  return
}

// -----

func.func @loop_next_condition(%x: tensor<2xf32>) {
  // expected-error@+1 {{should yield one bool as the next condition, not 'tensor<i64>'}}
  %0 = tk.loop carry(%x) trips 0 {
  ^bb0(%i: tensor<i64>, %d: tensor<i1>, %a: tensor<2xf32>):
    tk.yield %i, %a : tensor<i64>, tensor<2xf32>
  } : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @loop_carried_type(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{has a body that yields carried values ('tensor<3xf32>'), but carries ('tensor<2xf32>')}}
  %0 = tk.loop carry(%x) trips 0 {
  ^bb0(%i: tensor<i64>, %d: tensor<i1>, %a: tensor<2xf32>):
    tk.yield %d, %y : tensor<i1>, tensor<3xf32>
  } : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @loop_scan_type(%x: tensor<2xf32>) {
  // expected-error@+1 {{has results ('tensor<4x2xf32>'), but its body gives ('tensor<5x2xf32>')}}
  %0 = tk.loop carry() trips 5 {
  ^bb0(%i: tensor<i64>, %d: tensor<i1>):
    tk.yield %d, %x : tensor<i1>, tensor<2xf32>
  } : () -> tensor<4x2xf32>
  return
}
