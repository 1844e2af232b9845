//===- BuildId.h - which compiler this is -----------------------------------------------------===//
#pragma once
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace tokamak::driver {

/// The linker's build ids (hashes of the contents) of the program or library that holds Tokamak's code and of
/// the LLVM and MLIR libraries that it has loaded. Read from memory: the file on disk may have been replaced
/// since. None where one of them has no id.
std::optional<llvm::SmallVector<uint8_t>> buildId();

} // namespace tokamak::driver
