//===- ConstantOperands.h - operators with a constant beside a value -------------------------===//
#pragma once
#include "ir/Tk.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <cmath>
#include <optional>

namespace tokamak::rewrite {

/// `tensor` as a tk.constant.
mlir::Value makeConstant(mlir::OpBuilder &builder, mlir::Location loc, const Tensor &tensor);

/// op(x, c) or op(c, x), where only c is a constant and x has the type of the result, so that the constant
/// does not broadcast it.
struct ConstantOperand {
  mlir::Value x;
  Tensor constant; ///< a splat has rank 0
  bool isLeft;     ///< op(c, x)
};
std::optional<ConstantOperand> constantOperand(mlir::Operation *binary);

/// The operand of a binary operator that is a constant, a splat with rank 0.
std::optional<Tensor> compactConstant(mlir::Value value);

// Arithmetic on constants by the definitions of the operators: rounded or wrapped to the element type. Of two
// there is nothing where the result would be much larger than both.
Tensor negated(const Tensor &a);
std::optional<Tensor> sum(const Tensor &a, const Tensor &b);
std::optional<Tensor> product(const Tensor &a, const Tensor &b);
std::optional<Tensor> largerOf(const Tensor &a, const Tensor &b);
std::optional<Tensor> smallerOf(const Tensor &a, const Tensor &b);

/// Whether `holds` for every element.
bool allElements(const Tensor &tensor, llvm::function_ref<bool(double)> holds);

inline bool isNegativeZero(double value) { return value == 0 && std::signbit(value); }

/// float32 and float64, where a rounding more or less is within the bounds that passes state. The narrower
/// types round and overflow after every operator, which is part of their function.
bool isWideFloat(mlir::Value value);
bool isIntegerTensor(mlir::Value value);

} // namespace tokamak::rewrite
