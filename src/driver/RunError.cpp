//===- RunError.cpp - what the code that a program returns means ---------------------------===//
#include "driver/RunError.h"
#include "driver/Fault.h"
#include "runtime/Abi.h"

namespace tokamak::driver {

std::string runError(llvm::ArrayRef<std::string> faultPlaces, int code) {
  const auto number = static_cast<size_t>(code >> TK_FAULT_BITS); // counted from 1
  std::string place = number - 1 < faultPlaces.size() ? faultPlaces[number - 1] : "";
  return oneLine((place.empty() ? "running the model" : place) + ": " + tk_library_error(code));
}

} // namespace tokamak::driver
