//===- RuntimeArchive.h - the runtime library as bytes --------------------------------------===//
#pragma once
#include "llvm/ADT/StringRef.h"

namespace tokamak::driver {

/// libtokamak_runtime.a, kept inside the compiler so that ahead-of-time output needs no file of the
/// installation.
llvm::StringRef runtimeArchive();

} // namespace tokamak::driver
