// Every refusal of the verifiers and of shape inference, with the message that a user of a model would read.
// RUN: tokamak-opt %s --split-input-file --verify-diagnostics

func.func @broadcast(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) {
  // expected-error@+2 {{shapes [2,3] and [2,4] do not broadcast}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.add %a, %b : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @result_type(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{inferred type(s) 'tensor<2x3xf32>' are incompatible with return type(s) of operation 'tensor<3x2xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.exp %a : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}
