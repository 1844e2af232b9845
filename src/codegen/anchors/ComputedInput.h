//===- ComputedInput.h - a convolution's input, computed into scratch task by task ------------------===//
#pragma once
#include "codegen/anchors/ConvolutionTasks.h"
#include "codegen/anchors/InputRegion.h"

namespace tokamak::codegen {

/// The channel-blocked part of the input that one task reads, in the task's scratch:
/// [block][row][column][lane]. Rows and columns are those that the task's outputs reach; padding is left out,
/// as everywhere.
class ComputedInput {
public:
  /// `blocks` of channels at a time. Of one or two spatial axes.
  ComputedInput(const ConvolutionShape &shape, const ConvolutionTasks &tasks, int64_t blocks, int64_t lanes);

  int64_t bytes() const { return blocks * blockStride() * static_cast<int64_t>(sizeof(float)); }
  int64_t rowsAtOnce() const { return rows; }
  int64_t rowStride() const { return columns * lanes; }
  int64_t blockStride() const { return rows * rowStride(); }
  /// How often each element is computed while all tasks of one channel tile run, on average.
  double repeats() const { return computed; }

  /// Has blocks [firstBlock, firstBlock + `blocks`) computed for the task. Returns a pointer from which row r
  /// and column c of the whole input, as far as they are there, lie r * rowStride() + c * lanes elements
  /// ahead.
  mlir::Value emit(LoopBuilder &loops, const PlanePhase &phase, const TaskRange &task, mlir::Value firstBlock,
                   mlir::Value scratch, const ConvolutionInputFn &compute) const;

  /// The same for the rows of results in `results` (see ConvolutionShape::bandRows), all columns.
  mlir::Value emitBand(LoopBuilder &loops, const ConvolutionRegion &results, mlir::Value firstBlock,
                       mlir::Value scratch, const ConvolutionInputFn &compute) const;

private:
  void measureBands();
  mlir::Value emitRegion(LoopBuilder &loops, mlir::Value image, const RegionAxis &rowAxis,
                         const RegionAxis &columnAxis, mlir::Value firstBlock, mlir::Value scratch,
                         const ConvolutionInputFn &compute) const;

  ConvolutionShape shape;
  int64_t blocks, lanes;
  int64_t rows = 0, columns = 0; ///< that any task reads at most
  double computed = 1;
};

} // namespace tokamak::codegen
