//===- Spatial.h - which input positions a sliding kernel meets ----------------------------===//
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace tokamak::reference {

/// `count` neighbouring output positions of one plane, from `out` on, and the input positions they read: the
/// first at `in`, the following each `SpatialRuns::step` further.
struct Run {
  int64_t out, in, count;
};

/// The runs of every kernel tap, in row-major order of taps: all pairs of output and input position that lie
/// inside their planes. Computed once for all channels, it keeps the loops over them free of index arithmetic
/// and bounds.
struct SpatialRuns {
  std::vector<std::vector<Run>> taps;
  int64_t step;
};

/// Output position o of an axis meets input position o * stride - padLow + tap * dilation. Any number of
/// axes, also none.
SpatialRuns spatialRuns(llvm::ArrayRef<int64_t> inExtents, llvm::ArrayRef<int64_t> outExtents,
                        llvm::ArrayRef<int64_t> kernel, llvm::ArrayRef<int64_t> strides,
                        llvm::ArrayRef<int64_t> dilations, llvm::ArrayRef<int64_t> padsLow);

} // namespace tokamak::reference
