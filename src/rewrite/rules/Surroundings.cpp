//===- Surroundings.cpp - inputs around the constants of a match --------------------------------===//
#include "rewrite/rules/Surroundings.h"
#include "ir/Tk.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rules;

/// It has 64 bits of mantissa or more: all integers, which a double has not.
using Number = long double;
static_assert(std::numeric_limits<Number>::digits >= 64);

/// What few constants are combined from; a match seldom has more, and the numbers grow with their cube.
static constexpr size_t mostConstants = 8, mostCombined = 5;

static Number numberAt(const Tensor &tensor, int64_t i) {
  if (isFloat(tensor.type()))
    return tensor.doubleAt(i);
  return isUnsigned(tensor.type()) ? static_cast<Number>(static_cast<uint64_t>(tensor.intAt(i)))
                                   : static_cast<Number>(tensor.intAt(i));
}

static void addDistinct(std::vector<Number> &numbers, Number number) {
  if (std::isfinite(number) && !llvm::is_contained(numbers, number))
    numbers.push_back(number);
}

/// Of many elements the least, the greatest and some others.
static void addElements(std::vector<Number> &numbers, const Tensor &tensor) {
  if (tensor.size() == 0)
    return;
  Number least = numberAt(tensor, 0), greatest = least;
  for (int64_t i = 1; i < tensor.size(); ++i) {
    least = std::min(least, numberAt(tensor, i));
    greatest = std::max(greatest, numberAt(tensor, i));
  }
  addDistinct(numbers, least);
  addDistinct(numbers, greatest);
  for (int64_t part = 0; part < 3; ++part)
    addDistinct(numbers, numberAt(tensor, tensor.size() * part / 3));
}

/// Scalars first: they are what bounds are most often.
static std::vector<Number> constantsOf(llvm::ArrayRef<Operation *> operators) {
  std::vector<Number> scalars, others;
  auto add = [&](Value value) {
    if (std::optional<Tensor> tensor = tk::constantValue(value); tensor && tensor->type() != DataType::Bool)
      addElements(tensor->size() == 1 ? scalars : others, *tensor);
  };
  for (Operation *op : operators) {
    llvm::for_each(op->getOperands(), add);
    llvm::for_each(op->getResults(), add);
    for (NamedAttribute attribute : op->getAttrs())
      if (auto number = llvm::dyn_cast<FloatAttr>(attribute.getValue()))
        addDistinct(scalars, number.getValueAsDouble());
    // The ends of a narrow type, to which a conversion clips.
    if (auto cast = llvm::dyn_cast<tk::CastOp>(op))
      if (const DataType to = *fromMlir(cast.getTo()); isInteger(to) && byteSize(to) <= 2) {
        const Number count = std::ldexp(Number{1}, static_cast<int>(8 * byteSize(to)));
        addDistinct(scalars, isUnsigned(to) ? count - 1 : count / 2 - 1);
        addDistinct(scalars, isUnsigned(to) ? 0 : -count / 2);
      }
  }
  for (Number number : others)
    addDistinct(scalars, number);
  return scalars;
}

/// Where what is computed from x may meet a constant: x + b = c, x a = c, x / a = c, x a + b = c.
static std::vector<Number> combinationsOf(llvm::ArrayRef<Number> constants) {
  std::vector<Number> numbers;
  constants = constants.take_front(mostCombined);
  for (Number a : constants)
    for (Number b : constants) {
      addDistinct(numbers, a - b);
      addDistinct(numbers, a + b);
      addDistinct(numbers, a * b);
      for (Number c : constants)
        if (c != 0) {
          addDistinct(numbers, (a - b) / c);
          addDistinct(numbers, a / c - b);
        }
      if (b != 0)
        addDistinct(numbers, a / b);
    }
  return numbers;
}

/// Close to a number, on both sides: bounds that are wrong by a percent, and by a thousandth of one.
static constexpr double near = 0x1p-7, nearer = 0x1p-13;

