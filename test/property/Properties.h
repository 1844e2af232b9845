//===- Properties.h - what must hold for every graph --------------------------------------------------===//
#pragma once
#include "GraphCase.h"
#include "runtime/ThreadPool.h"
#include <functional>
#include <string>

namespace tokamak::test {

struct Property {
  std::string name;
  /// Empty where it holds, else what is wrong.
  std::function<std::string(const GraphCase &graph)> check;
};

/// The graph keeps its meaning under each pass alone, and under the pipelines (computed by the evaluator
/// before and after), and the compiled program computes what the evaluator says: alone and on the threads of
/// `pool`. The first are cheap; compiled ones are many and cost some tens of milliseconds each.
std::vector<Property> graphProperties();
std::vector<Property> compiledProperties(TkPool *pool);

} // namespace tokamak::test
