//===- DenseConvolution.cpp - convolutions that sum over many input channels --------------===//
#include "codegen/anchors/DenseConvolution.h"
#include "codegen/anchors/ComputedInput.h"
#include "codegen/anchors/ConvolutionTasks.h"
#include "codegen/anchors/PanelPrefetch.h"
#include <algorithm>
#include <numeric>

using namespace mlir;

namespace tokamak::codegen {
namespace {

using Values = LoopBuilder::Values;

/// Element strides of the input buffer. Channels are read in blocks of `block`.
struct InputStrides {
  int64_t image, group, block, channel;
  std::array<int64_t, 3> spatial;
};

class DenseConvolution final : public ConvolutionPlan {
public:
  DenseConvolution(const ConvolutionShape &shape, const TargetDescription &target);

  Tensor pack(const Tensor &weight) const override;
  int64_t taskCount() const override { return tasks.taskCount(); }
  int64_t writtenAccumulators() const { return tasks.writtenPositions() * tile.vectors; }
  int64_t scratchBytes() const override { return computed ? computed->bytes() : 0; }
  double inputRepeats() const override {
    bool once = tilesInside || shape.bandRows;
    return !computed ? 1 : computed->repeats() * static_cast<double>(once ? 1 : tilesPerGroup());
  }
  void emit(OpBuilder &builder, Location loc, Value input, Value packedWeight, Value scratch, Value begin,
            Value end, const EpilogueFn &epilogue, const ConvolutionInputFn &compute) const override;
  /// A computed input is computed once for all results.
  int64_t blocksAtOnce() const override { return computed ? groupVectors : tile.vectors; }
  int64_t inputRowsAtOnce() const override { return computed ? computed->rowsAtOnce() : 0; }
  void emitRegion(OpBuilder &builder, Location loc, Value input, Value packedWeight, Value scratch,
                  const ConvolutionRegion &region, const EpilogueFn &epilogue,
                  const ConvolutionInputFn &compute) const override;

private:
  friend class TileEmitter;
  void emitChannelTile(LoopBuilder &loops, const PlanePhase &phase, const TaskRange &task, Value channelTile,
                       Value image, Value packedWeight, const EpilogueFn &epilogue) const;
  Value tileNumber(LoopBuilder &loops, const PlanePhase &phase, const TaskRange &task, Value row,
                   Value column) const;
  RegisterTile chooseRegisterTile() const;
  int64_t writtenMulAdds(const RegisterTile &tile) const;
  ConvolutionTasks::Work work() const;
  ConvolutionTasks chooseTasks();

  int64_t kernelSize() const { return shape.kernel[0] * shape.kernel[1] * shape.kernel[2]; }
  int64_t panelWidth() const { return tile.vectors * target.lanes(); }
  int64_t panelSize() const { return channelBlocks * kernelSize() * channelBlock * panelWidth(); }
  int64_t tilesPerGroup() const { return (groupVectors + tile.vectors - 1) / tile.vectors; }
  /// Vectors of the last tile of a group.
  int64_t lastVectors() const { return groupVectors - (tilesPerGroup() - 1) * tile.vectors; }
  int64_t lastValidLanes() const { return shape.outChannelsPerGroup() - (groupVectors - 1) * target.lanes(); }

  ConvolutionShape shape;
  TargetDescription target;
  int64_t channelBlock;  ///< input channels per block, as stored or as looped over
  int64_t channelBlocks; ///< of one group
  int64_t groupVectors;  ///< vectors of output channels of one group
  InputStrides strides;
  RegisterTile tile;
  bool tilesInside = false; ///< a task computes all channel tiles of its positions
  ConvolutionTasks tasks;
  PanelPrefetch nextPanel; ///< of the next channel tile
  std::optional<ComputedInput> computed;
};

/// Emits one register tile: the sums over channels and taps, then the epilogue.
class TileEmitter {
public:
  TileEmitter(const DenseConvolution &plan, LoopBuilder &loops, const PlanePhase &phase, int64_t vectors)
      : plan(plan), loops(loops), axes(phase.axes()), vectors(vectors) {
    int64_t size = plan.channelBlock * vectors * plan.target.lanes();
    for (int axis = 2; axis >= 0; --axis) {
      kernelStrides[axis] = size;
      size *= plan.shape.kernel[axis];
    }
    blockStride = size;
  }

