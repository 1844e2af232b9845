//===- TargetDescription.h - the machine that code is emitted for -----------------------===//
#pragma once
#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>
#include <string>

namespace tokamak {

/// Where data comes from, nearest first.
enum class MemoryLevel { L1, L2, L3, Memory };
inline constexpr size_t memoryLevels = 4;

/// What share of the machine's rate the kernels of a family reach on large shapes: of the multiply-add peak
/// for anchors, of the modelled instruction rate for the others. `tokamak calibrate` measures it.
struct KernelEfficiency {
  double denseConvolution = 0.85;     ///< kernels of several taps that sum over channels
  double pointwiseConvolution = 0.85; ///< one tap
  double groupedConvolution = 0.35;   ///< groups within one vector, depthwise among them
  double matmul = 0.80;
  double window = 0.30;
  double elementwise = 0.60;
  double reduction = 0.50;
};

/// Vector length, registers, caches and speeds: whatever depends on the machine reads it here, never from a
/// literal.
struct TargetDescription {
  std::string cpu; ///< as LLVM names it ("znver4", "x86-64-v3")
  /// LLVM feature string, "+avx512f,...". Without the dot products of bytes: LLVM 19 makes one (vpdpbusd) of
  /// a sum of 16 products of extended bytes or bits in one vector, and adds the first four only.
  std::string features;
  std::string source = "defaults"; ///< where sizes and speeds come from: a file, or "defaults"
  int64_t vectorBytes = 32;
  int64_t vectorRegisters = 16;
  bool hasMaskRegisters = false; ///< AVX-512 predication: masked loads and stores cost nothing extra
  int64_t l1Bytes = 32 << 10, l2Bytes = 1 << 20, l3Bytes = 16 << 20; ///< l3: the share that one run may use

  // Speeds, for the cost model; code generation does not depend on them.
  int64_t cores = 4;
  double clockHz = 3e9;
  double peakFlops = 96e9; ///< float32 multiply-adds of one core, a second, each counted as two
  /// Bytes a second that one core reads from each level.
  std::array<double, memoryLevels> bandwidth = {150e9, 80e9, 40e9, 12e9};
  double sharedMemoryBandwidth = 24e9; ///< bytes a second that all cores together read from memory
  double dispatchSeconds = 2e-6;       ///< handing tasks to the other threads, and joining them
  double callSeconds = 1e-7;           ///< calling a kernel on the calling thread
  KernelEfficiency efficiency;

  /// Lanes of a float32 vector; the channel block of blocked layouts.
  int64_t lanes() const { return vectorBytes / 4; }
  /// Bytes that a level holds; of memory more than any program needs.
  int64_t capacity(MemoryLevel level) const;

  /// "native" or an x86-64 CPU name LLVM knows with at least AVX2 and FMA; an error otherwise.
  static llvm::Expected<TargetDescription> forCpu(const std::string &cpu);
  /// This machine, or the defaults where code cannot be emitted for it.
  static TargetDescription host();
  /// A machine with AVX-512 and default caches, whatever this one is.
  static TargetDescription reference();
};

} // namespace tokamak
