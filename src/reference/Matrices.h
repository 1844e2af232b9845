//===- Matrices.h - the matrices of a product -----------------------------------------------===//
#pragma once
#include "reference/Elements.h"

namespace tokamak::reference {

/// The elements of `tensor`, its last two axes swapped if `transposed`.
template <typename T>
std::vector<T> loadMatrices(const Tensor &tensor, bool transposed) {
  std::vector<T> values = load<T>(tensor);
  if (!transposed)
    return values;
  const int64_t rows = tensor.shape().end()[-2];
  const int64_t columns = tensor.shape().end()[-1];
  const int64_t area = rows * columns;
  std::vector<T> swapped(values.size());
  for (int64_t base = 0; base < tensor.size(); base += area)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        swapped[base + j * rows + i] = values[base + i * columns + j];
  return swapped;
}

} // namespace tokamak::reference
