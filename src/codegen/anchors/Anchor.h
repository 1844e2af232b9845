//===- Anchor.h - what anchor emitters share -------------------------------------------===//
// An anchor emitter writes the loops around a register-tiled microkernel and hands each finished accumulator
// vector to an epilogue while it is still in a register. Convolution: Convolution.h. Matrix product:
// MatMul.h.
#pragma once
#include "analysis/TargetDescription.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include <functional>

namespace tokamak::codegen {

/// An index `base + offset`. The points of one register tile share their bases, so that an epilogue computes
/// the address of the first point and reaches the others by constant displacements. Never negative, and
/// `base` alone is an index in range as well.
struct PointIndex {
  mlir::Value base; ///< type index
  int64_t offset = 0;
};

/// One finished vector of `lanes` float32 results (type vector<lanes x f32>).
struct AccumulatorPoint {
  mlir::Value value;
  /// Indices of the axes in front of the vector axis and behind it, in the order of the result's axes; the
  /// vector axis itself is `block * lanes + lane`.
  llvm::SmallVector<PointIndex> before;
  PointIndex block;
  llvm::SmallVector<PointIndex> after;
  /// How many lanes hold results: `lanes`, or fewer in the last block of the vector axis (a static number).
  int64_t validLanes;
  /// Whether the next point lies in other code. Those of one register tile are handed over one after the
  /// other, so what an epilogue gathers from them stays in registers.
  bool endsTile = true;
};
using EpilogueFn = std::function<void(mlir::OpBuilder &, mlir::Location, const AccumulatorPoint &)>;

} // namespace tokamak::codegen
