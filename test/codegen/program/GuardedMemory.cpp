//===- GuardedMemory.cpp - buffers that end, or begin, at a page that cannot be touched ----------------===//
#include "GuardedMemory.h"
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace tokamak::test {

namespace {

size_t pageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

void require(bool condition, const char *call) {
  if (condition)
    return;
  std::perror(call);
  std::abort();
}

} // namespace

GuardedMemory::GuardedMemory(size_t bytes, Guard guard) : count(bytes) {
  size_t page = pageBytes(), whole = (bytes + page - 1) / page * page;
  mappedBytes = whole + 2 * page;
  void *memory = mmap(nullptr, mappedBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(memory != MAP_FAILED, "mmap");
  mapping = static_cast<char *>(memory);
  if (whole > 0)
    require(mprotect(mapping + page, whole, PROT_READ | PROT_WRITE) == 0, "mprotect");
  begin = mapping + page + (guard == Guard::Behind ? whole - bytes : 0);
}

GuardedMemory::~GuardedMemory() {
  if (mapping)
    munmap(mapping, mappedBytes);
}

GuardedMemory::GuardedMemory(GuardedMemory &&other) noexcept
    : mapping(std::exchange(other.mapping, nullptr)), mappedBytes(other.mappedBytes), begin(other.begin),
      count(other.count) {}

void GuardedMemory::makeReadOnly() {
  size_t page = pageBytes(), whole = mappedBytes - 2 * page;
  if (whole > 0)
    require(mprotect(mapping + page, whole, PROT_READ) == 0, "mprotect");
}

} // namespace tokamak::test
