//===- Linker.h - objects into a shared library --------------------------------------------===//
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace tokamak::driver {

/// Links `files` (objects, archives) into the shared library `output`, whose dynamic symbols are those that
/// `versionScript` exports. Uses the first of cc, gcc, clang, ld.lld, ld that is there; the result needs only
/// libc and libm (which hold libpthread). `errorFile` is a scratch file for the linker's messages.
llvm::Error linkSharedLibrary(llvm::ArrayRef<std::string> files, const std::string &versionScript,
                              const std::string &output, const std::string &errorFile);

} // namespace tokamak::driver
