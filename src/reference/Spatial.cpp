//===- Spatial.cpp - which input positions a sliding kernel meets --------------------------===//
#include "reference/Spatial.h"
#include "reference/Elements.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace tokamak::reference {

SpatialRuns spatialRuns(llvm::ArrayRef<int64_t> inExtents, llvm::ArrayRef<int64_t> outExtents,
                        llvm::ArrayRef<int64_t> kernel, llvm::ArrayRef<int64_t> strides,
                        llvm::ArrayRef<int64_t> dilations, llvm::ArrayRef<int64_t> padsLow) {
  const size_t rank = kernel.size();
  const Strides inStrides = rowMajorStrides(inExtents);
  const Strides outStrides = rowMajorStrides(outExtents);
  SpatialRuns runs;
  runs.step = rank == 0 ? 1 : strides.back();

  Strides outer(rank), outerInStrides(rank); // the last axis is the run itself, one step of the walk
  for (size_t axis = 0; axis < rank; ++axis)
    outerInStrides[axis] = inStrides[axis] * strides[axis];

  const int64_t tapCount = product(kernel);
  Strides tap(rank, 0);
  for (int64_t t = 0; t < tapCount; ++t) {
    int64_t out = 0, in = 0, length = 1;
    for (size_t axis = 0; axis < rank; ++axis) {
      const int64_t shift = tap[axis] * dilations[axis] - padsLow[axis];
      const int64_t begin = std::max<int64_t>(0, llvm::divideCeilSigned(-shift, strides[axis]));
      const int64_t end =
          std::min(outExtents[axis], llvm::divideFloorSigned(inExtents[axis] - 1 - shift, strides[axis]) + 1);
      outer[axis] = std::max<int64_t>(0, end - begin);
      out += begin * outStrides[axis];
      in += (begin * strides[axis] + shift) * inStrides[axis];
    }
    if (rank != 0) {
      length = outer.back();
      outer.back() = length == 0 ? 0 : 1;
    }
    std::vector<Run> &list = runs.taps.emplace_back();
    walk<2>(outer, {out, in}, {outStrides, outerInStrides}, [&](const std::array<int64_t, 2> &at) {
      // Rows that follow each other on both sides become one run.
      if (!list.empty() && runs.step == 1 && list.back().out + list.back().count == at[0] &&
          list.back().in + list.back().count == at[1])
        list.back().count += length;
      else
        list.push_back({at[0], at[1], length});
    });
    for (size_t axis = rank; axis-- > 0;) {
      if (++tap[axis] < kernel[axis])
        break;
      tap[axis] = 0;
    }
  }
  return runs;
}

} // namespace tokamak::reference
