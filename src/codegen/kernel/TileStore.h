//===- TileStore.h - results of a register tile whose lanes lie apart in memory -----------------===//
// Lanes of a convolution's accumulators are channels; in a row-major image each channel is a plane of its
// own. Stored as they are computed, the elements of a vector go to as many planes. One line of each is then
// filled four bytes at a time, and where planes are whole pages apart, all of them in one set of the cache.
// So the vectors of a tile wait for each other and are stored transposed, columns of one plane at once.
#pragma once
#include "codegen/anchors/Anchor.h"
#include "codegen/kernel/KernelContext.h"

namespace tokamak::codegen {

class TileStore {
public:
  /// `results` are what is computed from the elements of `anchored`.
  TileStore(mlir::Value anchored, llvm::ArrayRef<mlir::Value> results, llvm::ArrayRef<Buffer> buffers,
            int64_t lanes)
      : anchored(anchored), results(results.begin(), results.end()), buffers(buffers.begin(), buffers.end()),
        lanes(lanes) {}

  /// Keeps `element` of results[number] until the tile is complete; false: its lanes lie together, or there
  /// is nothing to wait for.
  bool takes(ElementBuilder &e, const AccumulatorPoint &point, size_t number, mlir::Value element);
  /// Stores what was kept.
  void storeAll(mlir::OpBuilder &builder, mlir::Location loc);

private:
  struct Kept {
    AccumulatorPoint point; ///< its value is the result's element
    size_t number;
  };
  /// Stores `columns`, neighbours along the last axis.
  void store(ElementBuilder &e, llvm::ArrayRef<Kept> columns);
  llvm::SmallVector<Index> columnIndex(ElementBuilder &e, const Kept &first, int64_t lane);

  mlir::Value anchored;
  llvm::SmallVector<mlir::Value> results;
  std::vector<Buffer> buffers;
  int64_t lanes;
  std::vector<Kept> kept;
};

} // namespace tokamak::codegen
