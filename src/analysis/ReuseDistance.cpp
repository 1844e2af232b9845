//===- ReuseDistance.cpp - how much memory is touched between two uses of a buffer --------===//
#include "analysis/ReuseDistance.h"
#include <algorithm>

using namespace tokamak;
using namespace tokamak::analysis;

void ReuseDistance::add(size_t time, int64_t bytes) {
  for (; time < tree.size(); time |= time + 1)
    tree[time] += bytes;
}

int64_t ReuseDistance::sumFrom(size_t time) const {
  auto below = [&](size_t end) {
    int64_t sum = 0;
    for (; end > 0; end &= end - 1)
      sum += tree[end - 1];
    return sum;
  };
  return below(tree.size()) - below(time);
}

std::optional<int64_t> ReuseDistance::touch(int64_t id, int64_t bytes) {
  std::optional<int64_t> distance;
  if (auto found = last.find(id); found != last.end()) {
    distance = sumFrom(found->second.time) - found->second.bytes + bytes;
    add(found->second.time, -found->second.bytes);
  }
  if (now == tree.size()) { // twice the room: all last touches again, in a tree that has it
    std::vector<int64_t> larger(std::max<size_t>(64, tree.size() * 2));
    tree.swap(larger);
    for (const auto &[other, touch] : last)
      if (other != id)
        add(touch.time, touch.bytes);
  }
  last[id] = {now, bytes};
  add(now++, bytes);
  return distance;
}

std::array<int64_t, memoryLevels> analysis::bytesByLevel(int64_t bytes, int64_t distance,
                                                         const TargetDescription &target) {
  std::array<int64_t, memoryLevels> result{};
  int64_t arriving = bytes; // at this level, past the ones before it
  for (size_t level = 0; level + 1 < memoryLevels; ++level) {
    auto capacity = static_cast<double>(target.capacity(static_cast<MemoryLevel>(level)));
    double lost = std::clamp((static_cast<double>(distance) - 0.75 * capacity) / (0.75 * capacity), 0.0, 1.0);
    auto past = std::min(arriving, static_cast<int64_t>(static_cast<double>(bytes) * lost));
    result[level] = arriving - past;
    arriving = past;
  }
  result[memoryLevels - 1] = arriving;
  return result;
}
