//===- ShippedRules.h - the rule files that are part of the product ---------------------------===//
// Made from rules/*.pdll when building (Rules.cmake).
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tokamak::rules {

struct ShippedRules {
  llvm::StringRef name; ///< of the file, without .pdll
  llvm::StringRef pdl;  ///< as MLIR text of the pdl dialect
};

llvm::ArrayRef<ShippedRules> shippedRules();
/// The declarations that stand in front of every rule file.
llvm::StringRef preludeText();

} // namespace tokamak::rules
