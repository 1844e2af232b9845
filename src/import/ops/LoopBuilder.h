//===- LoopBuilder.h - building tk.loop ---------------------------------------------------===//
#pragma once
#include "import/NodeContext.h"
#include <memory>

namespace tokamak::import {

/// A builder in a new block of a region that is not part of the graph yet.
mlir::OpBuilder openBlock(mlir::MLIRContext *context, mlir::Region &region);

/// The body of a tk.loop under construction, detached until `closeLoop`: whatever fails before that leaves
/// nothing behind.
struct LoopBody {
  /// Arguments for carried values of the types of `carried`. `body` builds inside.
  LoopBody(Body &outer, ValueRange carried);

  std::unique_ptr<mlir::Region> region;
  mlir::OpBuilder builder;
  Body body;
  Value iteration; ///< int64, rank 0
  Value condition; ///< bool, rank 0
  Values carried;
};

/// What one iteration gives.
struct Iteration {
  Value condition; ///< one bool; null: true
  Values carried, scans;
};

/// Creates the loop in `outer` and returns the carried values, then the scan outputs. `limit` and `condition`
/// may be null; `trips` must be the number of iterations where there are scan outputs. Throws an ImportFault
/// where a carried value changes its type.
Values closeLoop(Body &outer, LoopBody &&loop, Value limit, Value condition, ValueRange initial,
                 const Iteration &next, int64_t trips);

/// What an iteration adds to a scan output.
struct SliceType {
  DataType type;
  llvm::SmallVector<int64_t> shape;
};
using SliceTypes = std::vector<SliceType>;
SliceTypes typesOf(ValueRange slices);

/// Empty results for scan outputs of no iterations.
Values emptyScans(Body &outer, const SliceTypes &slices);

} // namespace tokamak::import
