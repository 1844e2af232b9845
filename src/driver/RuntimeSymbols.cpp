//===- RuntimeSymbols.cpp - the runtime library's functions by name -----------------------===//
#include "driver/RuntimeSymbols.h"
#include "runtime/Abi.h"
#include "runtime/Library.h"

namespace tokamak::driver {

llvm::ArrayRef<std::pair<const char *, void *>> runtimeSymbols() {
#define TOKAMAK_SYMBOL(function) {#function, reinterpret_cast<void *>(&function)},
  static const std::pair<const char *, void *> symbols[] = {
      TOKAMAK_SYMBOL(tk_parallel_for) TOKAMAK_SYMBOL(tk_parallel_wave) TK_LIBRARY_FUNCTIONS(TOKAMAK_SYMBOL)};
#undef TOKAMAK_SYMBOL
  return symbols;
}

} // namespace tokamak::driver
