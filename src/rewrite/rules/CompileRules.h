//===- CompileRules.h - a rule file as text of the pdl dialect ----------------------------------===//
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace tokamak::rules {

/// The pdl text of `rules`: the name of shipped rules, or the path of a .pdll file, which mlir-pdll compiles
/// in a process of its own, behind the prelude. An error is one line, with file, line and column where there
/// are some.
llvm::Expected<std::string> compileRules(llvm::StringRef rules);

} // namespace tokamak::rules
