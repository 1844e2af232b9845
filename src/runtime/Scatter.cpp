//===- Scatter.cpp - updates written at indices ----------------------------------------===//
// Sequential: updates of one element apply in order, so that results do not depend on the number of threads.
#include "runtime/Elements.h"
#include "runtime/Library.h"
#include "runtime/Loops.h"
#include <stdlib.h>

using namespace tokamak::runtime;

namespace {

enum class Reduction : int64_t { None, Add, Mul, Max, Min };

/// `a` combined with the update `b`; integers wrap.
template <typename C>
C combine(Reduction reduction, C a, C b) {
  switch (reduction) {
  case Reduction::None:
    return b;
  case Reduction::Add:
    if constexpr (std::is_integral_v<C>)
      return static_cast<C>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else
      return a + b;
  case Reduction::Mul:
    if constexpr (std::is_integral_v<C>)
      return static_cast<C>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else
      return a * b;
  case Reduction::Max:
    return isNaN(a) || a > b ? a : b; // a NaN in b compares false and is returned
  case Reduction::Min:
    return isNaN(a) || a < b ? a : b;
  }
  return b;
}

/// The result while updates apply to it. Half types accumulate in float and round once, at the end.
template <typename T>
class Target {
public:
  Target(const TkBuffer &input, const TkBuffer &output, Reduction reduction)
      : result(static_cast<T *>(output.data)), count(elementCount(input)) {
    if constexpr (HalfType<T>) {
      if (reduction == Reduction::Add || reduction == Reduction::Mul) {
        wide = static_cast<float *>(malloc(static_cast<size_t>(count) * sizeof(float) + 1));
        failed = !wide;
        for (int64_t i = 0; wide && i < count; ++i)
          wide[i] = load(static_cast<const T *>(input.data)[i]);
        return;
      }
    }
    if (count)
      memcpy(result, input.data, static_cast<size_t>(count) * sizeof(T));
  }
  Target(const Target &) = delete;
  Target &operator=(const Target &) = delete;
  ~Target() {
    if (!wide)
      return;
    for (int64_t i = 0; i < count; ++i)
      result[i] = store<T>(wide[i]);
    free(wide);
  }

  bool outOfMemory() const { return failed; }

  void update(Reduction reduction, int64_t at, T value) {
    if (reduction == Reduction::None)
      result[at] = value;
    else if (wide)
      wide[at] = combine<float>(reduction, wide[at], static_cast<float>(load(value)));
    else
      result[at] = store<T>(combine<Compute<T>>(reduction, load(result[at]), load(value)));
  }

private:
  T *result;
  int64_t count;
  float *wide = nullptr;
  bool failed = false;
};

/// Counts a negative index from the end; false where it is out of range.
bool wrapIndex(int64_t &index, int64_t extent) {
  if (index < 0)
    index += extent;
  return index >= 0 && index < extent;
}

template <typename T, typename I>
int scatterElements(const TkBuffer *inputs, const TkBuffer &output, int32_t axis, Reduction reduction) {
  const TkBuffer &data = inputs[0], &indices = inputs[1];
  const I *index = static_cast<const I *>(indices.data);
  const T *updates = static_cast<const T *>(inputs[2].data);
  int64_t strides[Counter::maxRank];
  for (int32_t i = 0; i < data.rank; ++i) {
    strides[i] = extentProduct(data, i + 1, data.rank);
    if (i != axis && indices.dims[i] > data.dims[i])
      return TK_INDEX_OUT_OF_RANGE;
  }
  Target<T> target(data, output, reduction);
  if (target.outOfMemory())
    return TK_OUT_OF_MEMORY;
  Counter position(indices.rank, indices.dims);
  for (int64_t i = 0, count = elementCount(indices); i < count; ++i, position.advance()) {
    int64_t place = index[i];
    if (!wrapIndex(place, data.dims[axis]))
      return TK_INDEX_OUT_OF_RANGE;
    int64_t at = 0;
    for (int32_t d = 0; d < data.rank; ++d)
      at += (d == axis ? place : position.at[d]) * strides[d];
    target.update(reduction, at, updates[i]);
  }
  return TK_OK;
}

template <typename T, typename I>
int scatterND(const TkBuffer *inputs, const TkBuffer &output, Reduction reduction) {
  const TkBuffer &data = inputs[0], &indices = inputs[1];
  auto depth = static_cast<int32_t>(indices.dims[indices.rank - 1]);
  if (depth > data.rank)
    return TK_UNSUPPORTED;
  const I *index = static_cast<const I *>(indices.data);
  const T *updates = static_cast<const T *>(inputs[2].data);
  int64_t slice = extentProduct(data, depth, data.rank), count = extentProduct(indices, 0, indices.rank - 1);
  Target<T> target(data, output, reduction);
  if (target.outOfMemory())
    return TK_OUT_OF_MEMORY;
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0;
    for (int32_t d = 0; d < depth; ++d) {
      int64_t place = index[i * depth + d];
      if (!wrapIndex(place, data.dims[d]))
        return TK_INDEX_OUT_OF_RANGE;
      at = at * data.dims[d] + place;
    }
    for (int64_t j = 0; j < slice; ++j)
      target.update(reduction, at * slice + j, updates[i * slice + j]);
  }
  return TK_OK;
}

} // namespace

int tk_lib_scatter_elements(TkContext *, const TkBuffer *inputs, const TkBuffer *outputs, const int64_t *ints,
                            const double *) {
  if (inputs[0].rank < 1 || inputs[0].rank > Counter::maxRank || inputs[1].rank != inputs[0].rank)
    return TK_UNSUPPORTED;
  return visitElement(inputs[0].dtype, [&](auto type) {
    return visitIndex(inputs[1].dtype, [&](auto index) {
      return scatterElements<decltype(type), decltype(index)>(
          inputs, outputs[0], normalizeAxis(ints[0], inputs[0].rank), static_cast<Reduction>(ints[1]));
    });
  });
}

int tk_lib_scatter_nd(TkContext *, const TkBuffer *inputs, const TkBuffer *outputs, const int64_t *ints,
                      const double *) {
  if (inputs[1].rank < 1)
    return TK_UNSUPPORTED;
  return visitElement(inputs[0].dtype, [&](auto type) {
    return visitIndex(inputs[1].dtype, [&](auto index) {
      return scatterND<decltype(type), decltype(index)>(inputs, outputs[0], static_cast<Reduction>(ints[0]));
    });
  });
}
