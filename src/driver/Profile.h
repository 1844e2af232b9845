//===- Profile.h - how long each kernel takes ---------------------------------------------------===//
// The host program calls kernels and library functions by their symbols. For a profile the linker resolves
// those to stubs that measure and call the real ones, so the code that is measured is the code that runs
// otherwise.
#pragma once
#include "codegen/Program.h"
#include <atomic>
#include <map>
#include <memory>

namespace tokamak::driver {

/// Time spent in each symbol that steps of a program call; added up over threads, which may write at the same
/// time.
class Profile {
public:
  explicit Profile(llvm::ArrayRef<codegen::ProgramStep> steps);

  /// The symbols, each once; a stub names one by its index here.
  const std::vector<std::string> &symbols() const { return names; }
  int64_t nanoseconds(size_t symbol) const { return counters[symbol].load(std::memory_order_relaxed); }
  void reset();

  /// LLVM assembly of stubs for all symbols, which call "real.SYMBOL", tk_profile_now and tk_profile_add.
  std::string stubs() const;
  /// Addresses for the names in `stubs`.
  static std::map<std::string, void *> functions();

  void add(size_t symbol, int64_t nanoseconds) {
    counters[symbol].fetch_add(nanoseconds, std::memory_order_relaxed);
  }

private:
  std::vector<std::string> names;
  std::vector<bool> isLibrary;
  std::unique_ptr<std::atomic<int64_t>[]> counters;
};

} // namespace tokamak::driver
