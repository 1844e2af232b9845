//===- ExplainDot.h - an explanation as a drawing ------------------------------------------------===//
#pragma once
#include "driver/Explanation.h"
#include <string>

namespace tokamak::tool {

/// The graph in Graphviz' language: a cluster for each group, an edge for each value that passes, with the
/// bytes where it goes through memory.
std::string explanationDot(const std::string &model, const driver::Explanation &explanation);

/// The same, drawn by Graphviz' program `dot`; of large graphs with a node for each group. Fails where that
/// is not installed, and at once where it would take minutes.
Result<std::string> explanationSvg(const std::string &model, const driver::Explanation &explanation);

} // namespace tokamak::tool
