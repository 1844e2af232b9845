//===- Fault.cpp - whose fault an error is ------------------------------------------------===//
#include "driver/Fault.h"
#include "llvm/Support/raw_ostream.h"

namespace tokamak::driver {

char Fault::ID = 0;

void Fault::log(llvm::raw_ostream &os) const { os << message; }

std::error_code Fault::convertToErrorCode() const { return llvm::inconvertibleErrorCode(); }

llvm::Error inputFault(const llvm::Twine &message) {
  return llvm::make_error<Fault>(StatusCode::InvalidInput, oneLine(message.str()));
}

llvm::Error internalFault(const llvm::Twine &message) {
  return llvm::make_error<Fault>(StatusCode::Internal, oneLine(message.str()));
}

Status toStatus(llvm::Error error, StatusCode otherwise) {
  Status status;
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &info) {
    const auto *fault = info.isA<Fault>() ? static_cast<const Fault *>(&info) : nullptr;
    StatusCode code = fault ? fault->code : otherwise;
    if (status.ok() || code == StatusCode::Internal)
      status.code = code;
    if (!status.message.empty())
      status.message += "; ";
    status.message += oneLine(info.message());
  });
  return status;
}

std::string oneLine(llvm::StringRef text) {
  std::string line;
  llvm::StringRef rest = text.trim();
  while (!rest.empty()) {
    auto [head, tail] = rest.split('\n');
    if (!line.empty() && !head.trim().empty())
      line += "; ";
    line += head.trim();
    rest = tail;
  }
  return line;
}

} // namespace tokamak::driver