Surroundings::Surroundings(llvm::ArrayRef<Operation *> operators, bool isExact, bool isNear)
    : isExact(isExact), constants(constantsOf(operators)) {
  constants.resize(std::min(constants.size(), mostConstants));
  auto addBoth = [&](Number number) {
    addDistinct(numbers, number);
    addDistinct(numbers, -number);
  };
  auto addBeside = [&](Number number) {
    if (isExact)
      addBoth(number);
    addBoth(number * (1 - near));
    addBoth(number * (1 + near));
  };
  for (Number constant : constants) {
    addBoth(constant);
    for (double by : {nearer, near}) {
      addBoth(constant * (1 - by));
      addBoth(constant * (1 + by));
    }
    for (double factor : {0.5, 2.0, 3.0, 10.0})
      addBeside(constant * factor);
  }
  for (Number number : combinationsOf(constants)) {
    addBeside(number);
    addBoth(number * 2.125L);
  }
  // Whatever is computed from x, and bounded, is most often met between two powers of two, or beyond them.
  for (int exponent = -7; exponent <= 20; ++exponent)
    addBoth(std::ldexp(Number{1.37}, exponent));
  for (int exponent = 24; exponent <= 104; exponent += 8)
    addBoth(std::ldexp(Number{1.37}, exponent));
  for (double large : {1e3, 1e6})
    addBoth(large);
  if (!isNear)
    return;
  limit = 1;
  for (Number constant : constants)
    limit = std::max(limit, std::fabs(constant));
  limit *= 16;
  llvm::erase_if(numbers, [&](Number number) { return std::fabs(number) > limit; });
}

/// `number` as `type` rounds it; nothing where it is beyond its range.
static std::optional<Number> inType(DataType type, Number number) {
  Tensor tensor(type, {});
  if (isFloat(type)) {
    tensor.setDouble(0, static_cast<double>(number));
    const Number result = tensor.doubleAt(0);
    return std::isfinite(result) ? std::optional(result) : std::nullopt;
  }
  number = std::round(number);
  const int bits = static_cast<int>(8 * byteSize(type));
  const Number end = std::ldexp(Number{1}, isUnsigned(type) ? bits : bits - 1);
  const Number first = isUnsigned(type) ? 0 : -end;
  return number >= first && number < end ? std::optional(number) : std::nullopt;
}

/// The floats beside `number`, which `type` has.
static std::array<Number, 2> neighbours(DataType type, Number number) {
  const int digits = type == DataType::Float64   ? 53
                     : type == DataType::Float32 ? 24
                     : type == DataType::Float16 ? 11
                                                 : 8;
  int exponent;
  (void)std::frexp(number, &exponent);
  const Number unit = std::ldexp(Number{1}, exponent - digits);
  return {number - unit, number + unit};
}

/// Of all bits of an integer.
static Number complement(DataType type, Number number) {
  return (isUnsigned(type) ? std::ldexp(Number{1}, static_cast<int>(8 * byteSize(type))) : 0) - 1 - number;
}

const std::vector<Number> &Surroundings::numbersOf(DataType type) {
  std::vector<Number> &result = rounded[type];
  if (!result.empty())
    return result;
  auto add = [&](Number number) {
    if (std::optional<Number> known = inType(type, number); known && std::fabs(*known) <= limit)
      addDistinct(result, *known);
  };
  llvm::for_each(numbers, add);
  if (isFloat(type)) {
    for (Number constant : constants)
      if (std::optional<Number> known = inType(type, constant); known && isExact && *known != 0)
        llvm::for_each(neighbours(type, *known), add);
    return result;
  }
  for (Number constant : constants)
    for (Number number : {constant, -constant, 2 * constant, 10 * constant, complement(type, constant)})
      for (int by : {-1, 0, 1})
        add(number + by);
  // Integers that a float does not have, and products that overflow.
  for (int exponent = 21; exponent < 63; ++exponent)
    for (int sign : {-1, 1})
      add(sign * (std::round(std::ldexp(Number{1.37}, exponent)) + 1));
  return result;
}

int64_t Surroundings::fillings(int64_t size, unsigned inputs) const {
  // With those that numbersOf adds.
  const auto count = static_cast<int64_t>(numbers.size() + 15 * constants.size() + 84);
  return inputs * (1 + count / std::max<int64_t>(size, 1));
}

/// SplitMix64's finish (Steele, Lea, Flood, OOPSLA 2014).
static uint64_t mixed(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

Tensor Surroundings::draw(const Tensor &usual, unsigned input, unsigned inputs, uint64_t filling) {
  Tensor tensor(usual.type(), usual.shape());
  const std::vector<Number> &choices = numbersOf(usual.type());
  const uint64_t count = choices.size();
  const bool isLeading = filling % inputs == input % inputs;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const uint64_t position =
        filling / inputs * static_cast<uint64_t>(tensor.size()) + static_cast<uint64_t>(i);
    const uint64_t random = mixed((position * inputs + filling % inputs) * 0x9e3779b97f4a7c15 + input);
    Number number = isLeading ? choices[position % count] : choices[(random >> 1) % count];
    if (!isLeading && random % 2 == 0)
      number = numberAt(usual, i);
    if (isFloat(tensor.type()))
      tensor.setDouble(i, static_cast<double>(number));
    else if (isUnsigned(tensor.type()))
      tensor.setInt(i, static_cast<int64_t>(static_cast<uint64_t>(number)));
    else
      tensor.setInt(i, static_cast<int64_t>(number));
  }
  return tensor;
}
