//===- WeightedAnchor.h - convolutions and matrix products with constant weights, seen alike ---===//
#pragma once
#include "ir/Tk.h"
#include "mlir/IR/PatternMatch.h"
#include <optional>

namespace tokamak::rewrite {

/// sum over k of input[.., k, ..] * weight[k, c]: `k` runs over the input's channels and, for a convolution,
/// over the taps; `c` over the result's channels.
struct WeightedAnchor {
  mlir::Operation *op;
  mlir::Value input, weight, bias; ///< bias: null where there is none
  int64_t inputAxis, resultAxis;   ///< the channels of the input and of the result
  int64_t weightInAxis, weightOutAxis;

  int64_t outChannels() const { return tk::tensorType(weight).getDimSize(weightOutAxis); }
};

/// `op` if it is one: of one group, with constant weights and bias, and elements to compute.
std::optional<WeightedAnchor> weightedAnchor(mlir::Operation *op);

/// Whether both have the same operator, attributes and element type, and weights whose extents differ in no
/// other axis than `freeAxis`.
bool haveSameGeometry(const WeightedAnchor &a, const WeightedAnchor &b, int64_t freeAxis);

/// The anchor's operator and attributes on other operands.
mlir::Value rebuildAnchor(mlir::OpBuilder &builder, mlir::Location loc, const WeightedAnchor &like,
                          mlir::Value input, mlir::Value weight, mlir::Value bias);

/// Whether `value` is computed of constants alone by operators that fold-constants evaluates.
bool isConstantExpression(mlir::Value value);
/// Moves the definition of a constant expression in front of `op` where it stands behind.
void moveConstantsBefore(mlir::Value value, mlir::Operation *op);

/// The values side by side along `axis`; the one itself where there is one.
mlir::Value concatenate(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange values, int64_t axis);
/// Elements [start, start + size) of `axis`, all of the other axes.
mlir::Value sliceAlong(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, int64_t axis,
                       int64_t start, int64_t size);
/// A constant of equal elements.
mlir::Value splat(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type, double value);

} // namespace tokamak::rewrite
