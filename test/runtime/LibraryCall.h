//===- LibraryCall.h - calls of runtime library functions from tests -------------------===//
#pragma once
#include "runtime/Elements.h"
#include "runtime/Library.h"
#include "runtime/ThreadPool.h"
#include <initializer_list>
#include <numeric>
#include <vector>

namespace tokamak::runtime::test {

template <typename T>
constexpr int32_t dtypeOf() {
  if constexpr (std::is_same_v<T, float>)
    return 1;
  else if constexpr (std::is_same_v<T, uint8_t>)
    return 2;
  else if constexpr (std::is_same_v<T, int8_t>)
    return 3;
  else if constexpr (std::is_same_v<T, uint16_t>)
    return 4;
  else if constexpr (std::is_same_v<T, int16_t>)
    return 5;
  else if constexpr (std::is_same_v<T, int32_t>)
    return 6;
  else if constexpr (std::is_same_v<T, int64_t>)
    return 7;
  else if constexpr (std::is_same_v<T, Bool>)
    return 9;
  else if constexpr (std::is_same_v<T, Half>)
    return 10;
  else if constexpr (std::is_same_v<T, double>)
    return 11;
  else if constexpr (std::is_same_v<T, uint32_t>)
    return 12;
  else if constexpr (std::is_same_v<T, uint64_t>)
    return 13;
  else
    return 16;
}

/// A tensor that owns its memory.
template <typename T>
struct Array {
  std::vector<int64_t> dims;
  std::vector<T> values;

  explicit Array(std::vector<int64_t> shape) : dims(std::move(shape)), values(count()) {}
  Array(std::vector<int64_t> shape, std::vector<T> elements)
      : dims(std::move(shape)), values(std::move(elements)) {}

  size_t count() const {
    return static_cast<size_t>(
        std::accumulate(dims.begin(), dims.end(), int64_t{1}, [](int64_t a, int64_t b) { return a * b; }));
  }
  operator TkBuffer() const { // NOLINT: a buffer is what a tensor is called with
    return {const_cast<T *>(values.data()), dtypeOf<T>(), static_cast<int32_t>(dims.size()), dims.data()};
  }
};

/// Runs `function` on two threads; returns its error code.
inline int call(TkLibraryFn function, std::initializer_list<TkBuffer> inputs,
                std::initializer_list<TkBuffer> outputs, const std::vector<int64_t> &ints,
                const std::vector<double> &floats = {}) {
  TkPool *pool = tk_pool_create(2);
  TkContext context{pool, nullptr, 0};
  int code = function(&context, inputs.begin(), outputs.begin(), ints.data(), floats.data());
  tk_pool_destroy(pool);
  return code;
}

/// Elements of any type, converted.
template <typename T>
std::vector<T> elements(std::initializer_list<double> values) {
  std::vector<T> result;
  for (double value : values)
    result.push_back(store<T>(value));
  return result;
}

template <typename T>
std::vector<double> doubles(const Array<T> &array) {
  std::vector<double> result;
  for (T value : array.values)
    result.push_back(static_cast<double>(load(value)));
  return result;
}

} // namespace tokamak::runtime::test
