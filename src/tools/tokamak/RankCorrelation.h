//===- RankCorrelation.h - whether two sets of numbers have one order -------------------------===//
#pragma once
#include <span>

namespace tokamak::tool {

/// Spearman's coefficient: the correlation of the ranks, equal numbers sharing the mean of theirs. 1 for the
/// same order, -1 for the opposite one; 0 where either side has fewer than two different numbers.
double rankCorrelation(std::span<const double> a, std::span<const double> b);

} // namespace tokamak::tool
