//===- GuardedMemory.h - buffers that end, or begin, at a page that cannot be touched ------------------===//
#pragma once
#include <cstddef>

namespace tokamak::test {

/// Zero-filled memory of so many bytes beside a page without access, so that the first byte read or written
/// outside faults.
class GuardedMemory {
public:
  enum class Guard {
    Behind, ///< the last byte is the last of its page
    Before  ///< the first byte is the first of its page
  };
  /// With the guard behind, the address is a multiple only of what `bytes` is a multiple of.
  GuardedMemory(size_t bytes, Guard guard);
  ~GuardedMemory();
  GuardedMemory(GuardedMemory &&other) noexcept;
  GuardedMemory(const GuardedMemory &) = delete;
  GuardedMemory &operator=(const GuardedMemory &) = delete;

  char *data() const { return begin; }
  size_t size() const { return count; }
  /// From now on writing faults as well.
  void makeReadOnly();

private:
  char *mapping = nullptr;
  size_t mappedBytes = 0;
  char *begin = nullptr;
  size_t count = 0;
};

} // namespace tokamak::test
