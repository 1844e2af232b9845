//===- ReservedWords.h - names that C and C++ programs may not choose ----------------------===//
#pragma once
#include "llvm/ADT/StringRef.h"

namespace tokamak::driver {

/// Whether C or C++, or a header of the C library, gives the identifier a meaning that a declaration must not
/// meet: keywords, types and macros. Functions may be hidden by parameters, so their names are free.
bool isReservedWord(llvm::StringRef word);

} // namespace tokamak::driver
