//===- SearchReport.h - what rewrite-search found --------------------------------------------------===//
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tokamak {

/// Of one neighbourhood.
struct SearchReport {
  std::string at;                             ///< the node that it lies around
  int64_t bound = 0;                          ///< states that might have been modelled
  int64_t explored = 0;                       ///< states that were
  double secondsBefore = 0, secondsAfter = 0; ///< modelled, of the neighbourhood and of the best found there
  double secondsChanged = 0;                  ///< of `secondsBefore`, kernels that the best changes
  std::vector<std::string> steps;             ///< taken: "REWRITE at NODE", in order
};

} // namespace tokamak
