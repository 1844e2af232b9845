//===- Identifier.cpp - C identifiers from any names --------------------------------------===//
#include "driver/Identifier.h"
#include "driver/ReservedWords.h"
#include "llvm/ADT/StringExtras.h"

namespace tokamak::driver {

std::string identifierFor(llvm::StringRef name) {
  std::string result;
  for (char c : name)
    result += llvm::isAlnum(c) ? c : '_';
  // A leading underscore before a capital or a second underscore is reserved, and one before a small letter
  // is at file scope; "x" in front avoids both. "_1" is reserved at file scope only, where these names never
  // stand alone.
  if (result.empty())
    result = "value";
  if (llvm::isDigit(result[0]))
    result = "_" + result;
  if (result.size() > 1 && result[0] == '_' && !llvm::isDigit(result[1]))
    result = "x" + result;
  if (result == "_" || isReservedWord(result))
    result += result == "_" ? "1" : "_";
  return result;
}

std::string Identifiers::unique(llvm::StringRef name) {
  std::string base = identifierFor(name);
  std::string candidate = base;
  // The number may make a name that is reserved: M_SQRT1 and M_SQRT1_2.
  for (int i = 2; !taken.insert(candidate).second; ++i)
    candidate = identifierFor(base + "_" + std::to_string(i));
  return candidate;
}

} // namespace tokamak::driver
