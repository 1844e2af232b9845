//===- KernelTimes.h - how long kernels take under the ways a program may run ---------------===//
// A program is compiled once and runs on one thread or on all. A kernel that merging makes large enough to be
// shared has threads that its parts left idle, but pays for waking them, and one thread pays for all that is
// computed twice. So a merge must take no longer on all threads, their dispatches paid for, and cost one
// thread no greater part of its time than all of them gain.
#pragma once
#include "fusion/CostModel.h"
#include <cmath>
#include <limits>

namespace tokamak::fusion {

/// Of one kernel or of several in a row, in seconds.
struct KernelTimes {
  KernelTimes() = default;
  /// On all threads infinite where refused; on one, what the kernel would take if there were one.
  explicit KernelTimes(const GroupCost &cost)
      : alone(cost.serial()), awake(cost.secondsAwake()), woken(cost.seconds()),
        dispatches(cost.dispatch > 0) {}
  static KernelTimes never() {
    KernelTimes times;
    times.alone = times.awake = times.woken = std::numeric_limits<double>::infinity();
    return times;
  }

  double alone = 0; ///< on one thread
  double awake = 0; ///< on all threads, which wait for work
  double woken = 0; ///< on all threads, each dispatch paid for
  int dispatches = 0;

  KernelTimes &operator+=(const KernelTimes &other) {
    alone += other.alone, awake += other.awake, woken += other.woken;
    dispatches += other.dispatches;
    return *this;
  }
  /// Whether there is such a kernel.
  bool isPossible() const { return std::isfinite(woken); }
  /// Whether merging into this what takes `apart` pays.
  bool pays(const KernelTimes &apart) const {
    return awake < apart.awake && woken <= apart.woken && isBalanced(apart);
  }
  /// Whether one thread loses no greater part of its time than all threads gain of theirs.
  bool isBalanced(const KernelTimes &apart) const {
    if (!isPossible() || !apart.isPossible())
      return isPossible();
    return alone * awake <= apart.alone * apart.awake && alone * woken <= apart.alone * apart.woken;
  }
  /// Whether it takes all threads longer than what takes `apart`: more than `tolerance` times as long, or
  /// longer at all where it wakes them once more.
  bool takesLonger(const KernelTimes &apart, double tolerance = 1) const {
    return !isPossible() || woken > apart.woken * (dispatches > apart.dispatches ? 1 : tolerance);
  }
};

/// "4.5 us instead of 2.5 on one thread": by the time that speaks against the merge, else that of all
/// threads, dispatches included.
std::string comparison(const KernelTimes &together, const KernelTimes &apart);

} // namespace tokamak::fusion
