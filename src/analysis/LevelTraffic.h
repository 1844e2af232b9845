//===- LevelTraffic.h - from which memory level each kernel's bytes come -------------------===//
// The kernels of a program in the order in which they run, again and again on new inputs: weights and the
// caller's buffers are met once a run, intermediate values live in an arena whose memory is used anew as soon
// as its last reader is done.
#pragma once
#include "analysis/KernelOperands.h"
#include "analysis/TargetDescription.h"
#include <vector>

namespace tokamak::analysis {

using BytesByLevel = std::array<int64_t, memoryLevels>;

/// Bytes by the level that holds them when a kernel touches them. A write counts where the line to be written
/// over comes from.
struct LevelTraffic {
  BytesByLevel read{}, weights{}, written{};

  LevelTraffic &operator+=(const LevelTraffic &other);
  LevelTraffic times(int64_t count) const;
  int64_t at(MemoryLevel level) const;
  int64_t total() const { return at(MemoryLevel::L1) + beyond(MemoryLevel::L1); }
  /// Bytes that pass between `level` and the one behind it: what a miss count of that cache times its line
  /// size is.
  int64_t beyond(MemoryLevel level) const;
};

/// One entry a kernel.
std::vector<LevelTraffic> levelTraffic(llvm::ArrayRef<KernelOperands> kernels,
                                       const TargetDescription &target);

/// Of one kernel of which nothing is known but what it touches: its activations have just been written, its
/// weights have been away as long as a program with `weightDistance` bytes takes to come back.
LevelTraffic levelTraffic(const KernelOperands &kernel, int64_t weightDistance,
                          const TargetDescription &target);

} // namespace tokamak::analysis
