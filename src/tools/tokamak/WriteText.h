//===- WriteText.h - text to a file or to standard output ----------------------------------------===//
#pragma once
#include "tokamak/Session.h"

namespace tokamak::tool {

/// Writes `text` to `path`, or to standard output where that is empty or "-".
Status writeText(const std::string &path, const std::string &text);

} // namespace tokamak::tool
