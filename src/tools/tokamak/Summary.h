//===- Summary.h - a tensor in a line ---------------------------------------------------------===//
#pragma once
#include "tokamak/Session.h"
#include <string>
#include <vector>

namespace tokamak::tool {

struct Summary {
  size_t finite = 0, nans = 0, infinities = 0; ///< elements of each sort
  double min = 0, max = 0, mean = 0;           ///< of the finite ones
  std::vector<double> first;                   ///< the first few elements
};

Summary summarize(const HostTensor &tensor);

/// "NAME: float32[1,1000]  min -3.1  max 9.2  mean 0.01  first -0.2 1.4 ..."
std::string describe(const std::string &name, const HostTensor &tensor);

} // namespace tokamak::tool
