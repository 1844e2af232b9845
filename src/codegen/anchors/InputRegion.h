//===- InputRegion.h - inputs of anchors that are computed where they are needed --------------------===//
// An input that is the result of other work (a scaled, activated, transposed, concatenated tensor) need not
// exist as a whole: each task has the part that it reads computed into its scratch.
#pragma once
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"
#include <functional>

namespace tokamak::codegen {

/// The indices [begin, end) along one axis (type index). They lie in [0, extent).
struct RegionAxis {
  mlir::Value begin, end;
  int64_t extent = 1;
};

/// A part of a convolution's input, channel-blocked: element (image, block * lanes + lane, spatial...).
struct ConvolutionRegion {
  mlir::Value image;
  int64_t images = 1;
  RegionAxis blocks;
  llvm::SmallVector<RegionAxis, 3> spatial; ///< those of the operator
  mlir::Value memory;                       ///< !llvm.ptr to where the element of all begins goes
  /// Elements from one block, or one index of a spatial axis, to the next.
  int64_t blockStride = 0;
  llvm::SmallVector<int64_t, 3> spatialStrides;
};
using ConvolutionInputFn = std::function<void(mlir::OpBuilder &, mlir::Location, const ConvolutionRegion &)>;

/// A part of a matrix product's operand: of the matrix at the batch indices, rows by columns.
struct MatrixRegion {
  llvm::SmallVector<RegionAxis> batch; ///< begin only; empty: rows count through all matrices
  RegionAxis rows;
  /// Columns [first, first + count), of which the first `valid` exist; `first` ranges over the multiples of
  /// `step` up to `lastFirst`.
  mlir::Value firstColumn;
  int64_t columns = 0, valid = 0, step = 1, lastFirst = 0;
  mlir::Value memory;    ///< !llvm.ptr to where the first element goes
  int64_t rowStride = 0; ///< in elements; a row has room for whole vectors
  bool isWhole = false;  ///< the rows are all there are, of one matrix
  /// Of a left operand: the product's tiles [firstTile, lastTile) that the rows are.
  mlir::Value firstTile, lastTile;
};
using MatrixInputFn = std::function<void(mlir::OpBuilder &, mlir::Location, const MatrixRegion &)>;

} // namespace tokamak::codegen
