//===- IrObject.h - LLVM assembly to an object ------------------------------------------------===//
#pragma once
#include "llvm/Support/Error.h"
#include <string>

namespace tokamak::driver {

/// Compiles LLVM assembly that the driver itself wrote (the interface of a compiled model, stubs that
/// measure) to a position-independent object for any x86-64. Module-level assembler is allowed.
llvm::Expected<std::string> compileIr(const std::string &assembly);

} // namespace tokamak::driver
