//===- CostTest.h - graphs with their element expressions, and a machine ------------------------------===//
#pragma once
#include "analysis/GraphTest.h"
#include "analysis/TargetDescription.h"
#include "codegen/expression/Register.h"

namespace tokamak {

class CostTest : public GraphTest {
protected:
  CostTest() {
    mlir::DialectRegistry registry;
    codegen::registerExpressionModels(registry);
    context.appendDialectRegistry(registry);
  }

  /// A machine with all its numbers given, so that what is expected does not depend on where the test runs.
  static TargetDescription machine() {
    TargetDescription target = llvm::cantFail(TargetDescription::forCpu("x86-64-v4"));
    target.l1Bytes = 32 << 10, target.l2Bytes = 1 << 20, target.l3Bytes = 16 << 20;
    target.cores = 2;
    target.clockHz = 3e9;
    target.peakFlops = 192e9;
    target.bandwidth = {300e9, 100e9, 50e9, 12e9};
    target.sharedMemoryBandwidth = 20e9;
    return target;
  }
};

} // namespace tokamak
