//===- CumSum.cpp - running sums along an axis -----------------------------------------===//
#include "runtime/Elements.h"
#include "runtime/Library.h"
#include "runtime/Loops.h"

using namespace tokamak::runtime;

namespace {

/// The running sum of one row, `stride` elements apart.
template <typename T>
void sumRow(const T *input, T *output, int64_t extent, int64_t stride, bool exclusive, bool reverse) {
  Accumulator<T> sum = 0;
  for (int64_t i = 0; i < extent; ++i) {
    int64_t at = (reverse ? extent - 1 - i : i) * stride;
    Accumulator<T> before = sum;
    sum += static_cast<Accumulator<T>>(load(input[at]));
    output[at] = store<T>(exclusive ? before : sum);
  }
}

} // namespace

int tk_lib_cumsum(TkContext *context, const TkBuffer *inputs, const TkBuffer *outputs, const int64_t *ints,
                  const double *) {
  AxisView axis(inputs[0], normalizeAxis(ints[0], inputs[0].rank));
  if (axis.extent == 0)
    return TK_OK;
  bool exclusive = ints[1] != 0, reverse = ints[2] != 0;
  return visitNumber(inputs[0].dtype, [&](auto type) {
    using T = decltype(type);
    parallelFor(context, axis.outer * axis.inner, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        int64_t offset = row / axis.inner * axis.extent * axis.inner + row % axis.inner;
        sumRow(static_cast<const T *>(inputs[0].data) + offset, static_cast<T *>(outputs[0].data) + offset,
               axis.extent, axis.inner, exclusive, reverse);
      }
    });
    return TK_OK;
  });
}
