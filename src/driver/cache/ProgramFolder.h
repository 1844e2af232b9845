//===- ProgramFolder.h - compiled programs on disk --------------------------------------------===//
#pragma once
#include "driver/cache/ProgramEntry.h"

namespace tokamak::driver {

/// A folder of compiled programs, one file a key, that any number of processes use at once: a file is written
/// under another name and renamed, so it is there whole or not at all. What goes wrong (a folder that cannot
/// be made or written, a full disk, damaged files) costs a compilation, never an error. Files of other users
/// are not read: they are code.
class ProgramFolder {
public:
  /// `bytes`: that the files may take in all; the least recently used go first.
  ProgramFolder(std::string path, uint64_t bytes) : path(std::move(path)), limit(bytes) {}

  /// The program of `key` for these hints.
  std::optional<CompiledModel> find(ProgramKey key, const std::map<std::string, Tensor> &hints) const;
  /// Keeps `program`, whose `specialized` says on which hints it depends. Returns it.
  CompiledModel insert(ProgramKey key, const std::map<std::string, Tensor> &hints,
                       CompiledModel program) const;

private:
  std::string fileOf(const ProgramKey &key) const;
  std::optional<ProgramEntry> read(const ProgramKey &key) const;
  bool write(const ProgramKey &key, const ProgramEntry &entry) const;

  std::string path;
  uint64_t limit;
};

} // namespace tokamak::driver
