//===- Prediction.cpp - what the cost model expects of a program ----------------------------===//
#include "driver/Prediction.h"
#include "analysis/PostDominatorTree.h"
#include "analysis/Traffic.h"
#include "analysis/WaveMembers.h"
#include "codegen/anchors/Convolution.h"
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

/// Of a convolution as it is emitted: by minimal filtering where it is marked for it and `mayFilter`.
static double leastOperations(mlir::Operation *conv, bool mayFilter, const TargetDescription &target) {
  const auto plain = static_cast<double>(llvm::cast<tk::TrafficInterface>(conv).getFlops());
  auto shape = codegen::ConvolutionPlan::describe(conv, codegen::Layout{.block = target.lanes()}, target);
  if (!shape) {
    llvm::consumeError(shape.takeError());
    return plain;
  }
  if (!mayFilter)
    shape->winograd = 0;
  return 2 * codegen::multiplyAdds(*shape);
}

/// Operations that a step cannot do without: no taps on padding, and only the multiplications of minimal
/// filtering, where the kernel goes that way. That does none that computes bands for another anchor, or its
/// input.
static double leastOperations(mlir::Operation *step, const TargetDescription &target) {
  int64_t anchors = 0;
  step->walk([&](mlir::Operation *op) {
    anchors += op->getNumRegions() == 0 && analysis::kindOf(op) == FusionKind::Anchor;
  });
  double operations = 0;
  step->walk([&](mlir::Operation *op) {
    auto counted = llvm::dyn_cast<tk::TrafficInterface>(op);
    if (!counted || op->getNumRegions() > 0)
      return;
    if (llvm::isa<tk::ConvOp, tk::ConvTransposeOp>(op))
      operations += leastOperations(op, anchors == 1 && !op->getOperand(0).getDefiningOp(), target);
    else
      operations += static_cast<double>(std::max<int64_t>(counted.getFlops(), 0));
  });
  return operations;
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
        std::max(leastOperations(step.front(), target) / target.peakFlops, prediction.cost.memory);
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
