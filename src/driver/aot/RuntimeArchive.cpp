//===- RuntimeArchive.cpp - the runtime library as bytes ------------------------------------===//
#include "driver/aot/RuntimeArchive.h"

// From RuntimeArchive.S.
extern "C" const char tokamak_runtime_archive[], tokamak_runtime_archive_end[];

namespace tokamak::driver {

llvm::StringRef runtimeArchive() {
  return {tokamak_runtime_archive,
          static_cast<size_t>(tokamak_runtime_archive_end - tokamak_runtime_archive)};
}

} // namespace tokamak::driver
