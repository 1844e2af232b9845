//===- VerifyReport.h - what a verification found, as text and as JSON -------------------------===//
#pragma once
#include "driver/VerifyBisect.h"

namespace tokamak::tool {

struct VerifyReport {
  std::string model, fusion;
  std::optional<driver::Verification> verification; ///< nothing where the model did not compile
  std::optional<driver::Bisection> bisection;
};

std::string verifyText(const VerifyReport &report);
std::string verifyJson(const VerifyReport &report);

} // namespace tokamak::tool
