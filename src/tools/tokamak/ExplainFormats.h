//===- ExplainFormats.h - an explanation as text and as JSON -----------------------------------===//
#pragma once
#include "driver/Explanation.h"
#include <string>

namespace tokamak::tool {

std::string explanationText(const std::string &model, const std::string &fusion,
                            const driver::Explanation &explanation);
/// The object that docs of `explain --format json` describe: groups, decisions, removed, totals.
std::string explanationJson(const std::string &model, const std::string &fusion,
                            const driver::Explanation &explanation);

} // namespace tokamak::tool
