//===- ErrorLine.cpp - the importer's one-line errors --------------------------------------===//
#include "import/ErrorLine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace tokamak::import {

std::string oneLine(llvm::StringRef text, size_t limit) {
  std::string line;
  for (char c : text.take_front(limit))
    line += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return text.size() > limit ? line + "..." : line;
}

llvm::Error errorLine(llvm::StringRef file, const llvm::Twine &where, const llvm::Twine &reason) {
  std::string place = where.str();
  std::string line = file.str() + ": " + (place.empty() ? "" : place + ": ") + reason.str();
  return llvm::make_error<llvm::StringError>(oneLine(line, 1200), llvm::inconvertibleErrorCode());
}

std::string nodePlace(llvm::StringRef name, llvm::StringRef opType) {
  return "node '" + oneLine(name, 120) + "' (" + oneLine(opType, 60) + ")";
}

std::string shapeText(llvm::ArrayRef<int64_t> shape, llvm::StringRef separator) {
  constexpr size_t most = 24;
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << '[';
  llvm::interleave(shape.take_front(most), stream, separator);
  if (shape.size() > most)
    stream << separator << "... " << shape.size() << " in all";
  stream << ']';
  return text;
}

} // namespace tokamak::import
