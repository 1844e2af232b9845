//===- CalibrateMachine.h - what this machine's cores, caches and threads reach ----------------===//
#pragma once
#include "analysis/TargetDescription.h"
#include <string>

namespace tokamak::tool {

/// Measures clock, arithmetic peak, bandwidths and the cost of a dispatch with the caller's thread, some
/// tenths of a second in all, and stores them in `target`, whose cache sizes say what to measure. The best of
/// many short runs counts, so that other work on the machine disturbs little; where it disturbs a dispatch
/// all the same, that stays as it was in `target`, and what the user is to be told is returned, else "".
std::string measureMachine(TargetDescription &target);

/// Raises clock and peak to what they are now, measured for `seconds` each: the machine may have been busy
/// before. What is set beside them should be measured in turn with them.
void raiseRates(TargetDescription &target, double seconds);

} // namespace tokamak::tool
