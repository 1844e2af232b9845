//===- Prediction.h - what the cost model expects of a program ------------------------------===//
#pragma once
#include "fusion/CostModel.h"
#include "mlir/IR/BuiltinOps.h"

namespace tokamak::driver {

/// One kernel or library call of a partitioned module: what `codegen::ProgramStep` is in the program.
struct Prediction {
  fusion::GroupCost cost; ///< of one call
  size_t wave = 0;        ///< number of its dispatch: steps that run at the same time share one
  int64_t calls = 1;      ///< in one run, as far as the trips of loops are known
  /// Of one call on one core: arithmetic at its peak, bytes at the bandwidths of their levels. Convolutions
  /// by minimal filtering count their own multiplications, all others those of taps that lie inside.
  double boundSeconds = 0;
};

/// The steps of `module` in the order of its program. `threads`: 0 for one a core.
std::vector<Prediction> predictSteps(mlir::ModuleOp module, const TargetDescription &target, int64_t threads);

/// Seconds of one run of all steps, waves in one dispatch each.
double predictedSeconds(llvm::ArrayRef<Prediction> steps, const TargetDescription &target, int64_t threads);

} // namespace tokamak::driver
