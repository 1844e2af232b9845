//===- VerifyBisect.h - the first rewrite or merge that breaks a model -------------------------===//
#pragma once
#include "driver/Verify.h"

namespace tokamak::driver {

struct Bisection {
  int64_t applications = 0; ///< of all passes together
  /// The model is right with first - 1 applications and wrong with `first`. 0: it is wrong without any;
  /// beyond `applications`: it was right with all of them this time.
  int64_t first = 0;
  std::string application; ///< see Verifier::lastApplied
  std::string rule;        ///< "NAME of FILE" where `application` is that of a user's rule
  std::string fault;       ///< what it breaks, in one line
  int64_t runs = 0;
};

/// Halves the number of applications of a model that is wrong with all of them. `kernels`: a wrong kernel
/// counts, else wrong outputs only. A fault of ours while compiling counts as wrong as well. `onRun` is told
/// the bounds that are left.
llvm::Expected<Bisection> bisect(Verifier &verifier, int64_t applications, bool kernels,
                                 llvm::function_ref<void(int64_t good, int64_t bad)> onRun);

} // namespace tokamak::driver
