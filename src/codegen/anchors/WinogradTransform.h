//===- WinogradTransform.h - the transforms of minimal filtering along one axis
//---------------------------===//
// F(m, 3): m outputs of a filter of three taps from m + 2 inputs with m + 2 multiplications. Winograd,
// Arithmetic Complexity of Computations (1980); Lavin and Gray, Fast Algorithms for Convolutional Neural
// Networks (CVPR 2016).
#pragma once
#include "codegen/anchors/LoopBuilder.h"
#include <vector>

namespace tokamak::codegen {

/// The transforms for interpolation at 0, some pairs +-a, and infinity. Two-dimensional filters apply them to
/// columns, then to rows.
class WinogradTransform {
public:
  /// F(2, 3) at 0, +-1: its factors are powers of two, and its error is below that of the plain sum. F(4, 3)
  /// at 0,
  /// +-5/8, +-3/2: about twice the plain sum's error (measured; Lavin's +-1, +-2 have three to five times).
  static WinogradTransform ofOutputs(int64_t outputs);

  int64_t outputs() const { return 2 * static_cast<int64_t>(pairs.size()); }
  int64_t inputs() const { return outputs() + 2; }

  /// [inputs, 3]: a filter's transform.
  std::vector<std::array<double, 3>> filterMatrix() const;
  /// [inputs, inputs] and [outputs, inputs]: what transformInput and transformOutput multiply by.
  std::vector<std::vector<double>> inputMatrix() const;
  std::vector<std::vector<double>> outputMatrix() const;
  /// `inputs` vectors of data into as many factors.
  LoopBuilder::Values transformInput(LoopBuilder &loops, mlir::ValueRange data) const;
  /// `inputs` vectors of products into `outputs` results.
  LoopBuilder::Values transformOutput(LoopBuilder &loops, mlir::ValueRange products) const;

private:
  explicit WinogradTransform(std::vector<double> pairs) : pairs(std::move(pairs)) {}
  /// Coefficients, the lowest power first, of the product of (x^2 - a^2) over the pairs but `without`.
  std::vector<double> productOfPairs(size_t without) const;

  std::vector<double> pairs;
};

} // namespace tokamak::codegen
