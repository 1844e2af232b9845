//===- RuntimeSymbols.h - the runtime library's functions by name -------------------------===//
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include <utility>

namespace tokamak::driver {

/// Everything that compiled objects may call besides libc and libm. A table, because functions that are
/// linked statically into an executable are not in its dynamic symbol table.
llvm::ArrayRef<std::pair<const char *, void *>> runtimeSymbols();

} // namespace tokamak::driver
