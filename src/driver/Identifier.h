//===- Identifier.h - C identifiers from any names ----------------------------------------===//
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include <string>

namespace tokamak::driver {

/// Hands out identifiers that are valid in C and C++, keep what they can of the name asked for, and are
/// distinct from each other: "a.b", "a_b" and "a/b" become a_b, a_b_2 and a_b_3; "int" becomes int_, "1"
/// becomes _1.
class Identifiers {
public:
  std::string unique(llvm::StringRef name);
  /// Marks an identifier as taken.
  void reserve(llvm::StringRef identifier) { taken.insert(identifier); }

private:
  llvm::StringSet<> taken;
};

/// The identifier for one name, without regard to others: ASCII letters, digits and underscores, no keyword
/// of C or C++, no type or macro of the C library (INT8_MAX becomes INT8_MAX_), no name that the C standard
/// reserves, not empty.
std::string identifierFor(llvm::StringRef name);

} // namespace tokamak::driver
