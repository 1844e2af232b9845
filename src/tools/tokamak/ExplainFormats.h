//===- ExplainFormats.h - an explanation as text and as JSON -----------------------------------===//
#pragma once
#include "driver/Explanation.h"
#include <string>

namespace tokamak::tool {

/// "640 B", "1.5 MB".
std::string bytesText(int64_t count);

std::string explanationText(const std::string &model, const std::string &fusion,
                            const driver::Explanation &explanation);
enum class JsonLayout { Indented, OneLine };

/// The object that docs of `explain --format json` describe: groups, decisions, removed, totals, graph.
std::string explanationJson(const std::string &model, const std::string &fusion,
                            const driver::Explanation &explanation, JsonLayout layout = JsonLayout::Indented);

} // namespace tokamak::tool
