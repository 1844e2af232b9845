//===- Jit.h - relocatable objects as code that can be called ----------------------------===//
#pragma once
#include "driver/Profile.h"
#include "runtime/Abi.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace llvm::orc {
class LLJIT;
}

namespace tokamak::driver {

/// Loaded machine code; the code lives as long as this does.
class Jit {
public:
  using Symbol = std::pair<std::string, void *>;

  /// Links `objects` (x86-64 ELF) with the runtime library, libm and libc of this process and looks up
  /// `entry`. With a profile, which must live as long, the object that defines `entry` calls the others
  /// through its stubs. `more`: symbols that the objects may use besides.
  static llvm::Expected<std::unique_ptr<Jit>> load(llvm::ArrayRef<std::string> objects, llvm::StringRef entry,
                                                   const Profile *profile = nullptr,
                                                   llvm::ArrayRef<Symbol> more = {});
  ~Jit();
  TkProgramFn entry() const { return function; }

private:
  Jit();
  std::unique_ptr<llvm::orc::LLJIT> jit;
  TkProgramFn function = nullptr;
};

} // namespace tokamak::driver
