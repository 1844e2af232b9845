//===- TargetDescription.h - the machine that code is emitted for -----------------------===//
#pragma once
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace tokamak {

/// Vector length, registers and caches: whatever depends on the machine reads it here, never from a literal.
struct TargetDescription {
  std::string cpu;      ///< as LLVM names it ("znver4", "x86-64-v3")
  std::string features; ///< LLVM feature string, "+avx512f,..."
  int64_t vectorBytes = 32;
  int64_t vectorRegisters = 16;
  bool hasMaskRegisters = false; ///< AVX-512 predication: masked loads and stores cost nothing extra
  int64_t l1Bytes = 32 << 10, l2Bytes = 1 << 20, l3Bytes = 16 << 20;

  /// Lanes of a float32 vector; the channel block of blocked layouts.
  int64_t lanes() const { return vectorBytes / 4; }

  /// "native" or an x86-64 CPU name LLVM knows with at least AVX2 and FMA; an error otherwise.
  static llvm::Expected<TargetDescription> forCpu(const std::string &cpu);
};

} // namespace tokamak
