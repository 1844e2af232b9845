//===- RankCorrelation.cpp - whether two sets of numbers have one order -----------------------===//
#include "RankCorrelation.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <vector>

namespace tokamak::tool {

static std::vector<double> ranksOf(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t first = 0, end = 0; first < order.size(); first = end) {
    while (end < order.size() && values[order[end]] == values[order[first]])
      ++end;
    for (size_t i = first; i < end; ++i)
      ranks[order[i]] = static_cast<double>(first + end - 1) / 2;
  }
  return ranks;
}

double rankCorrelation(std::span<const double> a, std::span<const double> b) {
  assert(a.size() == b.size() && "numbers in pairs");
  std::vector<double> x = ranksOf(a), y = ranksOf(b);
  const double mean = (static_cast<double>(a.size()) - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

} // namespace tokamak::tool
