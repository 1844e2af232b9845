//===- WinogradTransform.cpp - the transforms of minimal filtering along one axis
//-------------------------===//
#include "codegen/anchors/WinogradTransform.h"
#include <array>
#include <cmath>

using namespace mlir;

namespace tokamak::codegen {

WinogradTransform WinogradTransform::ofOutputs(int64_t outputs) {
  return WinogradTransform(outputs == 2 ? std::vector<double>{1} : std::vector<double>{0.625, 1.5});
}

std::vector<double> WinogradTransform::productOfPairs(size_t without) const {
  std::vector<double> product{1};
  for (size_t pair = 0; pair < pairs.size(); ++pair) {
    if (pair == without)
      continue;
    std::vector<double> next(product.size() + 2);
    for (size_t power = 0; power < product.size(); ++power) {
      next[power] -= pairs[pair] * pairs[pair] * product[power];
      next[power + 2] += product[power];
    }
    product = std::move(next);
  }
  return product;
}

std::vector<std::array<double, 3>> WinogradTransform::filterMatrix() const {
  std::vector<double> points{0};
  for (double a : pairs)
    points.insert(points.end(), {a, -a});
  std::vector<std::array<double, 3>> matrix;
  for (double point : points) {
    double scale = 1;
    for (double other : points)
      if (other != point)
        scale *= point - other;
    matrix.push_back({1 / scale, point / scale, point * point / scale});
  }
  matrix.push_back({0, 0, 1});
  return matrix;
}

std::vector<std::vector<double>> WinogradTransform::inputMatrix() const {
  const auto size = static_cast<size_t>(inputs());
  std::vector<std::vector<double>> matrix(size, std::vector<double>(size));
  auto add = [&](size_t row, double factor, const std::vector<double> &coefficients, size_t first) {
    for (size_t power = 0; power < coefficients.size(); ++power)
      matrix[row][first + power] += factor * coefficients[power];
  };
  const std::vector<double> all = productOfPairs(pairs.size());
  add(0, 1, all, 0);
  for (size_t pair = 0; pair < pairs.size(); ++pair) {
    const std::vector<double> rest = productOfPairs(pair);
    for (size_t row : {1 + 2 * pair, 2 + 2 * pair}) {
      add(row, 1, rest, 2);
      add(row, row % 2 == 1 ? pairs[pair] : -pairs[pair], rest, 1);
    }
  }
  add(size - 1, 1, all, 1);
  return matrix;
}

std::vector<std::vector<double>> WinogradTransform::outputMatrix() const {
  std::vector<std::vector<double>> matrix;
  for (int64_t power = 0; power < outputs(); ++power) {
    std::vector<double> row{power == 0 ? 1.0 : 0.0};
    for (double a : pairs)
      row.insert(row.end(), {std::pow(a, power), std::pow(-a, power)});
    row.push_back(power + 1 == outputs() ? 1 : 0);
    matrix.push_back(std::move(row));
  }
  return matrix;
}

/// The sum of coefficients[i] * data[first + i], whose even powers alone are not zero.
static Value evenSum(LoopBuilder &loops, ArrayRef<double> coefficients, ValueRange data, size_t first) {
  // The highest coefficient is 1.
  Value sum = data[first + coefficients.size() - 1];
  for (size_t power = 0; power + 1 < coefficients.size(); power += 2)
    sum = loops.fma(loops.splat(static_cast<float>(coefficients[power])), data[first + power], sum);
  return sum;
}

LoopBuilder::Values WinogradTransform::transformInput(LoopBuilder &loops, ValueRange data) const {
  // Row i of the matrix has the coefficients of the product of (x - p) over all points but p_i. Those of a
  // and -a are x (x +- a) times an even polynomial: sum and difference of an even and an odd part.
  const std::vector<double> all = productOfPairs(pairs.size());
  LoopBuilder::Values factors{evenSum(loops, all, data, 0)};
  for (size_t pair = 0; pair < pairs.size(); ++pair) {
    const std::vector<double> rest = productOfPairs(pair);
    Value even = evenSum(loops, rest, data, 2), odd = evenSum(loops, rest, data, 1);
    for (double a : {pairs[pair], -pairs[pair]})
      factors.push_back(loops.fma(loops.splat(static_cast<float>(a)), odd, even));
  }
  factors.push_back(evenSum(loops, all, data, 1));
  return factors;
}

LoopBuilder::Values WinogradTransform::transformOutput(LoopBuilder &loops, ValueRange products) const {
  LoopBuilder::Values sums, differences;
  Value minus = loops.splat(-1);
  for (size_t pair = 0; pair < pairs.size(); ++pair) {
    Value plus = products[1 + 2 * pair], other = products[2 + 2 * pair];
    sums.push_back(loops.addFloat(plus, other));
    differences.push_back(loops.fma(minus, other, plus));
  }
  LoopBuilder::Values results;
  for (int64_t power = 0; power < outputs(); ++power) {
    ArrayRef<Value> terms = power % 2 == 0 ? sums : differences;
    Value result = power == 0 ? products[0] : nullptr;
    if (power + 1 == outputs())
      result = products.back();
    for (size_t pair = 0; pair < pairs.size(); ++pair) {
      Value factor = loops.splat(static_cast<float>(std::pow(pairs[pair], power)));
      if (power == 0)
        result = loops.addFloat(result, terms[pair]);
      else
        result = loops.fma(factor, terms[pair], result ? result : loops.zero());
    }
    results.push_back(result);
  }
  return results;
}

} // namespace tokamak::codegen
