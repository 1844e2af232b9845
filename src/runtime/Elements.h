//===- Elements.h - element types inside the runtime ----------------------------------===//
// Software conversions: the library is built for any x86-64, and must not need the compiler's helper library.
#pragma once
#include "runtime/Library.h"
#include <bit>
#include <limits>
#include <string.h>
#include <type_traits>

namespace tokamak::runtime {

/// Element types as stored, where C++ has none.
struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};
struct Bool {
  uint8_t byte; // 0 or 1
};

/// double to float, rounded to odd, so that rounding the result to a half type equals rounding once.
inline float roundToOdd(double value) {
  float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || value != value)
    return nearest;
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (bits & 1)
    return nearest;
  // The neighbours of an even float are odd; the one on the side of `value` encloses it.
  bool larger = (nearest < 0 ? -static_cast<double>(nearest) : static_cast<double>(nearest)) <
                (value < 0 ? -value : value);
  return std::bit_cast<float>(larger ? bits + 1 : bits - 1);
}

inline float toFloat(Half half) {
  uint32_t sign = static_cast<uint32_t>(half.bits & 0x8000u) << 16;
  uint32_t exponent = (half.bits >> 10) & 31u, mantissa = half.bits & 0x3ffu;
  if (exponent == 31)
    return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
  if (exponent)
    return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return sign ? -magnitude : magnitude;
}

inline float toFloat(BFloat16 value) { return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16); }

/// Round to nearest even.
inline Half toHalf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000u);
  uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return {static_cast<uint16_t>(sign | 0x7e00u | (magnitude >> 13 & 0x3ffu))};
  if (magnitude >= 0x47800000u) // 65536
    return {static_cast<uint16_t>(sign | 0x7c00u)};
  if (magnitude < 0x38800000u) { // below 2^-14: adding 0.5 leaves units of 2^-24 in the mantissa's low bits
    float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return {static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u))};
  }
  uint32_t rounded =
      magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u); // rebias by 112; may carry to infinity
  return {static_cast<uint16_t>(sign | rounded >> 13)};
}

inline BFloat16 toBFloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return {static_cast<uint16_t>(bits >> 16 | 0x40u)};
  return {static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
}

template <typename T>
concept HalfType = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

/// The type in which elements of storage type T compare and combine.
template <typename T>
using Compute =
    std::conditional_t<HalfType<T>, float, std::conditional_t<std::is_same_v<T, Bool>, uint8_t, T>>;

template <typename T>
Compute<T> load(T element) {
  if constexpr (HalfType<T>)
    return toFloat(element);
  else if constexpr (std::is_same_v<T, Bool>)
    return element.byte;
  else
    return element;
}

/// Rounds a double or float (halves once, to nearest even), wraps an integer, tests a bool for non-zero.
template <typename T, typename Value>
T store(Value value) {
  if constexpr (HalfType<T>) {
    float rounded = std::is_same_v<Value, double> ? roundToOdd(value) : static_cast<float>(value);
    if constexpr (std::is_same_v<T, Half>)
      return toHalf(rounded);
    else
      return toBFloat(rounded);
  } else if constexpr (std::is_same_v<T, Bool>) {
    return {static_cast<uint8_t>(value != 0)};
  } else {
    return static_cast<T>(value);
  }
}

/// In what sums are formed: double for float, so that long sums keep their digits; unsigned integers, which
/// wrap.
template <typename T>
using Accumulator = std::conditional_t<std::is_same_v<T, float> || std::is_same_v<T, double>, double,
                                       std::conditional_t<HalfType<T>, float, uint64_t>>;

/// The lowest value of the storage type, -inf where there is one.
template <typename T>
Compute<T> lowest() {
  if constexpr (std::is_floating_point_v<Compute<T>>)
    return -std::numeric_limits<Compute<T>>::infinity();
  else
    return std::numeric_limits<Compute<T>>::lowest();
}

inline bool isNaN(auto value) { return value != value; }

/// Calls `body(T{})` with the storage type T of an ONNX TensorProto.DataType; TK_UNSUPPORTED for others.
template <typename Body>
int visitFloat(int32_t dtype, Body body) {
  switch (dtype) {
  case 1:
    return body(float{});
  case 10:
    return body(Half{});
  case 11:
    return body(double{});
  case 16:
    return body(BFloat16{});
  default:
    return TK_UNSUPPORTED;
  }
}

template <typename Body>
int visitNumber(int32_t dtype, Body body) {
  switch (dtype) {
  case 2:
    return body(uint8_t{});
  case 3:
    return body(int8_t{});
  case 4:
    return body(uint16_t{});
  case 5:
    return body(int16_t{});
  case 6:
    return body(int32_t{});
  case 7:
    return body(int64_t{});
  case 12:
    return body(uint32_t{});
  case 13:
    return body(uint64_t{});
  default:
    return visitFloat(dtype, body);
  }
}

template <typename Body>
int visitElement(int32_t dtype, Body body) {
  return dtype == 9 ? body(Bool{}) : visitNumber(dtype, body);
}

/// The types of indices: int32 and int64.
template <typename Body>
int visitIndex(int32_t dtype, Body body) {
  switch (dtype) {
  case 6:
    return body(int32_t{});
  case 7:
    return body(int64_t{});
  default:
    return TK_UNSUPPORTED;
  }
}

} // namespace tokamak::runtime
