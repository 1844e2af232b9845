//===- NarrowGroupConvolution.cpp - convolutions of groups within one vector --------------===//
#include "codegen/anchors/NarrowGroupConvolution.h"
#include "codegen/anchors/ComputedInput.h"
#include "codegen/anchors/ConvolutionTasks.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <limits>

using namespace mlir;

namespace tokamak::codegen {
namespace {

using Values = LoopBuilder::Values;

/// Kernel rows of more weights than this load each one where it is used.
constexpr int64_t kMaxWeightRegisters = 9;

class NarrowGroupConvolution final : public ConvolutionPlan {
public:
  NarrowGroupConvolution(const ConvolutionShape &shape, const TargetDescription &target)
      : shape(shape), target(target), lanes(target.lanes()),
        channelBlocks((shape.outChannels + lanes - 1) / lanes),
        step(shape.bandRows && shape.computesInput ? shape.inputBlocks : 1),
        tasks(shape, registerTile(), work(), target) {
    if (shape.computesInput)
      computed.emplace(shape, tasks, step, lanes);
  }

  Tensor pack(const Tensor &weight) const override;
  int64_t taskCount() const override { return tasks.taskCount(); }
  int64_t writtenAccumulators() const { return tasks.writtenPositions(); }
  int64_t scratchBytes() const override { return computed ? computed->bytes() : 0; }
  double inputRepeats() const override {
    return computed ? computed->repeats() * static_cast<double>(blocksPerInputBlock()) : 1;
  }
  void emit(OpBuilder &builder, Location loc, Value input, Value packedWeight, Value scratch, Value begin,
            Value end, const EpilogueFn &epilogue, const ConvolutionInputFn &compute) const override;
  int64_t blocksAtOnce() const override { return step; }
  int64_t inputRowsAtOnce() const override { return computed ? computed->rowsAtOnce() : 0; }
  void emitRegion(OpBuilder &builder, Location loc, Value input, Value packedWeight, Value scratch,
                  const ConvolutionRegion &region, const EpilogueFn &epilogue,
                  const ConvolutionInputFn &compute) const override;

private:
  int64_t kernelSize() const { return shape.kernel[0] * shape.kernel[1] * shape.kernel[2]; }
  int64_t planeSize() const { return shape.input[0] * shape.input[1] * shape.input[2] * lanes; }
  int64_t groupInputs() const { return shape.inChannelsPerGroup(); }
  int64_t groupOutputs() const { return shape.outChannelsPerGroup(); }
  /// Output blocks that one input block feeds: as many as outputs a input of a group.
  int64_t blocksPerInputBlock() const { return groupOutputs() / groupInputs(); }
  /// Input channels that one output block reads.
  int64_t channelsRead() const { return lanes / blocksPerInputBlock(); }
  bool isWindow() const { return shape.window != ConvolutionShape::Window::None; }
  bool isLongRow(int64_t taps) const { return taps * groupInputs() > kMaxWeightRegisters; }
  RegisterTile registerTile() const;
  ConvolutionTasks::Work work() const;
  Values emitTile(LoopBuilder &loops, const PlanePhase &phase, const TileRun &rows, const TileRun &columns,
                  ArrayRef<Value> q, Value input, Value weight) const;
  Value inputOf(LoopBuilder &loops, Value image, Value input, Value block) const;
  void emitBlock(LoopBuilder &loops, const PlanePhase &phase, const TaskRange &task, Value block, Value input,
                 Value packedWeight, const EpilogueFn &epilogue) const;
  Values loadInput(LoopBuilder &loops, Value pointer, int64_t offset) const;
  Value loadWeight(LoopBuilder &loops, Value pointer, int64_t offset) const {
    return isWindow() ? Value() : loops.load(pointer, offset);
  }
  Value combine(LoopBuilder &loops, Value x, Value weight, Value sum) const;
  void emitRow(LoopBuilder &loops, const AxisTaps &axis, const TileRun &run, const TapBounds &bounds,
               Value input, Value weight, Values &sums) const;

