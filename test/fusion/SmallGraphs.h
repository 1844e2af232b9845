//===- SmallGraphs.h - random graphs that an exact search can partition --------------------------------===//
#pragma once
#include <cstdint>
#include <string>

namespace tokamak::fusion {

/// Functions `main` of at most `oracleEdges` edges, the same for the same seed.

/// Chains and diamonds of elementwise work around reductions of rows, behind a matrix product in some.
std::string rowGraph(uint64_t seed);
/// Parts that are computed and put together, along rows or columns, among elementwise work; a reshape behind
/// some.
std::string partsGraph(uint64_t seed);
/// One or two matrix products or convolutions among elementwise work before, between, beside and behind them.
std::string productGraph(uint64_t seed);
std::string convolutionGraph(uint64_t seed);

} // namespace tokamak::fusion
