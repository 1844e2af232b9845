//===- SpecialValues.cpp - the numbers at which operators go wrong
//----------------------------------------===//
#include "SpecialValues.h"
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace tokamak::test {

namespace {

std::vector<double> specialReals() {
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> positive = {0, 1, 0.5, 1.5, 2, 2.5, 3, infinity, std::nan(""), 0.25, 0.1, 1e-3, 7, 100};
  // Where casts to integers change.
  for (int bits : {7, 8, 15, 16, 31, 32, 53, 63, 64}) {
    double power = std::ldexp(1.0, bits);
    for (double x :
         {power, power - 1, power - 0.5, power + 0.5, power * (1 + 0x1p-20), power * (1 - 0x1p-20)})
      positive.push_back(x);
  }
  // Ends of float types: smallest normal, smallest, largest, first to overflow.
  for (double x :
       {0x1p-14, 0x1p-24, 0x1p-25, 65504.0, 65519.99, 65520.0, 0x1p-126, 0x1p-149, 0x1p-150, 0x1.fffffep127,
        0x1.ffffffp127, 0x1.fep127, 0x1.ffp127, 0x1p-1022, 0x1p-1074, 0x1.fffffffffffffp1023})
    positive.push_back(x);
  // Ties of half, bfloat16 and float mantissas, and their neighbours.
  for (int bits : {8, 11, 24})
    for (double base : {1.0, 1.0 + std::ldexp(1.0, 1 - bits)})
      for (double nudge : {0.0, 0x1p-40, -0x1p-40, 0x1p-50})
        positive.push_back(base + std::ldexp(1.0, -bits) + nudge);
  std::vector<double> all;
  for (double x : positive)
    all.push_back(x), all.push_back(-x);
  return all;
}

std::vector<int64_t> specialIntegers(DataType type) {
  int bits = static_cast<int>(byteSize(type)) * 8;
  std::vector<int64_t> all = {0, 1, 2, 3, 5, 7, 10, 100};
  if (!isUnsigned(type))
    all.insert(all.end(), {-1, -2, -3, -5, -7, -10, -100});
  uint64_t ones = ~uint64_t(0) >> (64 - bits);
  for (uint64_t x : {ones, ones - 1, ones >> 1, (ones >> 1) + 1, (ones >> 1) + 2, ones >> 2})
    all.push_back(static_cast<int64_t>(x));
  all.insert(all.end(), {bits - 1, bits, bits + 1});
  // Ties of float mantissas, and their neighbours: 24, 8, 11 bits.
  for (int64_t x :
       {0x1000001, 0x1000003, 0x1010000, 0x1010001, 0x100ffff, 0x1030000, 0x101fffe, 0x10080000, 0x10080001})
    if (bits >= 32)
      all.push_back(x), all.push_back(x << 3);
  if (bits == 64)
    for (int64_t x :
         {0x101000000000001, 0x100ffffffffffff, 0x101000000000000, 0x100000080000001, 0x1000000800000000})
      all.push_back(x), all.push_back(-x);
  return all;
}

} // namespace

Tensor specialValues(DataType type, int64_t count) {
  Tensor tensor(type, {count});
  std::mt19937_64 random(3);
  size_t bytes = byteSize(type);
  for (int64_t i = 0; i < count; ++i) {
    if (type == DataType::Bool) {
      tensor.setInt(i, static_cast<int64_t>(random() & 1));
      continue;
    }
    uint64_t pattern = random();
    std::memcpy(tensor.mutableBytes() + static_cast<size_t>(i) * bytes, &pattern, bytes);
  }
  if (isFloat(type)) {
    std::vector<double> reals = specialReals();
    for (int64_t i = 0; i < std::min(count, static_cast<int64_t>(reals.size())); ++i)
      tensor.setDouble(i, reals[static_cast<size_t>(i)]);
  } else if (type != DataType::Bool) {
    std::vector<int64_t> integers = specialIntegers(type);
    for (int64_t i = 0; i < std::min(count, static_cast<int64_t>(integers.size())); ++i)
      tensor.setInt(i, integers[static_cast<size_t>(i)]);
  }
  return tensor;
}

std::pair<Tensor, Tensor> specialPairs(DataType type, int64_t count) {
  Tensor values = specialValues(type, count), a(type, {count * count}), b(type, {count * count});
  size_t bytes = byteSize(type);
  for (int64_t i = 0; i < count * count; ++i) {
    std::memcpy(a.mutableBytes() + static_cast<size_t>(i) * bytes,
                values.bytes() + static_cast<size_t>(i / count) * bytes, bytes);
    std::memcpy(b.mutableBytes() + static_cast<size_t>(i) * bytes,
                values.bytes() + static_cast<size_t>(i % count) * bytes, bytes);
  }
  return {a, b};
}

} // namespace tokamak::test
