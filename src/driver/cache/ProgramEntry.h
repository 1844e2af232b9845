//===- ProgramEntry.h - a compiled program as bytes of a file ---------------------------------===//
// A header with a checksum; what describes the program, its objects included, as CBOR; the packed weights,
// which are read straight into the memory that the program runs on.
#pragma once
#include "driver/Pipeline.h"
#include "driver/cache/ProgramKey.h"
#include "llvm/Support/FileSystem.h"

namespace tokamak::driver {

/// What is kept under a key: a program, or the inputs whose values make the key under which to look next.
struct ProgramEntry {
  std::optional<CompiledModel> program;
  std::vector<std::string> inputs;
};

/// Writes the entry of `key`. Faults of the file are left in `os`.
void writeEntry(llvm::raw_ostream &os, const ProgramKey &key, const ProgramEntry &entry);

/// Reads the entry of `key`. None where the file is anything but what writeEntry wrote for it.
std::optional<ProgramEntry> readEntry(llvm::sys::fs::file_t file, uint64_t fileBytes, const ProgramKey &key);

} // namespace tokamak::driver
