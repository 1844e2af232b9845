//===- ProgramFolder.cpp - compiled programs on disk ------------------------------------------===//
#include "driver/cache/ProgramFolder.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

namespace tokamak::driver {

namespace fs = llvm::sys::fs;

/// pruneCache sees to files whose names begin so, those that a killed process left half written among them.
static constexpr const char *prefix = "llvmcache-";

std::string ProgramFolder::fileOf(const ProgramKey &key) const {
  llvm::SmallString<256> file(path);
  llvm::sys::path::append(file, prefix + llvm::toHex(key, /*LowerCase=*/true));
  return file.str().str();
}

std::optional<ProgramEntry> ProgramFolder::read(const ProgramKey &key) const {
  const std::string name = fileOf(key);
  llvm::Expected<fs::file_t> file = fs::openNativeFileForRead(name);
  if (!file) {
    consumeError(file.takeError());
    return std::nullopt;
  }
  fs::file_status status;
  std::optional<ProgramEntry> entry;
  const bool isOwn = !fs::status(*file, status) && status.getUser() == geteuid();
  if (isOwn) {
    entry = readEntry(*file, status.getSize(), key);
    if (entry) // for the order in which files go; not all file systems note accesses
      (void)fs::setLastAccessAndModificationTime(*file, std::chrono::system_clock::now());
    else
      (void)fs::remove(name);
  }
  (void)fs::closeFile(*file);
  return entry;
}

bool ProgramFolder::write(const ProgramKey &key, const ProgramEntry &entry) const {
  if (entry.program && entry.program->program.weights.size() > limit)
    return false;
  const std::string name = fileOf(key);
  llvm::SmallString<256> temporary;
  int descriptor = 0;
  if (fs::create_directories(path, /*IgnoreExisting=*/true, fs::owner_all) ||
      fs::createUniqueFile(name + ".%%%%%%%%", descriptor, temporary, fs::OF_None,
                           fs::owner_read | fs::owner_write))
    return false;
  llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
  writeEntry(os, key, entry);
  os.close();
  const bool isWritten = !os.has_error() && !fs::rename(temporary, name);
  os.clear_error(); // its destructor would end the process
  if (!isWritten)
    (void)fs::remove(temporary);
  return isWritten;
}

std::optional<CompiledModel> ProgramFolder::find(ProgramKey key,
                                                 const std::map<std::string, Tensor> &hints) const {
  while (std::optional<ProgramEntry> entry = read(key)) {
    if (entry->program)
      return std::move(entry->program);
    key = keyWithValues(key, entry->inputs, hints);
  }
  return std::nullopt;
}

CompiledModel ProgramFolder::insert(ProgramKey key, const std::map<std::string, Tensor> &hints,
                                    CompiledModel program) const {
  // On the way there are the inputs that programs written before depend on; the rest is appended.
  std::set<std::string> missing(program.specialized.begin(), program.specialized.end());
  std::optional<ProgramEntry> entry;
  for (entry = read(key); entry && !entry->program; entry = read(key)) {
    for (const std::string &input : entry->inputs)
      missing.erase(input);
    key = keyWithValues(key, entry->inputs, hints);
  }
  if (!missing.empty()) {
    ProgramEntry fork;
    fork.inputs.assign(missing.begin(), missing.end());
    if (!write(key, fork))
      return program;
    key = keyWithValues(key, fork.inputs, hints);
  }
  ProgramEntry kept;
  kept.program = std::move(program);
  if (write(key, kept)) {
    llvm::CachePruningPolicy policy;
    policy.Interval = std::chrono::seconds(0);
    policy.Expiration = std::chrono::seconds(0);
    policy.MaxSizeBytes = limit;
    llvm::pruneCache(path, policy);
  }
  return std::move(*kept.program);
}

} // namespace tokamak::driver
