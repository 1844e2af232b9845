// Refused constants and elementwise operators, with the message that the user of a model reads.
// RUN: tokamak-opt %s --split-input-file --verify-diagnostics

func.func @add(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) {
  // expected-error@+2 {{shapes [2,3] and [2,4] do not broadcast}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.add %a, %b : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @add(%a: tensor<2xf32>, %b: tensor<0xf32>) {
  // expected-error@+2 {{shapes [2] and [0] do not broadcast}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.add %a, %b : (tensor<2xf32>, tensor<0xf32>) -> tensor<0xf32>
  return
}

// -----

func.func @add(%a: tensor<2xf32>, %b: tensor<2xf64>) {
  // expected-error@+2 {{operands have different element types: float32[2] and float64[2]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.add %a, %b : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return
}

// -----

func.func @compare(%a: tensor<2xui8>, %b: tensor<2xi8>) {
  // expected-error@+2 {{operands have different element types: uint8[2] and int8[2]}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.compare %a, %b {predicate = #tk.predicate<eq>} : (tensor<2xui8>, tensor<2xi8>) -> tensor<2xi1>
  return
}

// -----

func.func @select(%c: tensor<2xi1>, %a: tensor<3xf32>, %b: tensor<f32>) {
  // expected-error@+2 {{shapes [2] and [3] and [] do not broadcast}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.select %c, %a, %b : (tensor<2xi1>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}

// -----

func.func @cast(%a: tensor<2xf32>) {
  // expected-error@+2 {{cannot convert to si32, which is no element type of tensors}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.cast %a {to = si32} : (tensor<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @exp(%a: tensor<2xi32>) {
  // expected-error@+1 {{operand #0 must be statically shaped tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<2xi32>'}}
  %0 = tk.exp %a : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @exp(%a: tensor<?xf32>) {
  // expected-error@+1 {{operand #0 must be statically shaped tensor}}
  %0 = tk.exp %a : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @not(%a: tensor<2xf32>) {
  // expected-error@+1 {{must be statically shaped tensor of 1-bit signless integer values}}
  %0 = tk.not %a : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @batch_norm(%a: tensor<f32>, %c: tensor<1xf32>) {
  // expected-error@+2 {{batch normalisation of a scalar}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.batch_norm %a, %c, %c, %c, %c {epsilon = 0.1 : f64} : (tensor<f32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<f32>
  return
}

// -----

func.func @batch_norm(%a: tensor<1x4x2xf32>, %c: tensor<4xf32>, %d: tensor<3xf32>) {
  // expected-error@+2 {{mean has shape [3], but the input [1,4,2] has 4 channels}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.batch_norm %a, %c, %c, %d, %c {epsilon = 0.1 : f64} : (tensor<1x4x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<3xf32>, tensor<4xf32>) -> tensor<1x4x2xf32>
  return
}

// -----

func.func @constant() {
  // expected-error@+1 {{needs its elements as dense<...> or dense_resource<...>}}
  %0 = tk.constant sparse<[[0]], [1.0]> : tensor<2xf32>
  return
}

// -----

func.func @constant() {
  // expected-error@+1 {{refers to resource 'missing', which has no data}}
  %0 = tk.constant dense_resource<missing> : tensor<2xf32>
  return
}

// -----

func.func @constant() {
  // expected-error@+1 {{result #0 must be statically shaped tensor}}
  %0 = tk.constant dense<1> : tensor<2xi4>
  return
}

// -----

func.func @result_type(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{inferred type(s) 'tensor<2x3xf32>' are incompatible with return type(s) of operation 'tensor<3x2xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = tk.exp %a : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @resource_size() {
  // expected-error@+1 {{refers to resource 'w' of 8 bytes, but its type takes 12}}
  %0 = tk.constant dense_resource<w> : tensor<3xf32>
  return
}
{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F00000040"
    }
  }
#-}
