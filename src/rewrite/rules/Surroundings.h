//===- Surroundings.h - inputs around the constants of a match ----------------------------------===//
#pragma once
#include "ir/Tensor.h"
#include "mlir/IR/Operation.h"
#include <limits>
#include <map>
#include <vector>

namespace tokamak::rules {

/// Operators with constants (min, comparison, remainder, ...) compute one thing on one side of a number and
/// another on the other: of x, or of what is computed from it, such as the 1 of min(x a + b, 1). Numbers of a
/// fixed range meet few such places, so inputs are drawn from around these constants and from far beyond.
class Surroundings {
public:
  /// Of the constants of these operators, their operands and their attributes. Of a rule that is exact, the
  /// numbers are also the very ones at which something computed meets a constant; rounding decides there on
  /// which side it falls, so a rule that allows for rounding gets those beside them.
  /// `isNear` leaves out those far beyond all constants: in a sum, or among numbers that have one scale,
  /// nothing else shows beside them.
  Surroundings(llvm::ArrayRef<mlir::Operation *> operators, bool isExact, bool isNear);

  /// In how many fillings each of `inputs` tensors of `size` elements holds each number.
  int64_t fillings(int64_t size, unsigned inputs) const;
  /// Floats or integers. In filling f the input f mod `inputs` goes through the numbers in order, the others
  /// take some of them and some of `usual`, which has the type and the shape of the result.
  Tensor draw(const Tensor &usual, unsigned input, unsigned inputs, uint64_t filling);

private:
  /// Those that `type` has, as it rounds them.
  const std::vector<long double> &numbersOf(DataType type);

  bool isExact;
  long double limit = std::numeric_limits<long double>::infinity(); ///< of magnitudes
  std::vector<long double> constants; ///< distinct and finite; exact, 64-bit integers too
  std::vector<long double> numbers;   ///< what matters most first; not those that depend on the type
  std::map<DataType, std::vector<long double>> rounded; ///< see numbersOf
};

} // namespace tokamak::rules
