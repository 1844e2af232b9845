//===- Sameness.h - does a rule keep the function -----------------------------------------------===//
#pragma once
#include "rewrite/rules/Replacement.h"

namespace tokamak::rules {

/// Evaluates a match and its replacement on random inputs and fails where they differ. Inputs are what the
/// match reads from outside, constants with their values; random are normal numbers, small integers and,
/// unless the rule assumes finite values, infinities, NaN, both zeros, the largest and the smallest numbers.
/// Results agree where |new - old| <= tolerance * max(1, max |old|), and where NaN and infinities, if tried,
/// stand in the same places.
llvm::Error checkSameness(const Rule &rule, const Match &match, const Replacement &replacement);

/// Equal for two matches of a rule of which one need not be checked after the other: operators, their
/// attributes and types, and the values of short constants are equal.
std::string signatureOf(const Match &match);

} // namespace tokamak::rules
