//===- Identifier.cpp - C identifiers from any names --------------------------------------===//
#include "driver/Identifier.h"
#include "llvm/ADT/StringExtras.h"

namespace tokamak::driver {

/// Keywords of C17 and C++20, alternative tokens included, and macros that a header may define with such a
/// name.
static bool isReservedWord(llvm::StringRef word) {
  static const llvm::StringSet<> words = {"alignas",
                                          "alignof",
                                          "and",
                                          "and_eq",
                                          "asm",
                                          "auto",
                                          "bitand",
                                          "bitor",
                                          "bool",
                                          "break",
                                          "case",
                                          "catch",
                                          "char",
                                          "char16_t",
                                          "char32_t",
                                          "char8_t",
                                          "class",
                                          "co_await",
                                          "co_return",
                                          "co_yield",
                                          "compl",
                                          "concept",
                                          "const",
                                          "const_cast",
                                          "consteval",
                                          "constexpr",
                                          "constinit",
                                          "continue",
                                          "decltype",
                                          "default",
                                          "delete",
                                          "do",
                                          "double",
                                          "dynamic_cast",
                                          "else",
                                          "enum",
                                          "explicit",
                                          "export",
                                          "extern",
                                          "false",
                                          "float",
                                          "for",
                                          "friend",
                                          "goto",
                                          "if",
                                          "inline",
                                          "int",
                                          "long",
                                          "mutable",
                                          "namespace",
                                          "new",
                                          "noexcept",
                                          "not",
                                          "not_eq",
                                          "nullptr",
                                          "operator",
                                          "or",
                                          "or_eq",
                                          "private",
                                          "protected",
                                          "public",
                                          "register",
                                          "reinterpret_cast",
                                          "requires",
                                          "restrict",
                                          "return",
                                          "short",
                                          "signed",
                                          "sizeof",
                                          "static",
                                          "static_assert",
                                          "static_cast",
                                          "struct",
                                          "switch",
                                          "template",
                                          "this",
                                          "thread_local",
                                          "throw",
                                          "true",
                                          "try",
                                          "typedef",
                                          "typeid",
                                          "typename",
                                          "typeof",
                                          "typeof_unqual",
                                          "union",
                                          "unsigned",
                                          "using",
                                          "virtual",
                                          "void",
                                          "volatile",
                                          "wchar_t",
                                          "while",
                                          "xor",
                                          "xor_eq",
                                          "NULL",
                                          "linux",
                                          "unix",
                                          "i386",
                                          "final",
                                          "override",
                                          "main"};
  return words.contains(word);
}

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
  for (int i = 2; !taken.insert(candidate).second; ++i)
    candidate = base + "_" + std::to_string(i);
  return candidate;
}

} // namespace tokamak::driver
