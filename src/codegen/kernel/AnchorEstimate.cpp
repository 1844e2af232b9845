//===- AnchorEstimate.cpp - what kernel an anchor gets -------------------------------------------===//
#include "codegen/kernel/AnchorEstimate.h"
#include "codegen/anchors/Convolution.h"
#include "codegen/anchors/RegisterTile.h"
#include "codegen/anchors/WinogradChoice.h"
#include "ir/Tk.h"
#include "llvm/ADT/TypeSwitch.h"
#include <algorithm>
#include <cmath>
#include <numeric>

namespace tokamak::codegen {

using namespace mlir;

namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Tasks as the anchors cut them: a few dozen where each is worth its dispatch, at least one a tile of the
/// vector axis.
int64_t tasksOf(int64_t tiles, double flops, int64_t bandsAtMost) {
  constexpr double wantedTasks = 32, flopsPerTask = 1e6;
  const auto planes = static_cast<double>(std::max<int64_t>(tiles, 1));
  double bands = std::min(std::ceil(wantedTasks / planes), std::floor(flops / planes / flopsPerTask));
  return std::max<int64_t>(tiles, 1) *
         static_cast<int64_t>(std::clamp(bands, 1.0, static_cast<double>(std::max<int64_t>(bandsAtMost, 1))));
}

double flopsOf(Operation *op) {
  return static_cast<double>(std::max<int64_t>(cast<tk::TrafficInterface>(op).getFlops(), 0));
}

/// Of a register tile over `problem`, with `lastLanes` of the last vector's lanes in use.
void fill(AnchorEstimate &estimate, const TileProblem &problem, int64_t used,
          const TargetDescription &target) {
  RegisterTile tile = chooseTile(problem, target);
  estimate.accumulators = tile.positions() * tile.vectors;
  estimate.vectorTiles = ceilDiv(problem.vectors, tile.vectors);
  estimate.positionTiles = ceilDiv(problem.rows, tile.rows) * ceilDiv(problem.columns, tile.columns);
  const double issued = static_cast<double>(estimate.accumulators) / 2; // two multiply-adds a cycle
  estimate.filled = issued / stepCycles(tile.positions(), tile.vectors, target) * static_cast<double>(used) /
                    static_cast<double>(problem.vectors * target.lanes());
}

/// Of a convolution that is marked for minimal filtering.
void estimateFiltering(AnchorEstimate &estimate, Operation *op, const TargetDescription &target) {
  auto conv = dyn_cast<tk::ConvOp>(op);
  if (!conv || !conv.getWinograd())
    return;
  auto shape = ConvolutionPlan::describe(op, Layout{.block = target.lanes()}, target);
  if (!shape) {
    llvm::consumeError(shape.takeError());
    return;
  }
  estimate.filteringGain = modelledSeconds(*shape, 0, WeightSource::Cache, target) /
                           modelledSeconds(*shape, shape->winograd, WeightSource::Cache, target);
  if (auto traffic = filteringTraffic(*shape, shape->winograd, target))
    estimate.filtering = *traffic;
  else
    llvm::consumeError(traffic.takeError());
}

template <typename Op>
AnchorEstimate convolution(Op op, bool constantWeight, const TargetDescription &target) {
  AnchorEstimate estimate;
  RankedTensorType weight = tk::tensorType(op.getWeight()), result = op.getType();
  auto spatial = result.getShape().drop_front(2);
  if (!constantWeight || !result.getElementType().isF32() || spatial.empty() || spatial.size() > 3 ||
      result.getNumElements() == 0)
    return estimate;
  const int64_t group = op.getGroup(), perGroup = result.getDimSize(1) / group;
  const int64_t taps = std::accumulate(weight.getShape().begin() + 2, weight.getShape().end(), int64_t(1),
                                       std::multiplies<>());
  const int64_t rows = spatial.size() > 1 ? spatial[spatial.size() - 2] : 1;
  int64_t vectors = ceilDiv(perGroup, target.lanes());
  if (group > 1 && perGroup <= target.lanes() && perGroup != target.lanes()) {
    estimate.family = AnchorFamily::GroupedConvolution;
    vectors = ceilDiv(result.getDimSize(1), target.lanes());
    estimate.filled =
        static_cast<double>(result.getDimSize(1)) / static_cast<double>(vectors * target.lanes());
    estimate.accumulators = std::min<int64_t>(14, spatial.back());
    estimate.tasks = tasksOf(result.getDimSize(0) * vectors, flopsOf(op), rows);
    return estimate;
  }
  estimate.family = taps == 1 ? AnchorFamily::PointwiseConvolution : AnchorFamily::DenseConvolution;
  TileProblem problem;
  problem.rows = problem.maxRows = rows;
  problem.columns = spatial.back();
  problem.vectors = vectors;
  problem.vectorsMustDivide = group > 1;
  fill(estimate, problem, perGroup, target);
  estimateFiltering(estimate, op, target);
  estimate.tasks = tasksOf(result.getDimSize(0) * group * ceilDiv(vectors, 2), flopsOf(op), rows);
  return estimate;
}

AnchorEstimate product(tk::MatMulOp op, const TargetDescription &target) {
  AnchorEstimate estimate;
  RankedTensorType result = op.getType();
  if (!result.getElementType().isF32() || result.getNumElements() == 0)
    return estimate;
  estimate.family = AnchorFamily::MatMul;
  const int64_t n = result.getShape().back(), m = result.getShape().end()[-2];
  const int64_t batch = result.getNumElements() / (m * n);
  // Batches of the left operand against one right operand are rows of one product.
  const bool folds = tk::tensorType(op.getRhs()).getRank() == 2 && !op.getTransposeLhs();
  TileProblem problem;
  problem.columns = folds ? batch * m : m;
  problem.vectors = ceilDiv(n, target.lanes());
  fill(estimate, problem, n, target);
  estimate.tasks = tasksOf((folds ? 1 : batch) * ceilDiv(problem.vectors, 2), flopsOf(op), problem.columns);
  return estimate;
}

AnchorEstimate window(tk::WindowOp op, const TargetDescription &target) {
  AnchorEstimate estimate;
  RankedTensorType result = op.getType();
  estimate.family = AnchorFamily::Window;
  const int64_t channels = result.getRank() > 1 ? result.getDimSize(1) : 1;
  // Between convolutions lanes run over channels; where there are few, over columns, with strided loads.
  const int64_t vectors = ceilDiv(std::max<int64_t>(channels, 1), target.lanes());
  if (channels * 2 >= target.lanes())
    estimate.filled = static_cast<double>(channels) / static_cast<double>(vectors * target.lanes());
  else if (llvm::any_of(op.getStrides(), [](int64_t stride) { return stride != 1; }))
    estimate.filled = 1.0 / static_cast<double>(target.lanes());
  constexpr int64_t taskElements = 4096;
  estimate.tasks = std::max<int64_t>(1, result.getNumElements() / taskElements);
  return estimate;
}

} // namespace

AnchorEstimate estimateAnchor(Operation *op, bool constantWeight, const TargetDescription &target) {
  return llvm::TypeSwitch<Operation *, AnchorEstimate>(op)
      .Case<tk::ConvOp, tk::ConvTransposeOp>(
          [&](auto conv) { return convolution(conv, constantWeight, target); })
      .Case<tk::MatMulOp>([&](auto matmul) { return product(matmul, target); })
      .Case<tk::WindowOp>([&](auto op) { return window(op, target); })
      .Default([](Operation *) { return AnchorEstimate(); });
}

} // namespace tokamak::codegen
