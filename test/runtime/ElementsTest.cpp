//===- ElementsTest.cpp - half conversions against their definition --------------------===//
#include "runtime/Elements.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace tokamak::runtime;

namespace {

/// The value of a binary16 pattern by its definition.
double halfValue(uint16_t bits) {
  int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double magnitude = exponent == 31 ? (mantissa ? NAN : INFINITY)
                     : exponent     ? std::ldexp(1024 + mantissa, exponent - 25)
                                    : std::ldexp(mantissa, -24);
  return bits & 0x8000 ? -magnitude : magnitude;
}

TEST(Elements, EveryHalfConvertsExactlyAndBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    Half half{static_cast<uint16_t>(bits)};
    double expected = halfValue(half.bits);
    float value = load(half);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value));
      ASSERT_TRUE(std::isnan(load(store<Half>(value))));
      continue;
    }
    ASSERT_EQ(value, expected);
    ASSERT_EQ(std::signbit(value), std::signbit(expected));
    ASSERT_EQ(store<Half>(value).bits, half.bits);
    ASSERT_EQ(store<Half>(static_cast<double>(value)).bits, half.bits);
  }
}

TEST(Elements, HalfRoundsToNearestEven) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    auto low = static_cast<uint16_t>(bits), high = static_cast<uint16_t>(bits + 1);
    double middle = (halfValue(low) + halfValue(high)) / 2;
    uint16_t even = low & 1 ? high : low;
    ASSERT_EQ(store<Half>(static_cast<float>(middle)).bits, even) << bits;
    ASSERT_EQ(store<Half>(middle).bits, even) << bits;
    // The neighbours of the middle in double differ from it by less than float can express.
    ASSERT_EQ(store<Half>(std::nextafter(middle, 0.0)).bits, low) << bits;
    ASSERT_EQ(store<Half>(std::nextafter(middle, 1e9)).bits, high) << bits;
    ASSERT_EQ(store<Half>(-std::nextafter(middle, 1e9)).bits, high | 0x8000) << bits;
  }
  EXPECT_EQ(store<Half>(65519.99f).bits, 0x7bff);
  EXPECT_EQ(store<Half>(65520.0f).bits, 0x7c00);
  EXPECT_EQ(store<Half>(1e30f).bits, 0x7c00);
  EXPECT_EQ(store<Half>(1e300).bits, 0x7c00);
  EXPECT_EQ(store<Half>(-1e300).bits, 0xfc00);
  EXPECT_EQ(store<Half>(1e-30f).bits, 0);
  EXPECT_EQ(store<Half>(1e-300).bits, 0);
}

TEST(Elements, BFloatRoundsToNearestEven) {
  for (uint32_t bits = 0; bits < 0x7f7f; ++bits) {
    BFloat16 low{static_cast<uint16_t>(bits)}, high{static_cast<uint16_t>(bits + 1)};
    ASSERT_EQ(store<BFloat16>(load(low)).bits, low.bits);
    double middle = (static_cast<double>(load(low)) + static_cast<double>(load(high))) / 2;
    ASSERT_EQ(store<BFloat16>(middle).bits, bits & 1 ? high.bits : low.bits) << bits;
    ASSERT_EQ(store<BFloat16>(std::nextafter(middle, 0.0)).bits, low.bits) << bits;
    ASSERT_EQ(store<BFloat16>(std::nextafter(middle, INFINITY)).bits, high.bits) << bits;
  }
  EXPECT_EQ(store<BFloat16>(INFINITY).bits, 0x7f80);
  EXPECT_EQ(store<BFloat16>(3.4e38f).bits, 0x7f80);
  EXPECT_TRUE(std::isnan(load(store<BFloat16>(std::bit_cast<float>(0x7f800001u)))));
}

} // namespace
