//===- RecurrentActivation.h - activation functions of RNN, GRU, LSTM -----------------------===//
#pragma once
#include "import/NodeContext.h"

namespace tokamak::import {

/// One function of the attribute `activations`, with its parameters.
struct RecurrentActivation {
  std::string name; ///< lower case
  double alpha = 0, beta = 0;

  Value apply(Body &b, Value x) const;
};

/// The functions of all directions, one direction after the other: `defaults` for each where the attribute is
/// absent. Parameters come from activation_alpha and activation_beta, which list only those of functions that
/// have one.
llvm::SmallVector<RecurrentActivation>
recurrentActivations(NodeContext &n, const std::vector<std::string> &defaults, int64_t directions);

} // namespace tokamak::import
