//===- ApproximateMath.h - functions of float32 as polynomials ------------------------------------------===//
#pragma once
#include "analysis/TargetDescription.h"
#include "mlir/Pass/Pass.h"

namespace tokamak::codegen {

/// Rewrites the math dialect's functions of float32, scalars and vectors, into arithmetic: MLIR's
/// polynomials, and our own where those leave the function on part of its domain (sine and cosine of large
/// arguments, logarithms of subnormal numbers) or take twice as long as need be (exponentials and error
/// functions where there is an instruction that scales by powers of two). What has no polynomial stays for
/// libm.
std::unique_ptr<mlir::Pass> createApproximateMathPass(const TargetDescription &target);

} // namespace tokamak::codegen
