//===- WaveTime.cpp - how long kernels take that run at the same time -----------------------===//
// The runtime hands out pieces in order of their length, longest first, each to the thread that is free
// first: list scheduling by longest processing time (Graham, "Bounds on multiprocessing timing anomalies",
// 1969), of which this is the simulation.
#include "fusion/WaveTime.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <functional>

using namespace tokamak;
using namespace tokamak::fusion;

double fusion::waveSeconds(llvm::ArrayRef<WaveWork> kernels, const TargetDescription &target,
                           int64_t threads) {
  double whole = 0, shared = 0;
  int64_t pieces = 0;
  for (const WaveWork &kernel : kernels) {
    whole += kernel.seconds;
    shared += kernel.sharedMemory;
    pieces += kernel.pieces;
  }
  if (threads == 1 || pieces <= 1)
    return whole;

  llvm::SmallVector<WaveWork> sorted(kernels);
  llvm::stable_sort(sorted,
                    [](const WaveWork &a, const WaveWork &b) { return a.pieceSeconds() > b.pieceSeconds(); });
  llvm::SmallVector<double> busy(static_cast<size_t>(threads), 0.0); // a heap, the smallest in front
  for (const WaveWork &kernel : sorted) {
    // So many even parts differ little from as many as there are.
    const int64_t parts = std::min(kernel.pieces, 8 * threads);
    const double seconds = kernel.seconds / static_cast<double>(parts);
    for (int64_t part = 0; part < parts; ++part) {
      std::pop_heap(busy.begin(), busy.end(), std::greater<>());
      busy.back() += seconds;
      std::push_heap(busy.begin(), busy.end(), std::greater<>());
    }
  }
  return target.dispatchSeconds + std::max(*std::max_element(busy.begin(), busy.end()), shared);
}
