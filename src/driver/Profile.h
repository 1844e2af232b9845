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

  void add(size_t symbol, int64_t start, int64_t end);

  /// One call on one thread; times of the steady clock.
  struct Event {
    size_t symbol;
    int thread; ///< counted from 0, in the order in which threads called
    int64_t start, end;
  };
  /// The calls since the last reset, in the order in which they ended; the first 2^16 of them. Not while one
  /// runs.
  llvm::ArrayRef<Event> events() const;

private:
  std::vector<std::string> names;
  std::vector<bool> isLibrary;
  std::unique_ptr<std::atomic<int64_t>[]> counters;
  std::vector<Event> calls;
  std::atomic<size_t> called = 0;
};

} // namespace tokamak::driver
