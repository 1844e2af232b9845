//===- ReuseDistance.h - how much memory is touched between two uses of a buffer ----------===//
// Mattson's stack distance (IBM Systems Journal 1970), over whole buffers: a cache that keeps the most
// recently used bytes still holds a buffer if the bytes touched since its last use, its own included, fit.
// Kernels touch their operands once from front to back, so a buffer is a good unit.
#pragma once
#include "analysis/TargetDescription.h"
#include "llvm/ADT/DenseMap.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace tokamak::analysis {

/// The sequence of touches so far. A touch costs time logarithmic in their number.
class ReuseDistance {
public:
  /// Touches `bytes` of the buffer `id`. Returns the bytes of distinct buffers touched since its last touch,
  /// its own included; nothing the first time.
  std::optional<int64_t> touch(int64_t id, int64_t bytes);

private:
  void add(size_t time, int64_t bytes);
  int64_t sumFrom(size_t time) const;

  struct Touch {
    size_t time;
    int64_t bytes;
  };
  llvm::DenseMap<int64_t, Touch> last;
  std::vector<int64_t> tree; ///< Fenwick tree over times: bytes of buffers last touched then
  size_t now = 0;
};

/// Bytes that go past each cache, so come from (or go to) the level behind it, of `bytes` at a reuse
/// distance. Caches are no perfect stacks: from three quarters of the capacity on buffers are lost, at half
/// as much again all of them.
std::array<int64_t, memoryLevels> bytesByLevel(int64_t bytes, int64_t distance,
                                               const TargetDescription &target);

} // namespace tokamak::analysis
