//===- Combine.h - the arithmetic of reductions ---------------------------------------------===//
#pragma once
#include "codegen/expression/ElementBuilder.h"

namespace tokamak::codegen {

/// The neutral element of `kind`, in all lanes.
mlir::Value identity(ElementBuilder &e, tk::ReduceKind kind, DataType type);
/// a and b combined; max and min propagate NaN.
mlir::Value combine(ElementBuilder &e, tk::ReduceKind kind, DataType type, mlir::Value a, mlir::Value b);
/// All lanes of `value` combined into one scalar.
mlir::Value combineLanes(ElementBuilder &e, tk::ReduceKind kind, DataType type, mlir::Value value);
/// a * b + c, fused for floats.
mlir::Value multiplyAdd(ElementBuilder &e, DataType type, mlir::Value a, mlir::Value b, mlir::Value c);

} // namespace tokamak::codegen
