//===- Prediction.cpp - what the cost model expects of a program ----------------------------===//
#include "driver/Prediction.h"
#include "analysis/Traffic.h"
#include "analysis/WaveMembers.h"
#include "fusion/WaveTime.h"
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
  size_t wave = 0, left = 0; // steps of the wave in hand that are still to come
  for (auto [step, cost] : llvm::zip_equal(steps, costs)) {
    if (left == 0) {
      left = analysis::waveFrom(step.front()).size();
      wave = predictions.empty() ? 0 : predictions.back().wave + 1;
    }
    --left;
    Prediction &prediction = predictions.emplace_back();
    prediction.wave = wave;
    prediction.calls = analysis::timesRun(step.front());
    prediction.cost = std::move(cost);
    prediction.boundSeconds =
        std::max(static_cast<double>(prediction.cost.flops) / target.peakFlops, prediction.cost.memory);
  }
  return predictions;
}

double predictedSeconds(llvm::ArrayRef<Prediction> steps, const TargetDescription &target, int64_t threads) {
  double seconds = 0;
  while (!steps.empty()) {
    auto rest = steps.drop_while([&](const Prediction &step) { return step.wave == steps.front().wave; });
    auto wave = steps.drop_back(rest.size());
    const auto calls = static_cast<double>(wave.front().calls);
    if (wave.size() == 1)
      seconds += calls * wave.front().cost.seconds();
    else
      seconds +=
          calls *
          fusion::waveSeconds(
              llvm::map_to_vector(wave, [](const Prediction &step) { return fusion::WaveWork(step.cost); }),
              target, threads > 0 ? threads : target.cores);
    steps = rest;
  }
  return seconds;
}

} // namespace tokamak::driver
