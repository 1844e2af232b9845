//===- Index.cpp - affine indices with value ranges ----------------------------------------===//
#include "codegen/expression/Index.h"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace tokamak::codegen {

namespace {
int64_t floorDivide(int64_t a, int64_t b) {
  int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
} // namespace

Index IndexSpace::uniform(mlir::Value value, int64_t low, int64_t high) {
  if (low == high)
    return Index(low);
  atoms.push_back({Kind::Uniform, {low, high}, value});
  return single(static_cast<AtomId>(atoms.size()) - 1);
}

Index IndexSpace::varying(mlir::Value values, int64_t low, int64_t high) {
  atoms.push_back({Kind::Varying, {low, high}, values});
  atoms.back().uniform = false;
  return single(static_cast<AtomId>(atoms.size()) - 1);
}

Index IndexSpace::lane(int64_t lanes) {
  if (lanes == 1)
    return Index(0);
  for (size_t i = 0; i < atoms.size(); ++i)
    if (atoms[i].kind == Kind::Lane && atoms[i].range.high == lanes - 1)
      return single(static_cast<AtomId>(i));
  atoms.push_back({Kind::Lane, {0, lanes - 1}, {}});
  atoms.back().uniform = false;
  return single(static_cast<AtomId>(atoms.size()) - 1);
}

Index IndexSpace::add(const Index &a, const Index &b) const {
  Index result(a.constant + b.constant);
  auto i = a.terms.begin(), j = b.terms.begin();
  while (i != a.terms.end() || j != b.terms.end()) {
    if (j == b.terms.end() || (i != a.terms.end() && i->first < j->first)) {
      result.terms.push_back(*i++);
    } else if (i == a.terms.end() || j->first < i->first) {
      result.terms.push_back(*j++);
    } else {
      if (int64_t sum = i->second + j->second)
        result.terms.push_back({i->first, sum});
      ++i, ++j;
    }
  }
  return result;
}

Index IndexSpace::scale(const Index &a, int64_t factor) const {
  if (factor == 0)
    return Index(0);
  Index result = a;
  result.constant *= factor;
  for (auto &term : result.terms)
    term.second *= factor;
  return result;
}

Range IndexSpace::range(const Index &a) const {
  Index rest = a;
  Range total{0, 0};
  // c * R - c * k * floor(R / k) is c times a remainder: [0, k - 1], which the plain sum of intervals would
  // not see.
  for (const auto &[id, coefficient] : a.terms) {
    const Atom &q = atom(id);
    if (q.kind != Kind::Quotient || coefficient % q.divisor != 0)
      continue;
    int64_t c = -coefficient / q.divisor;
    bool whole = true;
    for (const auto &[inner, k] : q.numerator.terms) {
      auto it = std::find_if(rest.terms.begin(), rest.terms.end(), [&](auto &t) { return t.first == inner; });
      whole &= it != rest.terms.end() && it->second == c * k;
    }
    if (!whole)
      continue;
    rest = add(rest, scale(single(id), -coefficient));
    rest = sub(rest, scale(q.numerator, c));
    int64_t most = c * (q.divisor - 1);
    total.low += std::min<int64_t>(0, most);
    total.high += std::max<int64_t>(0, most);
  }
  total.low += rest.constant;
  total.high += rest.constant;
  for (const auto &[id, coefficient] : rest.terms) {
    Range r = atom(id).range;
    total.low += coefficient > 0 ? coefficient * r.low : coefficient * r.high;
    total.high += coefficient > 0 ? coefficient * r.high : coefficient * r.low;
  }
  if (auto fact = facts.find(a); fact != facts.end())
    total = {std::max(total.low, fact->second.low), std::min(total.high, fact->second.high)};
  return total;
}

Index IndexSpace::known(const Index &a, Range r) {
  Range seen = range(a);
  if (r.low > seen.low || r.high < seen.high)
    facts[a] = {std::max(r.low, seen.low), std::min(r.high, seen.high)};
  return a;
}

Index IndexSpace::floorDiv(const Index &given, int64_t divisor) {
  if (divisor == 1)
    return given;
  Index a = tamed(given);
  Range r = range(a);
  return known(divide(a, divisor), {floorDivide(r.low, divisor), floorDivide(r.high, divisor)});
}

Index IndexSpace::divide(const Index &a, int64_t divisor) {
  if (divisor == 1)
    return a;
  // Whole multiples of the divisor leave the division.
  Index quotient(floorDivide(a.constant, divisor));
  Index rest(a.constant - quotient.constant * divisor);
  for (const auto &[id, coefficient] : a.terms) {
    // Mixed terms split as well: 70 * x / 64 = x + 6 * x / 64.
    int64_t whole = coefficient % divisor == 0 ? coefficient / divisor : 0;
    if (whole)
      quotient.terms.push_back({id, whole});
    if (int64_t remaining = coefficient - whole * divisor)
      rest.terms.push_back({id, remaining});
  }
  Range r = range(rest);
  if (floorDivide(r.low, divisor) == floorDivide(r.high, divisor))
    return add(quotient, Index(floorDivide(r.low, divisor)));
  // Terms that stay below the granularity g of the others cannot carry into a multiple of g, hence not of the
  // divisor.
  llvm::SmallVector<int64_t> granularities;
  for (const auto &[id, coefficient] : rest.terms)
    granularities.push_back(std::gcd(coefficient, divisor));
  std::sort(granularities.rbegin(), granularities.rend());
  for (int64_t g : granularities) {
    if (g <= 1)
      break;
    Index coarse(floorDivide(rest.constant, g)), fine(rest.constant - floorDivide(rest.constant, g) * g);
    for (const auto &[id, coefficient] : rest.terms) {
      if (coefficient % g == 0)
        coarse.terms.push_back({id, coefficient / g});
      else
        fine.terms.push_back({id, coefficient});
    }
    Range f = range(fine);
    if (f.low >= 0 && f.high < g)
      return add(quotient, divide(coarse, divisor / g));
  }
  // Split at the nearest multiple, the rest may stay below the divisor: a transposition's 8 * i - 63 * q is
  // 8 * (i - 8 * q) + q.
  Index outside(floorDivide(rest.constant, divisor)), inside(rest.constant - outside.constant * divisor);
  for (const auto &[id, coefficient] : rest.terms) {
    int64_t nearest = floorDivide(2 * coefficient + divisor, 2 * divisor);
    if (nearest)
      outside.terms.push_back({id, nearest});
    if (int64_t remaining = coefficient - nearest * divisor)
      inside.terms.push_back({id, remaining});
  }
  if (Range n = range(inside); floorDivide(n.low, divisor) == floorDivide(n.high, divisor))
    return add(quotient, add(outside, Index(floorDivide(n.low, divisor))));
  return add(quotient,
             quotientAtom(rest, divisor, {floorDivide(r.low, divisor), floorDivide(r.high, divisor)}));
}

Index IndexSpace::mod(const Index &given, int64_t divisor) {
  Index a = tamed(given);
  return known(sub(a, scale(floorDiv(a, divisor), divisor)), {0, divisor - 1});
}

Index IndexSpace::quotientAtom(const Index &numerator, int64_t divisor, Range range) {
  auto [it, isNew] = quotients.try_emplace({numerator, divisor}, static_cast<AtomId>(atoms.size()));
  if (isNew) {
    Atom q{Kind::Quotient, range, {}, numerator, divisor};
    q.uniform = isUniform(numerator);
    atoms.push_back(q);
  }
  return single(it->second);
}

Index IndexSpace::tamed(const Index &a) {
  // Far above the positions of any tensor, far below what overflows when an extent multiplies it.
  constexpr double largest = 0x1p45;
  constexpr size_t mostTerms = 24;
  double magnitude = 0;
  for (const auto &[id, coefficient] : a.terms) {
    Range r = atom(id).range;
    double furthest = std::max(std::abs(static_cast<double>(r.low)), std::abs(static_cast<double>(r.high)));
    magnitude += std::abs(static_cast<double>(coefficient)) * furthest;
  }
  if (magnitude <= largest && a.terms.size() <= mostTerms)
    return a;
  return quotientAtom(a, 1, range(a));
}

bool IndexSpace::isUniform(const Index &a) const {
  return llvm::all_of(a.terms, [&](auto &term) { return atom(term.first).uniform; });
}

std::optional<int64_t> IndexSpace::laneStride(const Index &a) const {
  int64_t stride = 0;
  for (const auto &[id, coefficient] : a.terms) {
    const Atom &x = atom(id);
    if (x.kind == Kind::Lane)
      stride = coefficient;
    else if (!x.uniform)
      return std::nullopt;
  }
  return stride;
}

Index linearize(IndexSpace &space, llvm::ArrayRef<Index> index, llvm::ArrayRef<int64_t> shape) {
  Index result(0);
  Range bounds{0, 0};
  for (size_t i = 0; i < shape.size(); ++i) {
    Range r = space.range(index[i]);
    bounds = {bounds.low * shape[i] + r.low, bounds.high * shape[i] + r.high};
    result = space.known(space.add(space.scale(result, shape[i]), index[i]), bounds);
  }
  return space.tamed(result);
}

llvm::SmallVector<Index> delinearize(IndexSpace &space, Index position, llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<Index> result(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    // The outermost quotient is below its extent by construction.
    result[i] = i == 0 ? position : space.mod(position, std::max<int64_t>(shape[i], 1));
    position = space.floorDiv(position, std::max<int64_t>(shape[i], 1));
  }
  return result;
}

} // namespace tokamak::codegen
