//===- Determinant.cpp - determinants of square matrices -------------------------------===//
#include "runtime/Elements.h"
#include "runtime/Library.h"
#include "runtime/Loops.h"
#include <atomic>
#include <math.h>
#include <stdlib.h>

using namespace tokamak::runtime;

namespace {

/// By elimination with partial pivoting, in place.
double determinant(double *matrix, int64_t n) {
  double product = 1;
  for (int64_t column = 0; column < n; ++column) {
    int64_t pivot = column;
    for (int64_t row = column + 1; row < n; ++row)
      if (isNaN(matrix[row * n + column]) ||
          fabs(matrix[row * n + column]) > fabs(matrix[pivot * n + column]))
        pivot = row; // a NaN must not hide behind a zero pivot
    double *head = matrix + column * n, *chosen = matrix + pivot * n;
    if (chosen[column] == 0)
      return 0;
    if (pivot != column) {
      product = -product;
      for (int64_t i = column; i < n; ++i) {
        double held = head[i];
        head[i] = chosen[i];
        chosen[i] = held;
      }
    }
    product *= head[column];
    for (int64_t row = column + 1; row < n; ++row) {
      double factor = matrix[row * n + column] / head[column];
      for (int64_t i = column + 1; i < n; ++i)
        matrix[row * n + i] -= factor * head[i];
    }
  }
  return product;
}

} // namespace

int tk_lib_det(TkContext *context, const TkBuffer *inputs, const TkBuffer *outputs, const int64_t *,
               const double *) {
  const TkBuffer &input = inputs[0];
  if (input.rank < 2)
    return TK_UNSUPPORTED;
  int64_t n = input.dims[input.rank - 1], size = n * n;
  return visitFloat(input.dtype, [&](auto type) -> int {
    using T = decltype(type);
    std::atomic<int> status{TK_OK};
    parallelFor(context, extentProduct(input, 0, input.rank - 2), [&](int64_t begin, int64_t end) {
      auto *matrix = static_cast<double *>(malloc(static_cast<size_t>(size) * sizeof(double) + 1));
      if (!matrix) {
        status.store(TK_OUT_OF_MEMORY, std::memory_order_relaxed);
        return;
      }
      for (int64_t i = begin; i < end; ++i) {
        for (int64_t j = 0; j < size; ++j)
          matrix[j] = load(static_cast<const T *>(input.data)[i * size + j]);
        static_cast<T *>(outputs[0].data)[i] = store<T>(determinant(matrix, n));
      }
      free(matrix);
    });
    return status.load(std::memory_order_relaxed);
  });
}
