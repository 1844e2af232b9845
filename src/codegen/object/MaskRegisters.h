//===- MaskRegisters.h - masked accesses of targets without mask registers ------------------------------===//
#pragma once
#include "mlir/Pass/Pass.h"

namespace tokamak::codegen {

/// For targets with AVX2 but no mask registers: loads and stores of 32- and 64-bit elements under masks that
/// are not constant become the instructions that AVX2 has for them, register by register.
///
/// LLVM 19 makes the same of them, but where half of a mask turns out to be false (the lanes of a padded row,
/// of 64-bit elements), it loads that half without a mask, so behind the buffer, or stops with "Invalid size
/// request on a scalable vector".
///
/// Stores of a constant number of first lanes (the end of a ragged row), of any element type, become stores
/// of parts: some processors take as long for a masked one as for a dozen others (Zen 3: a depthwise
/// convolution of 14x14 images took 96 us, and takes 35).
std::unique_ptr<mlir::Pass> createMaskRegistersPass();

} // namespace tokamak::codegen
