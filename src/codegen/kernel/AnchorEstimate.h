//===- AnchorEstimate.h - what kernel an anchor gets ---------------------------------------------===//
#pragma once
#include "analysis/TargetDescription.h"
#include "codegen/anchors/WinogradConvolution.h"
#include "mlir/IR/Operation.h"
#include <optional>

namespace tokamak::codegen {

/// Kernels whose speed is measured apart (see KernelEfficiency).
enum class AnchorFamily {
  DenseConvolution,     ///< several taps, sums over channels
  PointwiseConvolution, ///< one tap
  GroupedConvolution,   ///< groups within one vector
  MatMul,
  Window,
  Loops, ///< no register tile: the element expression in plain loops
};

struct AnchorEstimate {
  AnchorFamily family = AnchorFamily::Loops;
  /// The share of the multiply-adds issued that count: full lanes, full tiles, enough of them in flight.
  double filled = 1;
  /// How many times less time the sums take by minimal filtering, where the operator is marked for it.
  /// Kernels that compute bands of rows, or their input, do not go that way.
  double filteringGain = 1;
  std::optional<FilteringTraffic> filtering; ///< what its tasks move, if so
  int64_t accumulators = 1;                  ///< registers that the epilogue finds live
  int64_t tasks = 1;                         ///< for threads to share
  // The first operand is read once for each tile of the vector axis, the second once for each tile of
  // positions.
  int64_t vectorTiles = 1, positionTiles = 1;
};

/// `op` is of kind anchor, a composite is not. `constantWeight`: its second operand is known when compiling.
AnchorEstimate estimateAnchor(mlir::Operation *op, bool constantWeight, const TargetDescription &target);

} // namespace tokamak::codegen
