//===- CalibrateMachine.h - what this machine's cores, caches and threads reach ----------------===//
#pragma once
#include "analysis/TargetDescription.h"

namespace tokamak::tool {

/// Measures clock, arithmetic peak, bandwidths and the cost of a dispatch with the caller's thread, some
/// tenths of a second in all, and stores them in `target`, whose cache sizes say what to measure. The best of
/// many short runs counts, so that other work on the machine disturbs little; where handing work to threads
/// is out of all proportion, a line on stderr says so and the value in `target` stays.
void measureMachine(TargetDescription &target);

/// Raises clock and peak to what they are now, measured for `seconds` each: the machine may have been busy
/// before. What is set beside them should be measured in turn with them.
void raiseRates(TargetDescription &target, double seconds);

} // namespace tokamak::tool
