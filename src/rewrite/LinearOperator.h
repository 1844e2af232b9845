//===- LinearOperator.h - convolutions and matrix products by constant weights ----------------===//
#pragma once
#include "ir/Tk.h"
#include <optional>
#include <vector>

namespace tokamak::rewrite {

/// A value for each channel, in double precision.
using PerChannel = std::vector<double>;

/// The channel that weights [row, column, taps...] belong to: ofRow[row] + ofColumn[column].
struct ChannelMap {
  std::vector<int64_t> ofRow, ofColumn;
};

/// result[.., m, ..] = bias[m] + sum over channels k (and taps) of weight * input[.., k, ..].
struct LinearOperator {
  mlir::Operation *op;
  unsigned inputOperand, weightOperand;
  int64_t inputAxis, resultAxis; ///< of the channels
  bool takesBias;                ///< the operator has an operand for one, given or not
  bool seesAllTaps;              ///< each element of the result sums over all weights of its channel

  mlir::Value input() const { return op->getOperand(inputOperand); }
  mlir::Value weight() const { return op->getOperand(weightOperand); }
  /// Null where there is none.
  mlir::Value bias() const { return op->getNumOperands() > 2 ? op->getOperand(2) : nullptr; }
  int64_t inputChannels() const { return tk::tensorType(input()).getDimSize(inputAxis); }
  int64_t resultChannels() const { return tk::tensorType(op->getResult(0)).getDimSize(resultAxis); }

  /// Which channel of the input weights are multiplied with, and which of the result they add to.
  ChannelMap inputMap() const;
  ChannelMap resultMap() const;

  /// The weights with each channel of the result, or of the input, scaled. Nothing where one would not be
  /// finite. None becomes zero that was none: an infinite input would give NaN.
  std::optional<Tensor> weightForScaledResult(const PerChannel &scale) const;
  std::optional<Tensor> weightForScaledInput(const PerChannel &scale) const;
  /// What adding `shift` to the input adds to the result, a channel, where it sees all taps.
  PerChannel resultOfShiftedInput(const PerChannel &shift) const;
  /// The bias times `scale` plus `shift`, as an operand [M]. Nothing where one is not finite, or the bias is
  /// no constant.
  std::optional<Tensor> scaledAndShiftedBias(const PerChannel &scale, const PerChannel &shift) const;

  /// The operator on other weights, and another bias (null: none), which `loc` names.
  mlir::Operation *rebuild(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input,
                           mlir::Value weight, mlir::Value bias) const;
};

/// `op` as a linear operator with constant weights, of float32 or float64, which are not empty.
std::optional<LinearOperator> linearOperator(mlir::Operation *op);

/// The values of a constant that is the same along every axis of `shape` but `axis`; it aligns with `shape`
/// as broadcasting does. Nothing where it varies elsewhere.
std::optional<PerChannel> perChannel(const Tensor &constant, llvm::ArrayRef<int64_t> shape, int64_t axis);

} // namespace tokamak::rewrite