  /// `input` points to the image's first channel, `weight` to the panel; `q` are the first outputs of the
  /// tile; `ahead` as of PanelPrefetch. Returns the accumulators, [row][column][vector].
  Values emit(Value input, Value weight, Value ahead, ArrayRef<const TileRun *> tileRuns, ArrayRef<Value> q);

private:
  /// Outputs of the tile that the taps chosen so far reach, per axis.
  struct Active {
    SmallVector<int64_t, 16> rows, columns;
    bool operator==(const Active &) const = default;
  };
  /// Those of the outputs whose tap `tap` along `axis` lies inside the input.
  Active reachedBy(unsigned axis, int64_t tap, const Active &active) const;
  Values emitAxis(unsigned axis, Value input, Value weight, ValueRange accumulators, const Active &active);
  Values emitChannels(Value input, Value weight, ValueRange accumulators, const Active &active);
  void emitStep(Value input, Value weight, int64_t channel, Values &accumulators, const Active &active);

  const DenseConvolution &plan;
  LoopBuilder &loops;
  std::array<const AxisTaps *, 3> axes;
  int64_t vectors;
  std::array<int64_t, 3> kernelStrides;
  int64_t blockStride;
  std::array<const TileRun *, 3> runs;
  std::array<TapBounds, 3> bounds;
  Value channelCount; ///< of the present block
  Value ahead;
};

/// Multiply-adds of one iteration of the innermost loop, at least where that takes writing out channels.
constexpr int64_t kMulAddsPerIteration = 16;

Values TileEmitter::emit(Value input, Value weight, Value ahead, ArrayRef<const TileRun *> tileRuns,
                         ArrayRef<Value> q) {
  this->ahead = ahead;
  Active active;
  for (unsigned axis = 0; axis < 3; ++axis) {
    runs[axis] = tileRuns[axis];
    const AxisTaps &taps = *axes[axis];
    if (runs[axis]->taps == TileRun::Taps::Bounded)
      bounds[axis] = tapBounds(loops, taps, q[axis]);
    int64_t stride = plan.strides.spatial[axis];
    input = loops.at(input, loops.mul(q[axis], taps.inStep * stride));
    input = loops.at(input, taps.inStart * stride);
    weight = loops.at(weight, taps.kernelStart * kernelStrides[axis]);
  }
  active.rows.resize(runs[1]->width);
  std::iota(active.rows.begin(), active.rows.end(), 0);
  active.columns.resize(runs[2]->width);
  std::iota(active.columns.begin(), active.columns.end(), 0);

  Values zeros(runs[1]->width * runs[2]->width * vectors, loops.zero());
  auto block = [&](Value number, ValueRange carried) {
    // The padding lanes of a ragged last block hold anything, NaN as well: they must not be multiplied, not
    // even by 0.
    channelCount = loops.index(plan.channelBlock);
    if (plan.shape.inChannelsPerGroup() % plan.channelBlock != 0)
      channelCount = loops.min(channelCount, loops.sub(loops.index(plan.shape.inChannelsPerGroup()),
                                                       loops.mul(number, plan.channelBlock)));
    Value blockInput = loops.at(input, loops.mul(number, plan.strides.block));
    Value blockWeight = loops.at(weight, loops.mul(number, blockStride));
    return emitAxis(0, blockInput, blockWeight, carried, active);
  };
  if (plan.channelBlocks == 1)
    return block(loops.index(0), zeros);
  return loops.loop(loops.index(0), loops.index(plan.channelBlocks), 1, zeros, block);
}

Values TileEmitter::emitAxis(unsigned axis, Value input, Value weight, ValueRange accumulators,
                             const Active &active) {
  if (axis == 3)
    return emitChannels(input, weight, accumulators, active);
  const AxisTaps &taps = *axes[axis];
  const TileRun &run = *runs[axis];
  int64_t inputStep = taps.inTapStep * plan.strides.spatial[axis];
  int64_t weightStep = taps.kernelStep * kernelStrides[axis];
  auto loopOver = [&](Value low, Value high, ValueRange initial, const Active &reached) {
    return loops.loop(low, high, 1, initial, [&](Value tap, ValueRange carried) {
      return emitAxis(axis + 1, loops.at(input, loops.mul(tap, inputStep)),
                      loops.at(weight, loops.mul(tap, weightStep)), carried, reached);
    });
  };
  if (run.taps == TileRun::Taps::Bounded)
    return loopOver(bounds[axis].low, bounds[axis].high, accumulators, active);

  // Taps that reach the same outputs are a loop, never written out: in straight-line code the broadcasts that
  // neighbouring taps share are merged, and their longer lives make accumulators spill (43 instead of 116
  // GF/s on a 7x7 kernel).
  Values carried(accumulators);
  for (int64_t first = 0, end; first < taps.tapCount; first = end) {
    Active reached = reachedBy(axis, first, active);
    for (end = first + 1; end < taps.tapCount && reachedBy(axis, end, active) == reached;)
      ++end;
    if (reached.rows.empty() || reached.columns.empty())
      continue;
    if (end - first > 1)
      carried = loopOver(loops.index(first), loops.index(end), carried, reached);
    else
      carried = emitAxis(axis + 1, loops.at(input, first * inputStep), loops.at(weight, first * weightStep),
                         carried, reached);
  }
  return carried;
}

TileEmitter::Active TileEmitter::reachedBy(unsigned axis, int64_t tap, const Active &active) const {
  Active reached = active;
  auto isOutside = [&](int64_t output) { return !runs[axis]->isInside(output, tap, axes[axis]->tapCount); };
  if (axis == 1)
    llvm::erase_if(reached.rows, isOutside);
  if (axis == 2)
    llvm::erase_if(reached.columns, isOutside);
  return reached;
}

Values TileEmitter::emitChannels(Value input, Value weight, ValueRange accumulators, const Active &active) {
  // Tiles of few accumulators write out several channels: short loop bodies lose more to mispredicted exits.
  // Where the accumulators leave no room for the operands of two channels, that would spill.
  int64_t mulAdds = static_cast<int64_t>(active.rows.size() * active.columns.size()) * vectors, unroll = 1;
  // A broadcast with one reader takes its sum, where it is no operand of the multiply-add: accumulators then
  // go round.
  const bool goRound = vectors == 1 && !plan.target.hasMaskRegisters;
  const auto sums = static_cast<int64_t>(accumulators.size());
  bool hasRoom = (goRound ? 2 * sums : sums) + 2 * (vectors + 1) <= plan.target.vectorRegisters - 2;
  while (hasRoom && mulAdds * unroll < kMulAddsPerIteration && plan.channelBlock % (4 * unroll) == 0)
    unroll *= 2;
  auto loopOver = [&](Value low, Value high, int64_t step, ValueRange initial) {
    return loops.loop(low, high, step, initial, [&](Value channel, ValueRange carried) {
      Values next(carried);
      Value x = loops.at(input, loops.mul(channel, plan.strides.channel));
      Value w = loops.at(weight, loops.mul(channel, vectors * loops.lanes()));
      for (int64_t i = 0; i < step; ++i)
        emitStep(x, w, i, next, active);
      return next;
    });
  };
  if (plan.shape.inChannelsPerGroup() % unroll == 0)
    return loopOver(loops.index(0), channelCount, unroll, accumulators);
  Value whole = loops.mul(loops.div(channelCount, unroll), unroll);
  return loopOver(whole, channelCount, 1, loopOver(loops.index(0), whole, unroll, accumulators));
}

void TileEmitter::emitStep(Value input, Value weight, int64_t channel, Values &accumulators,
                           const Active &active) {
  Values weights;
  for (int64_t v = 0; v < vectors; ++v)
    weights.push_back(loops.load(weight, (channel * vectors + v) * loops.lanes()));
  plan.nextPanel.emit(loops, loops.at(weight, channel * vectors * loops.lanes()), ahead);
  for (int64_t row : active.rows)
    for (int64_t column : active.columns) {
      Value x = loops.broadcast(input, channel * plan.strides.channel +
                                           row * axes[1]->inStep * plan.strides.spatial[1] +
                                           column * axes[2]->inStep * plan.strides.spatial[2]);
      for (int64_t v = 0; v < vectors; ++v) {
        Value &accumulator = accumulators[(row * runs[2]->width + column) * vectors + v];
        accumulator = loops.fma(x, weights[v], accumulator);
      }
    }
}

DenseConvolution::DenseConvolution(const ConvolutionShape &shape, const TargetDescription &target)
    : shape(shape), target(target),
      channelBlock(shape.inputBlock ? shape.inputBlock
                                    : std::clamp<int64_t>(shape.inChannelsPerGroup(), 1, target.lanes())),
      channelBlocks((shape.inChannelsPerGroup() + channelBlock - 1) / channelBlock),
      groupVectors((shape.outChannelsPerGroup() + target.lanes() - 1) / target.lanes()), strides{},
      tile(chooseRegisterTile()), tasks(chooseTasks()) {
  int64_t element = shape.inputBlock ? shape.inputBlock : 1;
  strides.spatial = {shape.input[1] * shape.input[2] * element, shape.input[2] * element, element};
  int64_t plane = shape.input[0] * strides.spatial[0];
  strides.channel = shape.inputBlock ? 1 : plane;
  strides.block = shape.inputBlock ? plane : channelBlock * plane;
  strides.group = shape.inputBlock ? channelBlocks * plane : shape.inChannelsPerGroup() * plane;
  int64_t planes = shape.inputBlock ? (shape.inChannels + channelBlock - 1) / channelBlock : shape.inChannels;
  strides.image = shape.inputPitch ? shape.inputPitch : planes * plane;
  if (shape.computesInput) {
    computed.emplace(shape, tasks, channelBlocks, target.lanes());
    strides.spatial[1] = computed->rowStride();
    strides.block = computed->blockStride();
  }
  if (!tasks.planePhases().empty()) {
    const PlanePhase &phase = tasks.planePhases().front();
    nextPanel = PanelPrefetch(panelSize(), panelWidth(), shape.group * tilesPerGroup(),
                              phase.rowTilesPerBand * phase.columnTilesPerBand, target);
  }
}

/// What a computed input costs is spent once for all channel tiles, where that leaves enough tasks.
ConvolutionTasks DenseConvolution::chooseTasks() {
  constexpr int64_t kEnoughTasks = 6;
  if (shape.computesInput && shape.group == 1) {
    ConvolutionTasks::Work all = work();
    all.weightBytesPerTile *= static_cast<double>(all.channelTiles);
    all.flopsPerPosition *= static_cast<double>(all.channelTiles);
    all.channelTiles = 1;
    ConvolutionTasks candidate(shape, tile, all, target);
    tilesInside = candidate.taskCount() >= kEnoughTasks || tilesPerGroup() == 1;
    if (tilesInside)
      return candidate;
  }
  return ConvolutionTasks(shape, tile, work(), target);
}

ConvolutionTasks::Work DenseConvolution::work() const {
  ConvolutionTasks::Work work;
  work.channelTiles = shape.group * tilesPerGroup();
  work.weightBytesPerTile = 4.0 * static_cast<double>(panelSize());
  work.inputBytesPerImage =
      4.0 * static_cast<double>(shape.inChannelsPerGroup() * shape.input[0] * shape.input[1]) *
      static_cast<double>(shape.input[2]);
  work.flopsPerPosition = 2.0 * static_cast<double>(shape.inChannelsPerGroup() * panelWidth());
  return work;
}

/// Multiply-adds that the code of all register tiles writes out.
int64_t DenseConvolution::writtenMulAdds(const RegisterTile &candidate) const {
  auto written = [](const AxisTiling &tiling) {
    int64_t positions = 0;
    for (const TileRun &run : tiling.runs)
      positions += run.width * (run.taps == TileRun::Taps::Pattern ? tiling.axis.tapCount : 1);
    return positions;
  };
  ConvolutionTasks candidateTasks(shape, candidate, {}, target);
  int64_t sum = 0;
  for (const PlanePhase &phase : candidateTasks.planePhases())
    sum += written(phase.rows) * written(phase.columns) * candidate.vectors;
  return sum;
}

RegisterTile DenseConvolution::chooseRegisterTile() const {
  // Code of more multiply-adds than this takes over 100 ms to compile.
  constexpr int64_t kMaxWrittenMulAdds = 2500;
  auto phaseExtent = [&](unsigned axis) {
    int64_t phases = shape.transposed ? shape.strides[axis] : 1;
    return (shape.output[axis] + phases - 1) / phases;
  };
  TileProblem problem;
  problem.rows = phaseExtent(1);
  problem.columns = phaseExtent(2);
  problem.vectors = groupVectors;
  problem.vectorsMustDivide = shape.group > 1;
  problem.maxRows = shape.bandRows ? 1 : problem.rows;
  RegisterTile candidate = chooseTile(problem, target);
  if (candidate.rows > 1 && writtenMulAdds(candidate) > kMaxWrittenMulAdds) {
    problem.maxRows = 1; // borders of rows are then bounded at run time
    candidate = chooseTile(problem, target);
  }
  // Transposed convolutions of large strides have many phases.
  while (problem.maxPositions > 2 && writtenMulAdds(candidate) > 2 * kMaxWrittenMulAdds) {
    problem.maxPositions /= 2;
    candidate = chooseTile(problem, target);
  }
  return candidate;
}

Tensor DenseConvolution::pack(const Tensor &weight) const {
  int64_t lanes = target.lanes(), inputs = shape.inChannelsPerGroup(), outputs = shape.outChannelsPerGroup();
  Tensor packed(DataType::Float32, {shape.group * tilesPerGroup() * panelSize()});
  auto *to = reinterpret_cast<float *>(packed.mutableBytes());
  const auto *from = reinterpret_cast<const float *>(weight.bytes());
  for (int64_t group = 0; group < shape.group; ++group)
    for (int64_t out = 0; out < outputs; ++out) {
      int64_t panel = out / panelWidth(), lane = out % panelWidth();
      int64_t width = (panel + 1 == tilesPerGroup() ? lastVectors() : tile.vectors) * lanes;
      for (int64_t in = 0; in < inputs; ++in)
        for (int64_t k = 0; k < kernelSize(); ++k) {
          // tk.conv stores [out, in of the group, k], tk.conv_transpose [in, out of the group, k].
          int64_t source = shape.transposed ? ((group * inputs + in) * outputs + out) * kernelSize() + k
                                            : ((group * outputs + out) * inputs + in) * kernelSize() + k;
          int64_t row = ((in / channelBlock) * kernelSize() + k) * channelBlock + in % channelBlock;
          to[(group * tilesPerGroup() + panel) * panelSize() + row * width + lane] = from[source];
        }
    }
  return packed;
}

void DenseConvolution::emit(OpBuilder &builder, Location loc, Value input, Value packedWeight, Value scratch,
                            Value begin, Value end, const EpilogueFn &epilogue,
                            const ConvolutionInputFn &compute) const {
  LoopBuilder loops(builder, loc, target.lanes());
  tasks.forEachTask(loops, begin, end, [&](const PlanePhase &phase, const TaskRange &task) {
    Value image = computed ? computed->emit(loops, phase, task, loops.index(0), scratch, compute)
                           : loops.at(input, loops.mul(task.image, strides.image));
    if (!tilesInside) {
      emitChannelTile(loops, phase, task, task.channelTile, image, packedWeight, epilogue);
      return;
    }
    loops.loop(loops.index(0), loops.index(tilesPerGroup()), 1, [&](Value channelTile) {
      emitChannelTile(loops, phase, task, channelTile, image, packedWeight, epilogue);
    });
  });
}

void DenseConvolution::emitRegion(OpBuilder &builder, Location loc, Value input, Value packedWeight,
                                  Value scratch, const ConvolutionRegion &region, const EpilogueFn &epilogue,
                                  const ConvolutionInputFn &compute) const {
  LoopBuilder loops(builder, loc, target.lanes());
  Value image = computed ? computed->emitBand(loops, region, loops.index(0), scratch, compute)
                         : loops.at(input, loops.mul(region.image, strides.image));
  Value first = loops.div(region.blocks.begin, tile.vectors);
  Value end = loops.div(loops.add(region.blocks.end, tile.vectors - 1), tile.vectors);
  loops.loop(first, loops.min(end, loops.index(shape.group * tilesPerGroup())), 1, [&](Value channelTile) {
    for (const PlanePhase &phase : tasks.planePhases())
      emitChannelTile(loops, phase, TaskRange::ofRegion(loops, phase, region), channelTile, image,
                      packedWeight, epilogue);
  });
}

/// About how many register tiles of the task's channel tile come before the one at (row, column).
Value DenseConvolution::tileNumber(LoopBuilder &loops, const PlanePhase &phase, const TaskRange &task,
                                   Value row, Value column) const {
  auto along = [&](const AxisTiling &axis, Value first, Value at, int64_t width) {
    return loops.div(loops.sub(at, axis.firstOutput(loops, first)), width);
  };
  Value before = along(phase.rows, task.rowBegin, row, tile.rows);
  return loops.add(loops.mul(before, phase.columnTilesPerBand),
                   along(phase.columns, task.columnBegin, column, tile.columns));
}

/// One channel tile of a task. `image` points to the first channel of the task's image.
void DenseConvolution::emitChannelTile(LoopBuilder &loops, const PlanePhase &phase, const TaskRange &task,
                                       Value channelTile, Value image, Value packedWeight,
                                       const EpilogueFn &epilogue) const {
  if (shape.group > 1)
    image = loops.at(image, loops.mul(loops.div(channelTile, tilesPerGroup()), strides.group));
  Value panel = loops.at(packedWeight, loops.mul(channelTile, panelSize()));
  Value firstBlock = loops.mul(channelTile, tile.vectors);

  auto emitTiles = [&](int64_t vectors, int64_t validLanes) {
    TileEmitter emitter(*this, loops, phase, vectors);
    phase.rows.forEachTile(loops, task.rowBegin, task.rowEnd, [&](const TileRun &rows, Value row) {
      phase.columns.forEachTile(
          loops, task.columnBegin, task.columnEnd, [&](const TileRun &columns, Value column) {
            std::array<Value, 3> q{task.depth, row, column};
            Value ahead;
            if (!nextPanel.isNone())
              ahead = nextPanel.distance(loops, tileNumber(loops, phase, task, row, column));
            Values sums = emitter.emit(image, panel, ahead, {&phase.depth.runs.front(), &rows, &columns}, q);
            std::array<Value, 3> base = phase.outputBase(loops, q);
            AccumulatorPoint point;
            point.before = {PointIndex{task.image}};
            point.block.base = firstBlock;
            for (int64_t r = 0; r < rows.width; ++r)
              for (int64_t c = 0; c < columns.width; ++c)
                for (int64_t v = 0; v < vectors; ++v) {
                  point.value = sums[(r * columns.width + c) * vectors + v];
                  point.block.offset = v;
                  point.after = phase.outputIndex(base, r, c, shape.spatialRank);
                  point.validLanes = v + 1 == vectors ? validLanes : loops.lanes();
                  point.endsTile = r + 1 == rows.width && c + 1 == columns.width && v + 1 == vectors;
                  epilogue(loops.opBuilder(), loops.location(), point);
                }
          });
    });
  };
  bool isRagged = lastVectors() != tile.vectors || lastValidLanes() != loops.lanes();
  if (!isRagged || tilesPerGroup() == 1)
    emitTiles(lastVectors(), lastValidLanes());
  else
    loops.ifEqual(
        channelTile, loops.index(tilesPerGroup() - 1), [&] { emitTiles(lastVectors(), lastValidLanes()); },
        [&] { emitTiles(tile.vectors, loops.lanes()); });
}

} // namespace

llvm::Expected<std::unique_ptr<ConvolutionPlan>> createDenseConvolution(const ConvolutionShape &shape,
                                                                        const TargetDescription &target) {
  auto refuse = [](const char *reason) { return llvm::createStringError(reason); };
  int64_t lanes = target.lanes();
  if (shape.inputBlock != 0 && shape.inputBlock != lanes)
    return refuse("the input's channel block is not one vector");
  if (shape.group > 1 && shape.outChannelsPerGroup() % lanes != 0)
    return refuse("groups that neither fill vectors nor divide one");
  if (shape.group > 1 && shape.inputBlock != 0 && shape.inChannelsPerGroup() % lanes != 0)
    return refuse("input channels per group are no multiple of the channel block");
  if (shape.computesInput && shape.group > 1)
    return refuse("groups would each compute the whole input");
  auto plan = std::make_unique<DenseConvolution>(shape, target);
  if (plan->writtenAccumulators() > kMaxWrittenAccumulators)
    return refuse("its stride has too many phases");
  return plan;
}

} // namespace tokamak::codegen
