//===- TopK.cpp - the largest elements along an axis -----------------------------------===//
#include "runtime/Elements.h"
#include "runtime/Library.h"
#include "runtime/Loops.h"
#include <algorithm>
#include <atomic>
#include <stdlib.h>

using namespace tokamak::runtime;

namespace {

struct Entry {
  uint64_t key; // smaller comes first
  int64_t index;
  bool operator<(const Entry &other) const {
    return key != other.key ? key < other.key : index < other.index;
  }
};

/// An unsigned number in the order of the elements. NaN is the largest, zeros of both signs are equal.
template <typename T>
uint64_t orderedKey(T element) {
  auto value = load(element);
  if constexpr (std::is_floating_point_v<decltype(value)>) {
    if (isNaN(value))
      return ~uint64_t{0};
    auto bits = std::bit_cast<uint64_t>(static_cast<double>(value) + 0.0); // -0.0 + 0.0 is 0.0
    return bits >> 63 ? ~bits : bits | uint64_t{1} << 63;
  } else if constexpr (std::is_signed_v<decltype(value)>) {
    return static_cast<uint64_t>(static_cast<int64_t>(value)) ^ uint64_t { 1 } << 63;
  } else {
    return value;
  }
}

/// Moves the `k` first entries to the front, in order. Not a template: one copy of the sort for all types.
void selectFirst(Entry *entries, int64_t count, int64_t k) {
  if (k < count / 16) {
    std::partial_sort(entries, entries + k, entries + count);
    return;
  }
  if (k < count)
    std::nth_element(entries, entries + k, entries + count);
  std::sort(entries, entries + k);
}

} // namespace

int tk_lib_top_k(TkContext *context, const TkBuffer *inputs, const TkBuffer *outputs, const int64_t *ints,
                 const double *) {
  int64_t k = ints[0];
  int32_t axis = normalizeAxis(ints[1], inputs[0].rank);
  bool largest = ints[2] != 0;
  AxisView from(inputs[0], axis);
  if (k < 0 || k > from.extent)
    return TK_UNSUPPORTED;
  if (k == 0)
    return TK_OK;
  return visitNumber(inputs[0].dtype, [&](auto type) -> int {
    using T = decltype(type);
    std::atomic<int> status{TK_OK};
    parallelFor(context, from.outer * from.inner, [&](int64_t begin, int64_t end) {
      auto *entries = static_cast<Entry *>(malloc(static_cast<size_t>(from.extent) * sizeof(Entry)));
      if (!entries) {
        status.store(TK_OUT_OF_MEMORY, std::memory_order_relaxed);
        return;
      }
      for (int64_t row = begin; row < end; ++row) {
        const T *input = static_cast<const T *>(inputs[0].data) +
                         row / from.inner * from.extent * from.inner + row % from.inner;
        int64_t offset = row / from.inner * k * from.inner + row % from.inner;
        T *values = static_cast<T *>(outputs[0].data) + offset;
        int64_t *indices = static_cast<int64_t *>(outputs[1].data) + offset;
        for (int64_t i = 0; i < from.extent; ++i) {
          uint64_t key = orderedKey(input[i * from.inner]);
          entries[i] = {largest ? ~key : key, i};
        }
        selectFirst(entries, from.extent, k);
        for (int64_t i = 0; i < k; ++i) {
          values[i * from.inner] = input[entries[i].index * from.inner];
          indices[i * from.inner] = entries[i].index;
        }
      }
      free(entries);
    });
    return status.load(std::memory_order_relaxed);
  });
}
