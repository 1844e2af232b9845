//===- Sameness.h - does a rule keep the function -----------------------------------------------===//
#pragma once
#include "rewrite/rules/Replacement.h"

namespace tokamak::rules {

/// Evaluates a match and its replacement on random inputs and fails where they differ. Inputs are what the
/// match reads from outside, constants with their values; random are normal numbers, small integers, numbers
/// around the constants and far from them (see Surroundings) and, unless the rule assumes finite values,
/// infinities, NaN, both zeros, the largest and the smallest numbers, integers too. Results are equal, zeros
/// in their sign too, NaN where NaN was; or, for a rule with a tolerance, |new - old| <= tolerance * max(1,
/// max |old|), whatever the sign of zeros. Around constants and far from them each element has a scale of its
/// own where none is computed from several, and a difference counts that is neither rounding which the rule
/// allows for nor overflow.
llvm::Error checkSameness(const Rule &rule, const Match &match, const Replacement &replacement);

/// Equal for two matches of a rule of which one need not be checked after the other: operators, their
/// attributes and types, which of their operands are the same value, and the values of constants are equal.
std::string signatureOf(const Match &match);

} // namespace tokamak::rules
