//===- KernelEstimate.h - what kernel a group would become ------------------------------------------===//
// Partitioners ask the emitter itself, so what they promise can be emitted.
#pragma once
#include "analysis/TargetDescription.h"
#include "ir/Tk.h"
#include <optional>
#include <string>
#include <vector>

namespace tokamak::codegen {

/// Of an anchor among several in one kernel.
struct ChainedAnchor {
  double repeats = 1;      ///< how often an element of its result is computed, on average
  double inputRepeats = 1; ///< and one of its first operand, where that is computed as well
  double weightPasses = 1; ///< how often its weights are read
  /// How often an element of its second operand is computed, where that is; nothing: as one of the first.
  std::optional<double> weightRepeats = std::nullopt;
  bool startsAnew = true; ///< its loops start in each task besides those of another anchor
};

struct KernelEstimate {
  std::string kind; ///< as in EmittedKernel
  int64_t tasks = 0;
  int64_t scratchBytes = 0;
  /// Loop nests over results and values kept in scratch: what two of them share, each computes for itself,
  /// unless it is dear and row by row.
  int64_t nests = 1;
  /// Vectors loaded and stored, irregular ones counted by lane: by kernels of kinds "pointwise" and
  /// "reduction", and for the operands that an anchor has computed.
  double accesses = 0;
  bool computesInput = false; ///< of a convolution: its tasks compute what they read
  /// How often an element of an operand that an anchor has computed in its tasks is, on average.
  double repeats = 1;
  /// Where several anchors compute each other's operands: all of them, in block order.
  std::vector<ChainedAnchor> anchors;

  /// Whether a register-tiled convolution or matrix product does the work.
  bool isTiled() const { return kind == "convolution" || kind == "matmul"; }
};

/// Of a group in a module or function. Values that convolutions read count as channel-blocked where they can
/// be; others as row-major.
KernelEstimate estimateKernel(tk::FusionOp group, const TargetDescription &target);

} // namespace tokamak::codegen
