//===- Reproducer.h - a file that repeats a fault of ours ---------------------------------===//
#pragma once
#include "driver/Pipeline.h"

namespace tokamak::driver {

/// Writes `module` (the graph as imported) and the options to DIRECTORY/tokamak-crash-*.mlir, which
/// tokamak-opt reads. Weights beyond 16 MiB in all are left out. Returns the path; empty if it cannot be
/// written.
std::string writeReproducer(mlir::ModuleOp module, const CompileOptions &options, llvm::StringRef fault);

/// Runs `body` and returns true; where it crashes or asserts, returns false instead of ending the process.
/// Only for a process that ends soon afterwards: what the crash left half done stays so.
bool runContained(llvm::function_ref<void()> body);

} // namespace tokamak::driver
