//===- AheadOfTime.h - a compiled program as a shared library with a C header ---------------===//
#pragma once
#include "codegen/Program.h"
#include "llvm/Support/Error.h"
#include <string>

namespace tokamak::driver {

struct AheadOfTimeFiles {
  std::string library; ///< OUT.so
  std::string header;  ///< OUT.h
  std::string prefix;  ///< of the C names in both
};

/// Writes `output` (".so" is added where it is missing) and the header beside it. `source` names the model in
/// the header's comment. The library needs libc, libm and libpthread, nothing else.
llvm::Expected<AheadOfTimeFiles> writeSharedLibrary(const codegen::CompiledProgram &program,
                                                    const std::string &output, const std::string &source);

} // namespace tokamak::driver
