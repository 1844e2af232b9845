//===- Elements.h - tensor elements as numbers, and walks over them ---------------------===//
// Definitions compute in one of three domains: double for floats, int64_t for signed integers, uint64_t for
// unsigned integers and bool. Storing rounds or wraps to the element type.
#pragma once
#include "ir/Tensor.h"
#include <array>
#include <cstring>

namespace tokamak::reference {

using Strides = llvm::SmallVector<int64_t, 6>;

/// Calls `compute` with a zero of the domain of `type`.
template <typename Compute>
auto inDomain(DataType type, Compute compute) {
  if (isFloat(type))
    return compute(double{});
  if (isInteger(type) && !isUnsigned(type))
    return compute(int64_t{});
  return compute(uint64_t{});
}

/// All elements in row-major order, converted exactly.
template <typename T>
std::vector<T> load(const Tensor &tensor) {
  std::vector<T> values(static_cast<size_t>(tensor.size()));
  if constexpr (std::is_same_v<T, double>) {
    // Most of what is evaluated is float32: one branch here instead of a call an element.
    if (tensor.type() == DataType::Float32) {
      for (size_t i = 0; i < values.size(); ++i) {
        float value;
        std::memcpy(&value, tensor.bytes() + i * sizeof(float), sizeof(float));
        values[i] = value;
      }
      return values;
    }
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if constexpr (std::is_same_v<T, double>)
      values[i] = tensor.doubleAt(static_cast<int64_t>(i));
    else
      values[i] = static_cast<T>(tensor.intAt(static_cast<int64_t>(i)));
  }
  return values;
}

/// A tensor of `values`, each rounded to nearest even or wrapped to the element type.
template <typename T>
Tensor store(DataType type, llvm::ArrayRef<int64_t> shape, const std::vector<T> &values) {
  Tensor tensor(type, shape);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if constexpr (std::is_same_v<T, double>)
      tensor.setDouble(i, values[static_cast<size_t>(i)]);
    else
      tensor.setInt(i, static_cast<int64_t>(values[static_cast<size_t>(i)]));
  }
  return tensor;
}

int64_t product(llvm::ArrayRef<int64_t> extents);
Strides rowMajorStrides(llvm::ArrayRef<int64_t> shape);
/// Strides with which an index into `resultShape` reads a tensor of `shape` that NumPy-broadcasts to it.
Strides broadcastStrides(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> resultShape);

/// A shape seen as [outer, extent, inner] around one of its axes.
struct AxisView {
  int64_t outer, extent, inner;
};
AxisView aroundAxis(llvm::ArrayRef<int64_t> shape, int64_t axis);

/// Visits every index of `extents` in row-major order. Stream k starts at `offsets[k]` and moves by
/// `strides[k]` along each axis; `visit` gets the streams' offsets at the index.
template <size_t N, typename Visit>
void walk(llvm::ArrayRef<int64_t> extents, std::array<int64_t, N> offsets,
          const std::array<Strides, N> &strides, Visit visit) {
  if (product(extents) == 0)
    return;
  const auto rank = static_cast<int64_t>(extents.size());
  if (rank == 0)
    return visit(offsets);
  Strides index(extents.size(), 0);
  while (true) {
    auto at = offsets;
    for (int64_t i = 0; i < extents.back(); ++i) {
      visit(at);
      for (size_t k = 0; k < N; ++k)
        at[k] += strides[k].back();
    }
    int64_t axis = rank - 2;
    for (; axis >= 0; --axis) {
      for (size_t k = 0; k < N; ++k)
        offsets[k] += strides[k][axis];
      if (++index[axis] < extents[axis])
        break;
      for (size_t k = 0; k < N; ++k)
        offsets[k] -= strides[k][axis] * extents[axis];
      index[axis] = 0;
    }
    if (axis < 0)
      return;
  }
}

/// Copies one element per index of `extents`, bits unchanged; both tensors have one element type.
struct StridedView {
  int64_t offset;
  Strides strides;
};
void copyElements(llvm::ArrayRef<int64_t> extents, Tensor &to, const StridedView &toView, const Tensor &from,
                  const StridedView &fromView);

} // namespace tokamak::reference
