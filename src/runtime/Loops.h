//===- Loops.h - extents and parallel loops inside the runtime ------------------------===//
#pragma once
#include "runtime/Abi.h"

namespace tokamak::runtime {

/// The number of elements in axes [begin, end).
inline int64_t extentProduct(const TkBuffer &buffer, int32_t begin, int32_t end) {
  int64_t product = 1;
  for (int32_t i = begin; i < end; ++i)
    product *= buffer.dims[i];
  return product;
}

inline int64_t elementCount(const TkBuffer &buffer) { return extentProduct(buffer, 0, buffer.rank); }

inline int32_t normalizeAxis(int64_t axis, int32_t rank) {
  return static_cast<int32_t>(axis < 0 ? axis + rank : axis);
}

/// An axis as one of three: `outer` blocks of `extent` rows of `inner` elements.
struct AxisView {
  int64_t outer, extent, inner;
  AxisView(const TkBuffer &buffer, int32_t axis)
      : outer(extentProduct(buffer, 0, axis)), extent(axis < buffer.rank ? buffer.dims[axis] : 1),
        inner(axis < buffer.rank ? extentProduct(buffer, axis + 1, buffer.rank) : 1) {}
};

/// Counts through a box in row-major order.
struct Counter {
  static constexpr int32_t maxRank = 32;
  int32_t rank;
  const int64_t *dims;
  int64_t at[maxRank] = {};

  Counter(int32_t rank, const int64_t *dims) : rank(rank), dims(dims) {}
  void advance() {
    for (int32_t i = rank - 1; i >= 0; --i) {
      if (++at[i] < dims[i])
        return;
      at[i] = 0;
    }
  }
};

/// Runs `body(begin, end)` over blocks of [0, tasks) on the threads of `context`.
template <typename Body>
void parallelFor(TkContext *context, int64_t tasks, const Body &body) {
  void *const buffers[] = {const_cast<Body *>(&body)};
  tk_parallel_for(
      context,
      [](void *const *operands, int64_t begin, int64_t end, void *) {
        (*static_cast<const Body *>(operands[0]))(begin, end);
      },
      buffers, tasks);
}

} // namespace tokamak::runtime
