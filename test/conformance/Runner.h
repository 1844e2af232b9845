//===- Runner.h - runs conformance cases and keeps the list of the refused -----------------===//
#pragma once
#include "TestCase.h"
#include <functional>

namespace tokamak::conformance {

struct Outcome {
  enum Kind { Passed, Refused, Failed } kind;
  std::string detail; ///< the reason of a refusal, or what is wrong

  static Outcome passed() { return {Passed, ""}; }
  static Outcome refused(std::string reason) { return {Refused, std::move(reason)}; }
  static Outcome failed(std::string what) { return {Failed, std::move(what)}; }
};

/// The main function of a conformance program: NAME [--refused FILE [--update]] [--filter TEXT] [--list]
/// FOLDER... Each case runs in a process of its own with a time limit, so that a crash or a hang is one
/// failed case. Prints the failed cases and the counts. Returns 1 where a case failed, was refused without
/// being on the list, or is on the list but was not refused; --update writes the list instead.
int runConformance(int argc, char **argv, const std::function<Outcome(const TestCase &)> &run);

} // namespace tokamak::conformance
