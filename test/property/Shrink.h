//===- Shrink.h - a small graph out of a large one that fails -------------------------------------------===//
#pragma once
#include "Properties.h"

namespace tokamak::test {

/// Drops results, replaces operators by inputs that hold their values, and drops what nothing uses then, as
/// long as `fails` holds; at most `tries` attempts.
GraphCase shrink(const GraphCase &graph, llvm::function_ref<bool(const GraphCase &)> fails, int tries = 300);

} // namespace tokamak::test
