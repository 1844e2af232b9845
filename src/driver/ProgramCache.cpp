//===- ProgramCache.cpp - the programs of a session, by input shapes ----------------------===//
#include "driver/ProgramCache.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

namespace tokamak::driver {

std::shared_ptr<Program> ProgramCache::find(llvm::ArrayRef<Shape> shapes, llvm::ArrayRef<KnownValue> values) {
  std::lock_guard<std::mutex> lock(mutex);
  for (auto it = entries.begin(); it != entries.end(); ++it) {
    if (llvm::ArrayRef<Shape>(it->shapes) != shapes)
      continue;
    bool same = llvm::all_of(it->specialized, [&](const auto &input) {
      const KnownValue &value = values[input.first];
      return value.known && value.bytes == input.second.size() &&
             (value.bytes == 0 || std::memcmp(value.data, input.second.data(), value.bytes) == 0);
    });
    if (!same)
      continue;
    entries.splice(entries.begin(), entries, it);
    return it->program;
  }
  return nullptr;
}

void ProgramCache::insert(llvm::ArrayRef<Shape> shapes, llvm::ArrayRef<size_t> specialized,
                          llvm::ArrayRef<KnownValue> values, std::shared_ptr<Program> program) {
  Entry entry{shapes.vec(), {}, std::move(program)};
  for (size_t input : specialized) {
    const KnownValue &value = values[input];
    entry.specialized.emplace_back(
        input, value.bytes ? std::string(static_cast<const char *>(value.data), value.bytes) : std::string());
  }
  std::lock_guard<std::mutex> lock(mutex);
  entries.push_front(std::move(entry));
  if (entries.size() > capacity)
    entries.pop_back();
}

std::shared_ptr<Program> ProgramCache::latest() {
  std::lock_guard<std::mutex> lock(mutex);
  return entries.empty() ? nullptr : entries.front().program;
}

void ProgramCache::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  entries.clear();
}

} // namespace tokamak::driver