  ConvolutionShape shape;
  TargetDescription target;
  int64_t lanes, channelBlocks;
  int64_t step; ///< channel blocks whose inputs are computed at a time
  ConvolutionTasks tasks;
  std::optional<ComputedInput> computed;
};

RegisterTile NarrowGroupConvolution::registerTile() const {
  // Accumulators, the weights of one kernel row and one input vector share the registers.
  int64_t weights = isLongRow(shape.kernel[2]) ? 1 : shape.kernel[2] * groupInputs();
  if (isWindow())
    weights = 0;
  int64_t inputs = groupInputs() == 1 ? 1 : groupInputs() + 1;
  constexpr int64_t kWidest = 14; // enough accumulators to hide latency; wider only lengthens the code
  return RegisterTile{1, std::clamp<int64_t>(target.vectorRegisters - 1 - weights - inputs, 1, kWidest), 1};
}

ConvolutionTasks::Work NarrowGroupConvolution::work() const {
  ConvolutionTasks::Work work;
  work.channelTiles = channelBlocks;
  work.weightBytesPerTile = 4.0 * static_cast<double>(kernelSize() * groupInputs() * lanes);
  // Each channel block reads its own part of the image once.
  work.inputBytesPerImage = 4.0 * static_cast<double>(planeSize());
  work.flopsPerPosition = 2.0 * static_cast<double>(groupInputs() * lanes);
  return work;
}

/// For each channel of a group, the vector that has this channel of each lane's group.
Values NarrowGroupConvolution::loadInput(LoopBuilder &loops, Value pointer, int64_t offset) const {
  Value channels = loops.loadFirst(pointer, offset, channelsRead());
  if (groupInputs() == 1 && groupOutputs() == 1)
    return {channels};
  Values inputs;
  for (int64_t channel = 0; channel < groupInputs(); ++channel) {
    SmallVector<int64_t> source;
    for (int64_t lane = 0; lane < lanes; ++lane)
      source.push_back(lane / groupOutputs() * groupInputs() + channel);
    inputs.push_back(loops.shuffle(channels, channels, source));
  }
  return inputs;
}

/// One tap more.
Value NarrowGroupConvolution::combine(LoopBuilder &loops, Value x, Value weight, Value sum) const {
  switch (shape.window) {
  case ConvolutionShape::Window::None:
    return loops.fma(x, weight, sum);
  case ConvolutionShape::Window::Max:
    return loops.maxFloat(sum, x);
  case ConvolutionShape::Window::Sum:
    return loops.addFloat(sum, x);
  }
  llvm_unreachable("a kind of window");
}

/// Adds the taps of one kernel row to the sums of one row of outputs.
void NarrowGroupConvolution::emitRow(LoopBuilder &loops, const AxisTaps &axis, const TileRun &run,
                                     const TapBounds &bounds, Value input, Value weight, Values &sums) const {
  int64_t tapSize = groupInputs() * lanes;
  bool isLong = isLongRow(axis.tapCount);
  if (run.taps == TileRun::Taps::Bounded || (run.taps == TileRun::Taps::All && isLong)) {
    Value low = loops.index(0), high = loops.index(axis.tapCount);
    if (run.taps == TileRun::Taps::Bounded)
      low = bounds.low, high = bounds.high;
    sums = loops.loop(low, high, 1, sums, [&](Value tap, ValueRange carried) {
      Values next(carried);
      Value x = loops.at(input, loops.mul(tap, axis.inTapStep * lanes));
      Value w = loops.at(weight, loops.mul(tap, axis.kernelStep * tapSize));
      for (int64_t o = 0; o < run.width; ++o)
        for (auto [channel, value] : llvm::enumerate(loadInput(loops, x, o * axis.inStep * lanes)))
          next[o] =
              combine(loops, value, loadWeight(loops, w, static_cast<int64_t>(channel) * lanes), next[o]);
      return next;
    });
    return;
  }
  // Outputs side by side share input vectors: each is loaded once, in ascending order, and used by all its
  // taps.
  struct Use {
    int64_t column, output, tap;
    auto operator<=>(const Use &) const = default;
  };
  llvm::SmallVector<Use> uses;
  for (int64_t o = 0; o < run.width; ++o)
    for (int64_t tap = 0; tap < axis.tapCount; ++tap)
      if (run.isInside(o, tap, axis.tapCount))
        uses.push_back({o * axis.inStep + tap * axis.inTapStep, o, tap});
  std::sort(uses.begin(), uses.end());
  auto loadWeights = [&](int64_t tap) {
    Values weights;
    for (int64_t channel = 0; channel < groupInputs(); ++channel)
      weights.push_back(loadWeight(loops, weight, tap * axis.kernelStep * tapSize + channel * lanes));
    return weights;
  };
  llvm::SmallVector<Values> weights;
  for (int64_t tap = 0; tap < axis.tapCount && !isLong; ++tap)
    weights.push_back(loadWeights(tap));
  Values inputs;
  for (size_t i = 0; i < uses.size(); ++i) {
    if (i == 0 || uses[i].column != uses[i - 1].column)
      inputs = loadInput(loops, input, uses[i].column * lanes);
    Values tapWeights = isLong ? loadWeights(uses[i].tap) : weights[uses[i].tap];
    for (auto [x, w] : llvm::zip(inputs, tapWeights))
      sums[uses[i].output] = combine(loops, x, w, sums[uses[i].output]);
  }
}

/// The sums of a row of outputs.
Values NarrowGroupConvolution::emitTile(LoopBuilder &loops, const PlanePhase &phase, const TileRun &rows,
                                        const TileRun &columns, ArrayRef<Value> q, Value input,
                                        Value weight) const {
  std::array<const AxisTaps *, 3> axes = phase.axes();
  std::array<const TileRun *, 3> runs{&phase.depth.runs.front(), &rows, &columns};
  std::array<int64_t, 3> inputStrides{shape.input[1] * shape.input[2] * lanes,
                                      computed ? computed->rowStride() : shape.input[2] * lanes, lanes};
  int64_t tapSize = groupInputs() * lanes;
  std::array<int64_t, 3> kernelStrides{shape.kernel[1] * shape.kernel[2] * tapSize, shape.kernel[2] * tapSize,
                                       tapSize};
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
  bool isMax = shape.window == ConvolutionShape::Window::Max;
  Value neutral = loops.splat(isMax ? -std::numeric_limits<float>::infinity() : 0);
  return overTaps(0, input, weight, Values(columns.width, neutral), overTaps);
}

Tensor NarrowGroupConvolution::pack(const Tensor &weight) const {
  Tensor packed(DataType::Float32, {channelBlocks * kernelSize() * groupInputs() * lanes});
  auto *to = reinterpret_cast<float *>(packed.mutableBytes());
  const auto *from = reinterpret_cast<const float *>(weight.bytes());
  for (int64_t out = 0; out < shape.outChannels; ++out)
    for (int64_t in = 0; in < groupInputs(); ++in)
      for (int64_t k = 0; k < kernelSize(); ++k) {
        // tk.conv stores [out, in of the group, k], tk.conv_transpose [in, out of the group, k].
        int64_t group = out / groupOutputs();
        int64_t row = shape.transposed ? (group * groupInputs() + in) * groupOutputs() + out % groupOutputs()
                                       : out * groupInputs() + in;
        to[(((out / lanes) * kernelSize() + k) * groupInputs() + in) * lanes + out % lanes] =
            from[row * kernelSize() + k];
      }
  return packed;
}

void NarrowGroupConvolution::emit(OpBuilder &builder, Location loc, Value input, Value packedWeight,
                                  Value scratch, Value begin, Value end, const EpilogueFn &epilogue,
                                  const ConvolutionInputFn &compute) const {
  LoopBuilder loops(builder, loc, lanes);
  tasks.forEachTask(loops, begin, end, [&](const PlanePhase &phase, const TaskRange &task) {
    Value inputBlock = loops.div(task.channelTile, blocksPerInputBlock());
    Value x = computed ? computed->emit(loops, phase, task, inputBlock, scratch, compute)
                       : inputOf(loops, task.image, input, inputBlock);
    emitBlock(loops, phase, task, task.channelTile, x, packedWeight, epilogue);
  });
}

void NarrowGroupConvolution::emitRegion(OpBuilder &builder, Location loc, Value input, Value packedWeight,
                                        Value scratch, const ConvolutionRegion &region,
                                        const EpilogueFn &epilogue, const ConvolutionInputFn &compute) const {
  LoopBuilder loops(builder, loc, lanes);
  auto emitPhases = [&](Value block, Value x) {
    for (const PlanePhase &phase : tasks.planePhases())
      emitBlock(loops, phase, TaskRange::ofRegion(loops, phase, region), block, x, packedWeight, epilogue);
  };
  Value end = loops.min(region.blocks.end, loops.index(channelBlocks));
  loops.loop(region.blocks.begin, end, step, [&](Value first) {
    Value inputBlock = loops.div(first, blocksPerInputBlock());
    if (!computed || step == 1)
      return emitPhases(first, computed ? computed->emitBand(loops, region, inputBlock, scratch, compute)
                                        : inputOf(loops, region.image, input, inputBlock));
    // So many blocks share one computation of the input.
    Value x = computed->emitBand(loops, region, first, scratch, compute);
    loops.loop(first, loops.min(loops.add(first, step), end), 1, [&](Value block) {
      emitPhases(block, loops.at(x, loops.mul(loops.sub(block, first), computed->blockStride())));
    });
  });
}

/// A channel block of the input, where that lies in memory.
Value NarrowGroupConvolution::inputOf(LoopBuilder &loops, Value image, Value input, Value block) const {
  int64_t inputBlocks = (shape.inChannels + lanes - 1) / lanes;
  int64_t imageSize = shape.inputPitch ? shape.inputPitch : inputBlocks * planeSize();
  return loops.at(loops.at(input, loops.mul(image, imageSize)), loops.mul(block, planeSize()));
}

/// One output block, whose input block is `input`.
void NarrowGroupConvolution::emitBlock(LoopBuilder &loops, const PlanePhase &phase, const TaskRange &task,
                                       Value block, Value input, Value packedWeight,
                                       const EpilogueFn &epilogue) const {
  Value x = loops.at(input, loops.mul(loops.rem(block, blocksPerInputBlock()), channelsRead()));
  Value w = loops.at(packedWeight, loops.mul(block, kernelSize() * groupInputs() * lanes));
  auto emitTiles = [&](int64_t validLanes) {
    phase.rows.forEachTile(loops, task.rowBegin, task.rowEnd, [&](const TileRun &rows, Value row) {
      phase.columns.forEachTile(loops, task.columnBegin, task.columnEnd,
                                [&](const TileRun &columns, Value column) {
                                  std::array<Value, 3> q{task.depth, row, column};
                                  Values sums = emitTile(loops, phase, rows, columns, q, x, w);
                                  std::array<Value, 3> base = phase.outputBase(loops, q);
                                  AccumulatorPoint point;
                                  point.before = {PointIndex{task.image}};
                                  point.block.base = block;
                                  point.validLanes = validLanes;
                                  for (int64_t o = 0; o < columns.width; ++o) {
                                    point.value = sums[o];
                                    point.after = phase.outputIndex(base, 0, o, shape.spatialRank);
                                    point.endsTile = o + 1 == columns.width;
                                    epilogue(loops.opBuilder(), loops.location(), point);
                                  }
                                });
    });
  };
  int64_t lastLanes = shape.outChannels - (channelBlocks - 1) * lanes;
  if (lastLanes == lanes || channelBlocks == 1)
    emitTiles(lastLanes);
  else
    loops.ifEqual(
        block, loops.index(channelBlocks - 1), [&] { emitTiles(lastLanes); }, [&] { emitTiles(lanes); });
}

} // namespace

llvm::Expected<std::unique_ptr<ConvolutionPlan>>
createNarrowGroupConvolution(const ConvolutionShape &shape, const TargetDescription &target) {
  int64_t lanes = target.lanes(), inputs = shape.inChannelsPerGroup(), outputs = shape.outChannelsPerGroup();
  if (inputs == 0 || outputs == 0 || lanes % outputs != 0 || outputs % inputs != 0)
    return llvm::createStringError("groups that neither fill vectors nor divide one");
  if (shape.inputBlock != lanes)
    return llvm::createStringError(
        "a convolution of narrow groups needs an input channel-blocked by one vector");
  if (shape.bandRows && shape.computesInput && shape.inputBlocks > 1 && outputs != inputs)
    return llvm::createStringError(
        "each block of channels reads a part of one block only, of several computed");
  auto plan = std::make_unique<NarrowGroupConvolution>(shape, target);
  if (plan->writtenAccumulators() > kMaxWrittenAccumulators)
    return llvm::createStringError("its stride has too many phases");
  return plan;
}

} // namespace tokamak::codegen
