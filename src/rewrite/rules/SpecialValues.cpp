//===- SpecialValues.cpp - inputs on which wrong rules differ -----------------------------------===//
#include "rewrite/rules/SpecialValues.h"
#include <array>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <limits>

using namespace tokamak;

/// Prime, for `choiceOf`.
static constexpr uint64_t count = 13;

static constexpr std::array<double, count> smallFloats = {0.0, 1.0,  -0.0, 2.0,   -1.0, 0.5, -2.5,
                                                          3.0, -0.5, 4.0,  -0.25, 1.5,  -3.0};
/// From -4 to 4, as those of randomTensor: an index of that is within most extents.
static constexpr std::array<int64_t, count> smallIntegers = {0, 1, 4, 2, -1, 3, -2, 2, -3, 1, -4, 3, -1};

static std::array<double, count> floatLimits(DataType type) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double largest = type == DataType::Float64   ? std::numeric_limits<double>::max()
                         : type == DataType::Float16 ? 65504.0
                                                     : 3.3e38;
  const double smallest = type == DataType::Float64 ? 2.3e-308 : type == DataType::Float16 ? 6.2e-5 : 1.2e-38;
  return {infinity, 1.0,  -0.0,     largest,  -infinity, -2.5,     std::nan(""),
          0.0,      -1.0, -largest, smallest, 3.0,       -smallest};
}

/// Of an unsigned type, the negative ones wrap to its upper end.
static std::array<int64_t, count> integerLimits(DataType type) {
  const auto bits = static_cast<unsigned>(8 * byteSize(type));
  const int64_t largest = std::numeric_limits<int64_t>::max() >> (64 - bits);
  const int64_t smallest = -largest - 1;
  const int64_t halfBits = int64_t{1} << (bits / 2);
  return {largest, 1,           smallest,         -1, 0,       largest / 2 + 1, 2, smallest + 1,
          3,       largest - 1, -largest / 2 - 2, -3, halfBits};
}

/// The digits of `counter` are a polynomial modulo `count`, evaluated at the number of the input
/// (Reed-Solomon): while the counter runs, any two inputs meet in all pairs of choices, and any three in all
/// triples.
static uint64_t choiceOf(unsigned input, uint64_t counter) {
  const uint64_t at = input % count;
  return (counter + at * (counter / count) + at * at * (counter / (count * count))) % count;
}

Tensor rules::specialTensor(SpecialValues values, DataType type, llvm::ArrayRef<int64_t> shape,
                            unsigned input, uint64_t filling) {
  assert(isFloat(type) || isInteger(type));
  Tensor tensor(type, shape);
  const bool areSmall = values == SpecialValues::Small;
  const std::array<double, count> floats = areSmall ? smallFloats : floatLimits(type);
  const std::array<int64_t, count> integers = areSmall ? smallIntegers : integerLimits(type);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    // Neighbours differ in two digits: few elements in few fillings meet pairs that one of them would repeat.
    const uint64_t choice = choiceOf(input, filling + static_cast<uint64_t>(i) * (count + 1));
    if (isFloat(type))
      tensor.setDouble(i, floats[choice]);
    else
      tensor.setInt(i, areSmall && isUnsigned(type) ? std::abs(integers[choice]) : integers[choice]);
  }
  return tensor;
}
