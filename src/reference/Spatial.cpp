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
  const Strides kernelStrides = rowMajorStrides(kernel);
  SpatialRuns result{{}, strides.back()};

  // Only taps that meet the input at all are visited: a kernel may be far larger than what is not padding.
  Strides firstTaps(rank), tapCounts(rank), inSteps(rank);
  for (size_t axis = 0; axis < rank; ++axis) {
    const int64_t lastStart = (outExtents[axis] - 1) * strides[axis] - padsLow[axis];
    firstTaps[axis] = std::max<int64_t>(0, llvm::divideCeilSigned(-lastStart, dilations[axis]));
    const int64_t end = llvm::divideFloorSigned(inExtents[axis] - 1 + padsLow[axis], dilations[axis]) + 1;
    tapCounts[axis] = std::max<int64_t>(0, std::min(kernel[axis], end) - firstTaps[axis]);
    inSteps[axis] = inStrides[axis] * strides[axis];
  }

  Strides tap = firstTaps;
  for (int64_t remaining = product(tapCounts); remaining > 0; --remaining) {
    int64_t index = 0, out = 0, in = 0;
    Strides counts(rank); // output positions an axis
    for (size_t axis = 0; axis < rank; ++axis) {
      const int64_t shift = tap[axis] * dilations[axis] - padsLow[axis];
      const int64_t begin = std::max<int64_t>(0, llvm::divideCeilSigned(-shift, strides[axis]));
      const int64_t end =
          std::min(outExtents[axis], llvm::divideFloorSigned(inExtents[axis] - 1 - shift, strides[axis]) + 1);
      counts[axis] = std::max<int64_t>(0, end - begin);
      index += tap[axis] * kernelStrides[axis];
      out += begin * outStrides[axis];
      in += (begin * strides[axis] + shift) * inStrides[axis];
    }
    const int64_t length = counts.back();
    counts.back() = std::min<int64_t>(length, 1); // the last axis is the run itself: one step of the walk
    KernelTap entry{index, {}};
    walk<2>(counts, {out, in}, {outStrides, inSteps}, [&](const std::array<int64_t, 2> &at) {
      // Rows that follow each other on both sides become one run.
      Run *last = entry.runs.empty() ? nullptr : &entry.runs.back();
      if (last && result.step == 1 && last->out + last->count == at[0] && last->in + last->count == at[1])
        last->count += length;
      else
        entry.runs.push_back({at[0], at[1], length});
    });
    if (!entry.runs.empty())
      result.taps.push_back(std::move(entry));
    for (size_t axis = rank; axis-- > 0;) {
      if (++tap[axis] < firstTaps[axis] + tapCounts[axis])
        break;
      tap[axis] = firstTaps[axis];
    }
  }
  return result;
}

} // namespace tokamak::reference
