//===- Fault.h - whose fault an error is --------------------------------------------------===//
// Inside the driver errors are llvm::Error; at the public interface they become a Status. The difference that
// must survive on the way: is the user's input at fault, or are we.
#pragma once
#include "tokamak/Session.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

namespace tokamak::driver {

class Fault : public llvm::ErrorInfo<Fault> {
public:
  static char ID;
  Fault(StatusCode code, std::string message) : code(code), message(std::move(message)) {}
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;

  StatusCode code;
  std::string message; ///< one line
};

/// The user's input is at fault: exit status 1.
llvm::Error inputFault(const llvm::Twine &message);
/// We are at fault: exit status 3.
llvm::Error internalFault(const llvm::Twine &message);
/// Any error as a status; errors that are no Fault count as `otherwise`. Joins several into one line.
Status toStatus(llvm::Error error, StatusCode otherwise = StatusCode::InvalidInput);
/// `text` without line breaks at its end, inner ones as "; ".
std::string oneLine(llvm::StringRef text);

} // namespace tokamak::driver
