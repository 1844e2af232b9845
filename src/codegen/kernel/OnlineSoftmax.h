//===- OnlineSoftmax.h - the softmax of rows that come block by block -------------------------------===//
#pragma once
#include "codegen/anchors/LoopBuilder.h"

namespace tokamak::codegen {

/// What is kept of each row while its scores come block by block (Milakov & Gimelshein, "Online normalizer
/// calculation for softmax", 2018): the largest score m so far, the sum of exp(score - m), and by how much
/// what was summed up before the last block counts less since.
class OnlineRows {
public:
  static constexpr int64_t arrays = 4;
  /// `memory` holds so many arrays of `capacity` floats, a multiple of the lanes.
  OnlineRows(LoopBuilder &loops, mlir::Value memory, int64_t capacity)
      : loops(loops), memory(memory), capacity(capacity) {}

  void start();
  /// With the maxima and the sums that all blocks have led to: weights are then what they are by definition.
  void startAgain();
  /// A vector of scores from what the product has left there: of a row and a block of columns, counted in
  /// vectors, of which so many lanes exist (a static number).
  using ScoreFn =
      llvm::function_ref<mlir::Value(mlir::Value bare, mlir::Value row, mlir::Value block, int64_t valid)>;
  /// Makes weights out of the product of `count` rows by `columns`, in place; a row has room for whole
  /// vectors.
  void addBlock(mlir::Value memory, int64_t rowStride, mlir::Value count, int64_t columns, ScoreFn score);
  /// In all lanes, of row `first` + `offset`.
  mlir::Value rescale(mlir::Value first, int64_t offset) const;
  mlir::Value sum(mlir::Value row) const;

private:
  enum Array { Maximum, Sum, Rescale, Factor };
  mlir::Value at(Array array, mlir::Value row) const;
  void addRow(mlir::Value scores, mlir::Value row, int64_t columns, ScoreFn score);

  LoopBuilder &loops;
  mlir::Value memory;
  int64_t capacity;
};

/// 1 (type index) where a lane is NaN, else 0.
mlir::Value isAnyNaN(LoopBuilder &loops, mlir::Value vector);

} // namespace tokamak::codegen
