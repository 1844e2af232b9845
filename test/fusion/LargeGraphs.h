//===- LargeGraphs.h - graphs of many operators, as text -------------------------------------------===//
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace tokamak::test {

/// A family of graphs whose size grows: a name, and a function @main of about so many operators.
struct GraphFamily {
  const char *name;
  std::string (*generate)(int operators);
};

/// "chain": one elementwise operator behind the other. "transposes": the same of transposes, which all join.
/// "blocks": norms, products and residual sums, with one value that every block reads. "wide": convolutions
/// of one input, each with its activation, summed in pairs. "ssd": class by class, boxes are cut out,
/// clipped, compared and joined again, as unrolled detection heads do. "swin": transformer blocks in
/// primitive pieces, with rolled and partitioned windows.
llvm::ArrayRef<GraphFamily> graphFamilies();

} // namespace tokamak::test
