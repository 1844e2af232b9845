//===- Prediction.cpp - what the cost model expects of a program ----------------------------===//
#include "driver/Prediction.h"
#include "analysis/Traffic.h"
#include "ir/Tk.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <algorithm>

namespace tokamak::driver {

/// Groups and library calls, in order.
static std::vector<fusion::CostModel::Members> stepsOf(mlir::func::FuncOp program) {
  std::vector<fusion::CostModel::Members> steps;
  program.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *op) {
    if (llvm::isa<tk::FusionOp, tk::LibraryCallInterface>(op) && !analysis::isFree(op))
      steps.push_back({op});
    return llvm::isa<tk::FusionOp, tk::CompositeOp>(op) ? mlir::WalkResult::skip()
                                                        : mlir::WalkResult::advance();
  });
  return steps;
}

std::vector<Prediction> predictSteps(mlir::ModuleOp module, const TargetDescription &target,
                                     int64_t threads) {
  std::vector<Prediction> predictions;
  auto steps = stepsOf(module.lookupSymbol<mlir::func::FuncOp>("main"));
  std::vector<fusion::GroupCost> costs = fusion::CostModel(target, threads).program(steps);
  for (auto [step, cost] : llvm::zip_equal(steps, costs)) {
    Prediction &prediction = predictions.emplace_back();
    prediction.calls = analysis::timesRun(step.front());
    prediction.cost = std::move(cost);
    prediction.boundSeconds =
        std::max(static_cast<double>(prediction.cost.flops) / target.peakFlops, prediction.cost.memory);
  }
  return predictions;
}

} // namespace tokamak::driver
