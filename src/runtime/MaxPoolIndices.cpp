//===- MaxPoolIndices.cpp - max pooling that tells where the maximum was ---------------===//
#include "runtime/Elements.h"
#include "runtime/Library.h"
#include "runtime/Loops.h"

using namespace tokamak::runtime;

namespace {

/// The parameters of the call, an array a parameter with one entry a spatial axis.
struct Window {
  int32_t rank;
  const int64_t *kernel, *strides, *dilations, *padsLow;
  bool columnMajor;
  explicit Window(const int64_t *ints)
      : rank(static_cast<int32_t>(ints[0])), kernel(ints + 1), strides(kernel + rank),
        dilations(strides + rank), padsLow(dilations + rank), columnMajor(padsLow[2 * rank] != 0) {}
};

/// Offset of spatial position `at` with the last axis fastest, or the first.
int64_t spatialOffset(int32_t rank, const int64_t *dims, const int64_t *at, bool columnMajor) {
  int64_t offset = 0;
  for (int32_t i = 0; i < rank; ++i) {
    int32_t axis = columnMajor ? rank - 1 - i : i;
    offset = offset * dims[axis] + at[axis];
  }
  return offset;
}

/// One plane (a batch entry's channel): `base` is its offset in the whole input.
template <typename T>
void poolPlane(const Window &window, const T *plane, const int64_t *inDims, const int64_t *outDims,
               int64_t base, T *values, int64_t *indices) {
  int64_t outputs = 1, taps = 1;
  for (int32_t i = 0; i < window.rank; ++i) {
    outputs *= outDims[i];
    taps *= window.kernel[i];
  }
  Counter out(window.rank, outDims);
  for (int64_t o = 0; o < outputs; ++o, out.advance()) {
    Compute<T> best = lowest<T>();
    int64_t found = -1;
    Counter tap(window.rank, window.kernel);
    for (int64_t t = 0; t < taps; ++t, tap.advance()) {
      int64_t at[Counter::maxRank];
      bool inside = true;
      for (int32_t i = 0; i < window.rank; ++i) {
        at[i] = out.at[i] * window.strides[i] - window.padsLow[i] + tap.at[i] * window.dilations[i];
        inside &= at[i] >= 0 && at[i] < inDims[i];
      }
      if (!inside)
        continue;
      Compute<T> value = load(plane[spatialOffset(window.rank, inDims, at, false)]);
      if (found >= 0 && !(value > best) && !(isNaN(value) && !isNaN(best)))
        continue;
      best = value;
      found = base + spatialOffset(window.rank, inDims, at, window.columnMajor);
    }
    values[o] = store<T>(best);
    indices[o] = found;
  }
}

} // namespace

int tk_lib_max_pool_indices(TkContext *context, const TkBuffer *inputs, const TkBuffer *outputs,
                            const int64_t *ints, const double *) {
  Window window(ints);
  const TkBuffer &input = inputs[0], &output = outputs[0];
  if (input.rank != window.rank + 2 || input.rank > Counter::maxRank)
    return TK_UNSUPPORTED;
  int64_t planes = extentProduct(input, 0, 2);
  int64_t inSize = extentProduct(input, 2, input.rank), outSize = extentProduct(output, 2, output.rank);
  return visitNumber(input.dtype, [&](auto type) {
    using T = decltype(type);
    parallelFor(context, planes, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        poolPlane(window, static_cast<const T *>(input.data) + i * inSize, input.dims + 2, output.dims + 2,
                  i * inSize, static_cast<T *>(outputs[0].data) + i * outSize,
                  static_cast<int64_t *>(outputs[1].data) + i * outSize);
    });
    return TK_OK;
  });
}
