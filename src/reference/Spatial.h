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

/// One element of the kernel (`index` in row-major order) and where it meets the input.
struct KernelTap {
  int64_t index;
  std::vector<Run> runs;
};

/// All pairs of output and input position that lie inside their planes, by kernel tap in row-major order;
/// taps that meet padding alone are left out. Computed once for all channels, it keeps the loops over them
/// free of index arithmetic and bounds.
struct SpatialRuns {
  std::vector<KernelTap> taps;
  int64_t step;
};

/// Output position o of an axis meets input position o * stride - padLow + tap * dilation. Any number of
/// axes, also none.
SpatialRuns spatialRuns(llvm::ArrayRef<int64_t> inExtents, llvm::ArrayRef<int64_t> outExtents,
                        llvm::ArrayRef<int64_t> kernel, llvm::ArrayRef<int64_t> strides,
                        llvm::ArrayRef<int64_t> dilations, llvm::ArrayRef<int64_t> padsLow);

} // namespace tokamak::reference
