//===- DepthwiseConvolution.cpp - convolutions of each channel by itself ------------------===//
#include "codegen/anchors/DepthwiseConvolution.h"
#include "codegen/anchors/ConvolutionTasks.h"
#include "llvm/ADT/DenseMap.h"
#include <algorithm>

using namespace mlir;

namespace tokamak::codegen {
namespace {

using Values = LoopBuilder::Values;

/// Kernel rows of more taps than this load each weight where it is used.
constexpr int64_t kMaxWeightRegisters = 9;

class DepthwiseConvolution final : public ConvolutionPlan {
public:
  DepthwiseConvolution(const ConvolutionShape &shape, const TargetDescription &target)
      : shape(shape), target(target), lanes(target.lanes()),
        channelBlocks((shape.outChannels + lanes - 1) / lanes), tasks(shape, registerTile(), work(), target) {
  }

  Tensor pack(const Tensor &weight) const override;
  int64_t taskCount() const override { return tasks.taskCount(); }
  void emit(OpBuilder &builder, Location loc, Value input, Value packedWeight, Value scratch, Value begin,
            Value end, const EpilogueFn &epilogue) const override;

private:
  int64_t kernelSize() const { return shape.kernel[0] * shape.kernel[1] * shape.kernel[2]; }
  int64_t planeSize() const { return shape.input[0] * shape.input[1] * shape.input[2] * lanes; }
  RegisterTile registerTile() const;
  ConvolutionTasks::Work work() const;
  Values emitTile(LoopBuilder &loops, const PlanePhase &phase, const TileRun &rows, const TileRun &columns,
                  ArrayRef<Value> q, Value input, Value weight) const;
  void emitRow(LoopBuilder &loops, const AxisTaps &axis, const TileRun &run, const TapBounds &bounds,
               Value input, Value weight, Values &sums) const;

