//===- Numbers.h - arithmetic of the three domains --------------------------------------===//
// Integers wrap (no signed overflow); maximum and minimum give NaN where either operand is NaN.
#pragma once
#include "ir/Tk.h"
#include <cmath>
#include <limits>
#include <type_traits>

namespace tokamak::reference {

template <typename T>
T add(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a + b;
  else
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

template <typename T>
T subtract(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a - b;
  else
    return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

template <typename T>
T multiply(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a * b;
  else
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

/// Of zeros of both signs +0 is the larger.
template <typename T>
T maximum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b))
      return std::numeric_limits<T>::quiet_NaN();
    if (a == b)
      return std::signbit(a) ? b : a;
  }
  return a > b ? a : b;
}

template <typename T>
T minimum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b))
      return std::numeric_limits<T>::quiet_NaN();
    if (a == b)
      return std::signbit(a) ? a : b;
  }
  return a < b ? a : b;
}

/// The value that `kind` gives over no elements of `type`.
template <typename T>
T identity(tk::ReduceKind kind, DataType type) {
  switch (kind) {
  case tk::ReduceKind::Sum:
    return T{0};
  case tk::ReduceKind::Product:
    return T{1};
  case tk::ReduceKind::Max:
  case tk::ReduceKind::Min:
    break;
  }
  const bool lowest = kind == tk::ReduceKind::Max;
  if constexpr (std::is_floating_point_v<T>) {
    return lowest ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
  } else {
    const auto bits = static_cast<unsigned>(8 * byteSize(type));
    if constexpr (std::is_signed_v<T>)
      return lowest ? std::numeric_limits<T>::min() >> (64 - bits)
                    : std::numeric_limits<T>::max() >> (64 - bits);
    else
      return lowest ? T{0} : std::numeric_limits<T>::max() >> (64 - bits);
  }
}

template <typename T>
T combine(tk::ReduceKind kind, T a, T b) {
  switch (kind) {
  case tk::ReduceKind::Sum:
    return add(a, b);
  case tk::ReduceKind::Product:
    return multiply(a, b);
  case tk::ReduceKind::Max:
    return maximum(a, b);
  case tk::ReduceKind::Min:
    return minimum(a, b);
  }
}

/// A total order for arg-max and top-k: NaN is above every number, and equal to NaN.
template <typename T>
bool orderedLess(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return !std::isnan(a) && (std::isnan(b) || a < b);
  else
    return a < b;
}

} // namespace tokamak::reference
