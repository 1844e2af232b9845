//===- LevelTraffic.cpp - from which memory level each kernel's bytes come -----------------===//
#include "analysis/LevelTraffic.h"
#include "analysis/ReuseDistance.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
#include <map>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::analysis;

static void accumulate(BytesByLevel &sum, const BytesByLevel &more) {
  for (size_t level = 0; level < memoryLevels; ++level)
    if (llvm::AddOverflow(sum[level], more[level], sum[level]))
      sum[level] = std::numeric_limits<int64_t>::max();
}

LevelTraffic &LevelTraffic::operator+=(const LevelTraffic &other) {
  accumulate(read, other.read);
  accumulate(weights, other.weights);
  accumulate(written, other.written);
  return *this;
}

LevelTraffic LevelTraffic::times(int64_t count) const {
  LevelTraffic result = *this;
  for (BytesByLevel *bytes : {&result.read, &result.weights, &result.written})
    for (int64_t &n : *bytes)
      if (llvm::MulOverflow(n, count, n))
        n = std::numeric_limits<int64_t>::max();
  return result;
}

int64_t LevelTraffic::at(MemoryLevel level) const {
  auto i = static_cast<size_t>(level);
  return read[i] + weights[i] + written[i];
}

int64_t LevelTraffic::beyond(MemoryLevel level) const {
  int64_t sum = 0;
  for (size_t i = static_cast<size_t>(level) + 1; i < memoryLevels; ++i)
    sum += at(static_cast<MemoryLevel>(i));
  return sum;
}

namespace {

/// Which piece of memory each value lies in, over the kernels of one run.
class Placement {
public:
  explicit Placement(llvm::ArrayRef<KernelOperands> kernels) {
    llvm::DenseSet<Value> written;
    llvm::DenseMap<Value, size_t> lastReader;
    for (const auto &[i, kernel] : llvm::enumerate(kernels)) {
      for (const KernelOperands::Buffer &write : kernel.writes)
        written.insert(write.value);
      for (const KernelOperands::Buffer &read : kernel.reads)
        lastReader[read.value] = i;
    }
    for (const auto &[i, kernel] : llvm::enumerate(kernels)) {
      // Results never share memory with operands of the same kernel: pieces are set free behind it.
      for (const KernelOperands::Buffer &write : kernel.writes) {
        // What nobody reads is the caller's, who takes it away.
        const bool isIntermediate = lastReader.contains(write.value);
        pieces[write.value] = isIntermediate ? take(write.bytes) : newPiece(write.bytes);
      }
      for (const KernelOperands::Buffer &read : kernel.reads) {
        auto [piece, isOuter] = pieces.try_emplace(read.value, 0);
        if (isOuter) // a weight or an input
          piece->second = newPiece(read.bytes);
        else if (lastReader[read.value] == i && written.contains(read.value))
          free.emplace(sizes[static_cast<size_t>(piece->second)], piece->second);
      }
    }
  }
  int64_t of(Value value) const { return pieces.lookup(value); }

private:
  int64_t newPiece(int64_t bytes) {
    sizes.push_back(bytes);
    return static_cast<int64_t>(sizes.size()) - 1;
  }
  /// The smallest free piece that is large enough, else a new one.
  int64_t take(int64_t bytes) {
    auto found = free.lower_bound(bytes);
    if (found == free.end())
      return newPiece(bytes);
    int64_t piece = found->second;
    free.erase(found);
    return piece;
  }
  llvm::DenseMap<Value, int64_t> pieces;
  std::vector<int64_t> sizes;
  std::multimap<int64_t, int64_t> free; ///< by size
};

} // namespace

std::vector<LevelTraffic> analysis::levelTraffic(llvm::ArrayRef<KernelOperands> kernels,
                                                 const TargetDescription &target) {
  Placement placement(kernels);
  ReuseDistance distances;
  std::vector<LevelTraffic> result;
  // The first run finds the caches as anything left them; the second is like all that follow.
  for (int run = 0; run < 2; ++run) {
    result.assign(kernels.size(), {});
    for (const auto &[kernel, traffic] : llvm::zip_equal(kernels, result)) {
      auto touch = [&](const KernelOperands::Buffer &buffer) {
        std::optional<int64_t> distance = distances.touch(placement.of(buffer.value), buffer.bytes);
        return bytesByLevel(buffer.bytes, distance.value_or(std::numeric_limits<int64_t>::max()), target);
      };
      for (const KernelOperands::Buffer &read : kernel.reads)
        accumulate(isWeight(read.value) ? traffic.weights : traffic.read, touch(read));
      for (const KernelOperands::Buffer &write : kernel.writes)
        accumulate(traffic.written, touch(write));
    }
  }
  return result;
}

LevelTraffic analysis::levelTraffic(const KernelOperands &kernel, int64_t weightDistance,
                                    const TargetDescription &target) {
  LevelTraffic traffic;
  int64_t touched = 0;
  for (const auto *side : {&kernel.reads, &kernel.writes})
    for (const KernelOperands::Buffer &buffer : *side)
      touched += isWeight(buffer.value) ? 0 : buffer.bytes;
  for (const KernelOperands::Buffer &read : kernel.reads) {
    if (isWeight(read.value))
      accumulate(traffic.weights, bytesByLevel(read.bytes, weightDistance, target));
    else
      accumulate(traffic.read, bytesByLevel(read.bytes, touched, target));
  }
  for (const KernelOperands::Buffer &write : kernel.writes)
    accumulate(traffic.written, bytesByLevel(write.bytes, touched, target));
  return traffic;
}