  ConvolutionShape shape;
  TargetDescription target;
  int64_t lanes, channelBlocks;
  ConvolutionTasks tasks;
};

RegisterTile DepthwiseConvolution::registerTile() const {
  // Accumulators, the weights of one kernel row and one input vector share the registers.
  int64_t weights = shape.kernel[2] <= kMaxWeightRegisters ? shape.kernel[2] : 1;
  constexpr int64_t kWidest = 14; // enough accumulators to hide latency; wider only lengthens the code
  return RegisterTile{1, std::clamp<int64_t>(target.vectorRegisters - 2 - weights, 1, kWidest), 1};
}

ConvolutionTasks::Work DepthwiseConvolution::work() const {
  ConvolutionTasks::Work work;
  work.channelTiles = channelBlocks;
  work.weightBytesPerTile = 4.0 * static_cast<double>(kernelSize() * lanes);
  // Each channel block reads its own part of the image once.
  work.inputBytesPerImage = 4.0 * static_cast<double>(planeSize());
  work.flopsPerPosition = 2.0 * static_cast<double>(lanes);
  return work;
}

/// Adds the taps of one kernel row to the sums of one row of outputs.
void DepthwiseConvolution::emitRow(LoopBuilder &loops, const AxisTaps &axis, const TileRun &run,
                                   const TapBounds &bounds, Value input, Value weight, Values &sums) const {
  bool isLong = axis.tapCount > kMaxWeightRegisters;
  if (run.taps == TileRun::Taps::Bounded || (run.taps == TileRun::Taps::All && isLong)) {
    Value low = loops.index(0), high = loops.index(axis.tapCount);
    if (run.taps == TileRun::Taps::Bounded)
      low = bounds.low, high = bounds.high;
    sums = loops.loop(low, high, 1, sums, [&](Value tap, ValueRange carried) {
      Values next(carried);
      Value x = loops.at(input, loops.mul(tap, axis.inTapStep * lanes));
      Value w = loops.load(loops.at(weight, loops.mul(tap, axis.kernelStep * lanes)));
      for (int64_t o = 0; o < run.width; ++o)
        next[o] = loops.fma(loops.load(x, o * axis.inStep * lanes), w, next[o]);
      return next;
    });
    return;
  }
  // Outputs side by side share input vectors: each is loaded once, in ascending order, and used by all its
  // taps.
  llvm::SmallVector<std::pair<int64_t, std::pair<int64_t, int64_t>>> uses; // input column -> output, tap
  for (int64_t o = 0; o < run.width; ++o)
    for (int64_t tap = 0; tap < axis.tapCount; ++tap)
      if (run.isInside(o, tap, axis.tapCount))
        uses.push_back({o * axis.inStep + tap * axis.inTapStep, {o, tap}});
  llvm::sort(uses);
  llvm::SmallDenseMap<int64_t, Value> weights;
  if (!isLong)
    for (int64_t tap = 0; tap < axis.tapCount; ++tap)
      weights[tap] = loops.load(weight, tap * axis.kernelStep * lanes);
  Value x;
  for (size_t i = 0; i < uses.size(); ++i) {
    auto [column, use] = uses[i];
    if (i == 0 || column != uses[i - 1].first)
      x = loops.load(input, column * lanes);
    auto [output, tap] = use;
    Value w = isLong ? loops.load(weight, tap * axis.kernelStep * lanes) : weights[tap];
    sums[output] = loops.fma(x, w, sums[output]);
  }
}

/// The sums of a row of outputs.
Values DepthwiseConvolution::emitTile(LoopBuilder &loops, const PlanePhase &phase, const TileRun &rows,
                                      const TileRun &columns, ArrayRef<Value> q, Value input,
                                      Value weight) const {
  std::array<const AxisTaps *, 3> axes{&phase.depth.axis, &phase.rows.axis, &phase.columns.axis};
  std::array<const TileRun *, 3> runs{&phase.depth.runs.front(), &rows, &columns};
  std::array<int64_t, 3> inputStrides{shape.input[1] * shape.input[2] * lanes, shape.input[2] * lanes, lanes};
  std::array<int64_t, 3> kernelStrides{shape.kernel[1] * shape.kernel[2] * lanes, shape.kernel[2] * lanes,
                                       lanes};
  std::array<TapBounds, 3> bounds;
  for (unsigned axis = 0; axis < 3; ++axis) {
    bounds[axis] = {loops.index(0), loops.index(axes[axis]->tapCount)};
    if (runs[axis]->taps == TileRun::Taps::Bounded)
      bounds[axis] = tapBounds(loops, *axes[axis], q[axis]);
    input = loops.at(input, loops.mul(q[axis], axes[axis]->inStep * inputStrides[axis]));
    input = loops.at(input, axes[axis]->inStart * inputStrides[axis]);
    weight = loops.at(weight, axes[axis]->kernelStart * kernelStrides[axis]);
  }
  // Loops over the taps of the axes before the last.
  auto overTaps = [&](unsigned axis, Value x, Value w, ValueRange carried, auto &&self) -> Values {
    Values sums(carried);
    if (axis == 2) {
      emitRow(loops, *axes[2], columns, bounds[2], x, w, sums);
      return sums;
    }
    if (runs[axis]->taps == TileRun::Taps::All && axes[axis]->tapCount == 1)
      return self(axis + 1, x, w, sums, self);
    return loops.loop(bounds[axis].low, bounds[axis].high, 1, sums, [&](Value tap, ValueRange inner) {
      return self(axis + 1, loops.at(x, loops.mul(tap, axes[axis]->inTapStep * inputStrides[axis])),
                  loops.at(w, loops.mul(tap, axes[axis]->kernelStep * kernelStrides[axis])), inner, self);
    });
  };
  return overTaps(0, input, weight, Values(columns.width, loops.zero()), overTaps);
}

Tensor DepthwiseConvolution::pack(const Tensor &weight) const {
  Tensor packed(DataType::Float32, {channelBlocks * kernelSize() * lanes});
  auto *to = reinterpret_cast<float *>(packed.mutableBytes());
  const auto *from = reinterpret_cast<const float *>(weight.bytes());
  for (int64_t channel = 0; channel < shape.outChannels; ++channel)
    for (int64_t k = 0; k < kernelSize(); ++k)
      to[((channel / lanes) * kernelSize() + k) * lanes + channel % lanes] = from[channel * kernelSize() + k];
  return packed;
}

void DepthwiseConvolution::emit(OpBuilder &builder, Location loc, Value input, Value packedWeight,
                                Value scratch, Value begin, Value end, const EpilogueFn &epilogue) const {
  LoopBuilder loops(builder, loc, lanes);
  tasks.forEachTask(loops, begin, end, [&](const PlanePhase &phase, const TaskRange &task) {
    Value plane = loops.add(loops.mul(task.image, channelBlocks), task.channelTile);
    Value x = loops.at(input, loops.mul(plane, planeSize()));
    Value w = loops.at(packedWeight, loops.mul(task.channelTile, kernelSize() * lanes));
    std::array<const AxisTaps *, 3> axes{&phase.depth.axis, &phase.rows.axis, &phase.columns.axis};

    auto emitTiles = [&](int64_t validLanes) {
      phase.rows.forEachTile(loops, task.rowBegin, task.rowEnd, [&](const TileRun &rows, Value row) {
        phase.columns.forEachTile(
            loops, task.columnBegin, task.columnEnd, [&](const TileRun &columns, Value column) {
              std::array<Value, 3> q{task.depth, row, column};
              Values sums = emitTile(loops, phase, rows, columns, q, x, w);
              std::array<PointIndex, 3> spatial;
              for (unsigned axis = 0; axis < 3; ++axis)
                spatial[axis].base = loops.add(loops.mul(q[axis], axes[axis]->outStep), axes[axis]->outStart);
              for (int64_t o = 0; o < columns.width; ++o) {
                spatial[2].offset = o * axes[2]->outStep;
                AccumulatorPoint point;
                point.value = sums[o];
                point.before = {PointIndex{task.image}};
                point.block = {task.channelTile};
                point.after.assign(spatial.end() - shape.spatialRank, spatial.end());
                point.validLanes = validLanes;
                epilogue(builder, loc, point);
              }
            });
      });
    };
    int64_t lastLanes = shape.outChannels - (channelBlocks - 1) * lanes;
    if (lastLanes == lanes || channelBlocks == 1)
      emitTiles(lastLanes);
    else
      loops.ifEqual(
          task.channelTile, loops.index(channelBlocks - 1), [&] { emitTiles(lastLanes); },
          [&] { emitTiles(lanes); });
  });
}

} // namespace

llvm::Expected<std::unique_ptr<ConvolutionPlan>> createDepthwiseConvolution(const ConvolutionShape &shape,
                                                                            const TargetDescription &target) {
  if (shape.inChannelsPerGroup() != 1 || shape.outChannelsPerGroup() != 1)
    return llvm::createStringError("more than one channel per group");
  if (shape.inputBlock != target.lanes())
    return llvm::createStringError("a depthwise convolution's input must be channel-blocked by one vector");
  return std::make_unique<DepthwiseConvolution>(shape, target);
}

} // namespace tokamak::codegen
