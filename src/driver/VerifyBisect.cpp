//===- VerifyBisect.cpp - the first rewrite or merge that breaks a model -----------------------===//
#include "driver/VerifyBisect.h"
#include "driver/Fault.h"

namespace tokamak::driver {

/// The rule in "apply-rules (RULE) at NODE (TYPE)"; empty for another application.
static std::string ruleIn(llvm::StringRef application) {
  return application.consume_front("apply-rules (") ? application.split(") at ").first.str() : "";
}

/// Empty, or what is wrong after so many applications; the user's faults are errors.
static llvm::Expected<std::string> faultAt(Verifier &verifier, int64_t fuel, bool kernels) {
  llvm::Expected<Verification> result = verifier.run(fuel, kernels);
  if (result)
    return result->firstFault();
  Status status = toStatus(result.takeError());
  if (status.code != StatusCode::Internal)
    return llvm::make_error<Fault>(status.code, status.message);
  return status.message;
}

llvm::Expected<Bisection> bisect(Verifier &verifier, int64_t applications, bool kernels,
                                 llvm::function_ref<void(int64_t good, int64_t bad)> onRun) {
  Bisection result;
  result.applications = applications;
  int64_t good = -1, bad = applications + 1; // not known yet at either end
  while (good + 1 < bad) {
    onRun(std::max<int64_t>(good, 0), std::min(bad, applications));
    // The ends first: with all applications it must be wrong, and with none it may be.
    int64_t at = bad > applications ? applications : good < 0 ? 0 : good + (bad - good) / 2;
    ++result.runs;
    auto fault = faultAt(verifier, at, kernels);
    if (!fault)
      return fault.takeError();
    if (fault->empty()) {
      good = at;
      continue;
    }
    bad = at;
    result.fault = *fault;
    result.application = at > 0 ? verifier.lastApplied() : "";
  }
  result.first = bad;
  result.rule = ruleIn(result.application);
  return result;
}

} // namespace tokamak::driver
