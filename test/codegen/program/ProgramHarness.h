//===- ProgramHarness.h - compiled programs against the evaluator ----------------------------------===//
#pragma once
#include <string>

namespace tokamak::test {

struct ProgramCase {
  std::string text;        ///< a module with func.func @main of tk operators, before partitioning
  bool exact = false;      ///< small integers as inputs, results compared bit for bit
  double tolerance = 1e-5; ///< max |a - b| <= tolerance * max(1, max |b|)
  std::string cpu = "native";
  bool fuse = true; ///< `dominator`, else `none`
  uint64_t seed = 1;
};

/// Compiles and runs the case, and compares every result with the evaluator's. Empty, or what differs.
std::string differenceFromReference(const ProgramCase &test);

} // namespace tokamak::test
