//===- WriteText.cpp - text to a file or to standard output --------------------------------------===//
#include "WriteText.h"
#include "llvm/Support/raw_ostream.h"

namespace tokamak::tool {

Status writeText(const std::string &path, const std::string &text) {
  std::error_code code;
  llvm::raw_fd_ostream os(path.empty() ? "-" : path, code);
  if (!code) {
    os << text;
    os.flush();
    code = os.error();
    os.clear_error();
  }
  if (code)
    return {StatusCode::InvalidInput,
            "cannot write " + (path.empty() ? "standard output" : "'" + path + "'") + ": " + code.message()};
  return {};
}

} // namespace tokamak::tool
