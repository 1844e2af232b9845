//===- ExplainPage.h - an explanation as a page to explore ---------------------------------------===//
#pragma once
#include "driver/Explanation.h"
#include <string>

namespace tokamak::tool {

/// One HTML page that needs nothing else: script, style and data are in it. See page/.
std::string explanationPage(const std::string &model, const std::string &fusion,
                            const driver::Explanation &explanation);

} // namespace tokamak::tool
