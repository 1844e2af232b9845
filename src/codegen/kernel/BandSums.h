//===- BandSums.h - reductions over space that ride on a convolution's kernel ----------------------===//
// A reduction over rows and columns of what a convolution computes need not read it again: each task adds up
// its own part, in scratch, and stores one sum a channel. In the graph that is a tk.window of whole bands of
// rows, [N, C, H, W] -> [N, C, bands, 1], so each sum has its place whatever thread runs the task, and a
// reduction over the bands completes it. Where there is one band, that is the reduction itself, and what
// follows it element by element is computed on the sums.
#pragma once
#include "codegen/anchors/InputRegion.h"
#include "codegen/anchors/LoopBuilder.h"
#include "codegen/kernel/AnchorOperands.h"
#include "codegen/kernel/BandEstimate.h"
#include "codegen/kernel/KernelContext.h"

namespace tokamak::codegen {

/// The results of a group that are computed from sums over bands, and those that are not.
class BandSums {
public:
  /// Takes the windows out of `heavy`, the heavy operators of the group. Windows that others read otherwise
  /// than element by element stay there.
  static BandSums find(KernelBody &body, llvm::SmallVector<mlir::Operation *> &heavy);

  bool empty() const { return windows.empty(); }
  int64_t count() const { return static_cast<int64_t>(windows.size()); }
  /// What the convolution in front has to hand over: the other results, and what is summed.
  llvm::SmallVector<mlir::Value> wanted() const;
  /// Whether all sum values of the type of `result`, over bands of equally many rows.
  bool fit(mlir::Value result) const;
  int64_t bandRows() const;

private:
  friend class BandAccumulators;
  struct Result {
    mlir::Value value;
    size_t number; ///< among the results of the group
    std::optional<size_t> window;
  };
  llvm::SmallVector<tk::WindowOp> windows;
  llvm::SmallVector<Result> results;
};

/// The sums of one task while its kernel is emitted.
class BandAccumulators {
public:
  /// `memory` has room for `blocks` vectors a sum.
  BandAccumulators(KernelContext &k, const BandSums &sums, const ConvolutionRegion &region,
                   mlir::Value memory, int64_t blocks)
      : k(k), sums(sums), region(region), memory(memory), blocks(blocks) {}

  void clear();
  /// What stores the other results of a finished vector and adds up the rest.
  EpilogueFn epilogue(mlir::Operation *anchor, const AnchorOperands &operands);
  /// Stores the results of the task's band.
  void store(mlir::Value band, int64_t bands);

private:
  /// A sum over the points of the register tile so far.
  struct Running {
    size_t window;
    PointIndex block;
    mlir::Value sum;
  };
  void add(ElementBuilder &e, const PointPlace &place, const AccumulatorPoint &point);
  void flush(ElementBuilder &e);
  mlir::Value pointerTo(LoopBuilder &loops, size_t window, const PointIndex &block) const;
  void storeBlock(LoopBuilder &loops, mlir::Value block, int64_t validLanes, mlir::Value band, int64_t bands);

  KernelContext &k;
  const BandSums &sums;
  ConvolutionRegion region;
  mlir::Value memory;
  int64_t blocks;
  llvm::SmallVector<Running> running;
};

} // namespace tokamak::codegen
