//===- WaveTime.h - how long kernels take that run at the same time -------------------------===//
#pragma once
#include "fusion/CostModel.h"
#include "llvm/ADT/ArrayRef.h"

namespace tokamak::fusion {

/// A kernel as its wave sees it: pieces that any thread can take. Times in seconds.
struct WaveWork {
  WaveWork(const GroupCost &cost)
      : pieces(cost.parallelism > 1 ? cost.tasks : 1), seconds(cost.serial()),
        sharedMemory(cost.sharedMemory) {}
  int64_t pieces;      ///< its tasks, or one where it is too small to be shared
  double seconds;      ///< of all of them on one core
  double sharedMemory; ///< of its bytes of main memory through all cores together
  double pieceSeconds() const { return seconds / static_cast<double>(pieces); }
};

/// Of one dispatch of all of `kernels`, whose order does not matter; of one kernel alone as well.
double waveSeconds(llvm::ArrayRef<WaveWork> kernels, const TargetDescription &target, int64_t threads);

} // namespace tokamak::fusion
