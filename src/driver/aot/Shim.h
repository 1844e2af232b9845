//===- Shim.h - the object that gives a compiled model its C face --------------------------===//
#pragma once
#include "driver/aot/Header.h"
#include "llvm/Support/Error.h"
#include <string>

namespace tokamak::driver {

/// A relocatable object (baseline x86-64, position independent) with the functions that `writeHeader`
/// declares, the description of the model, and the file `weightsPath` in its read-only data. Errors name the
/// model `source`. It refers to `program.entry` and to the runtime library.
llvm::Expected<std::string> emitShim(const codegen::CompiledProgram &program, const CNames &names,
                                     llvm::StringRef source, llvm::StringRef weightsPath);

} // namespace tokamak::driver
