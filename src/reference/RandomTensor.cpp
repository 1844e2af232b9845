//===- RandomTensor.cpp - deterministic values for inputs that nobody gave --------------------===//
#include "reference/RandomTensor.h"
#include <cassert>
#include <cmath>
#include <numbers>

namespace tokamak::reference {
namespace {

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) as a hash of its counter: element i needs no predecessors.
uint64_t bitsAt(uint64_t seed, uint64_t i) {
  uint64_t z = seed * 0xd1342543de82ef95 + (i + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// In (0, 1].
double uniform(uint64_t bits) { return static_cast<double>((bits >> 11) + 1) * 0x1p-53; }

/// Box-Muller; each element uses two numbers of its own.
double normal(uint64_t seed, uint64_t i) {
  const double radius = std::sqrt(-2 * std::log(uniform(bitsAt(seed, 2 * i))));
  return radius * std::cos(2 * std::numbers::pi * uniform(bitsAt(seed, 2 * i + 1)));
}

} // namespace

Tensor randomIntegers(DataType type, llvm::ArrayRef<int64_t> shape, uint64_t seed, int64_t low,
                      int64_t high) {
  assert(low <= high);
  Tensor tensor(type, shape);
  const uint64_t count = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1; // 0: all 2^64
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const uint64_t bits = bitsAt(seed, static_cast<uint64_t>(i));
    tensor.setInt(i, static_cast<int64_t>(static_cast<uint64_t>(low) + (count == 0 ? bits : bits % count)));
  }
  return tensor;
}

Tensor randomTensor(DataType type, llvm::ArrayRef<int64_t> shape, uint64_t seed, RandomValues values) {
  if (type == DataType::Bool)
    return randomIntegers(type, shape, seed, 0, 1);
  if (isUnsigned(type))
    return randomIntegers(type, shape, seed, 0, 8);
  if (!isFloat(type) || values == RandomValues::SmallIntegers)
    return randomIntegers(type, shape, seed, -4, 4);
  Tensor tensor(type, shape);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.setDouble(i, normal(seed, static_cast<uint64_t>(i)));
  return tensor;
}

} // namespace tokamak::reference
