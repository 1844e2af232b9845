//===- Half.cpp - 16-bit floating point ----------------------------------------------===//
// Straight from double: by way of float the value would round twice.
#include "ir/Tensor.h"
#include <bit>

namespace tokamak {
namespace {

/// IEEE-like encoding in 16 bits with `ExponentBits` and `MantissaBits`; to nearest, ties to even.
template <int ExponentBits, int MantissaBits>
uint16_t narrow(double value) {
  constexpr int bias = (1 << (ExponentBits - 1)) - 1;
  constexpr int specialExponent = (1 << ExponentBits) - 1;
  constexpr uint16_t infinity = specialExponent << MantissaBits;
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 63) << 15);
  const int doubleExponent = static_cast<int>((bits >> 52) & 0x7ff);
  const uint64_t fraction = bits & ((uint64_t(1) << 52) - 1);
  if (doubleExponent == 0x7ff) {
    if (fraction == 0)
      return sign | infinity;
    const uint16_t quiet = 1 << (MantissaBits - 1);
    return sign | infinity | quiet | static_cast<uint16_t>(fraction >> (52 - MantissaBits));
  }
  if (doubleExponent == 0) // zero, or far below the smallest subnormal
    return sign;
  const uint64_t significand = fraction | (uint64_t(1) << 52);
  const int exponent = doubleExponent - 1023 + bias;
  if (exponent >= specialExponent)
    return sign | infinity;
  // Below the normal range the exponent field is 0 and the significand shifts instead.
  const bool isSubnormal = exponent <= 0;
  const int dropped = 52 - MantissaBits + (isSubnormal ? 1 - exponent : 0);
  if (dropped > 53)
    return sign;
  uint64_t kept = significand >> dropped;
  const uint64_t rest = significand & ((uint64_t(1) << dropped) - 1);
  const uint64_t half = uint64_t(1) << (dropped - 1);
  if (rest > half || (rest == half && (kept & 1)))
    ++kept;
  // A normal `kept` holds the implicit bit, which adds one to the exponent field; so does a carry, up to
  // infinity.
  const uint64_t field = isSubnormal ? 0 : static_cast<uint64_t>(exponent - 1) << MantissaBits;
  return sign | static_cast<uint16_t>(field + kept);
}

} // namespace

uint16_t floatToHalf(double value) { return narrow<5, 10>(value); }
uint16_t floatToBfloat(double value) { return narrow<8, 7>(value); }

float bfloatToFloat(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

float halfToFloat(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1f;
  const uint32_t mantissa = bits & 0x3ff;
  if (exponent == 0x1f) // infinity and NaN
    return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) { // zero and subnormals: units of 2^-24
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

} // namespace tokamak
