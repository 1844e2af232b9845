//===- RunError.h - what the code that a program returns means -----------------------------===//
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace tokamak::driver {

/// `code`, of a program with these codegen::CompiledProgram::faultPlaces, in one line without the file: node,
/// operator, reason, what to do.
std::string runError(llvm::ArrayRef<std::string> faultPlaces, int code);

} // namespace tokamak::driver
