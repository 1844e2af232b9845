//===- SearchReport.h - what rewrite-search found --------------------------------------------------===//
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tokamak {

/// Of one neighbourhood in which the graph was rewritten.
struct SearchReport {
  std::string at;                             ///< the node that it lies around
  int64_t bound = 0;                          ///< states that might have been modelled
  int64_t explored = 0;                       ///< states that were
  double secondsBefore = 0, secondsAfter = 0; ///< modelled, of the neighbourhood
  std::vector<std::string> steps;             ///< "REWRITE at NODE", in order
};

} // namespace tokamak
