//===- ConvolutionChain.cpp - convolutions of one group that compute each other's inputs -------------===//
#include "codegen/kernel/ConvolutionChain.h"
#include "codegen/anchors/Convolution.h"
#include "codegen/anchors/LoopBuilder.h"
#include "codegen/kernel/AnchorOperands.h"
#include "codegen/kernel/BandSums.h"
#include "codegen/kernel/Prologue.h"

namespace tokamak::codegen {

using namespace mlir;

namespace {

/// A convolution of the chain. The first reads memory or a computed expression, each of the others what the
/// one before it computes.
struct Link {
  Operation *anchor = nullptr;
  AnchorOperands operands;
  std::shared_ptr<ConvolutionPlan> plan;
  int64_t scratchOffset = 0;      ///< of its computed input, in elements
  ConvolutionInput computedInput; ///< where elementwise operators compute that

  Value input() const { return anchor->getOperand(0); }
  /// A window has no weights, and asks for none.
  Value weightPointer(const KernelContext &k) const {
    return operands.weight ? pointerTo(k, operands.weight) : k.scratch;
  }
};

} // namespace

SmallVector<Operation *> heavyBehind(Value value, ArrayRef<Operation *> heavy) {
  SmallVector<Operation *> found;
  SmallVector<Value> pending{value};
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op || !seen.insert(next).second)
      continue;
    if (!llvm::is_contained(heavy, op))
      pending.append(op->operand_begin(), op->operand_end());
    else if (!llvm::is_contained(found, op))
      found.push_back(op);
  }
  return found;
}

namespace {

bool isFloatPlane(Operation *anchor) {
  auto type = tk::tensorType(anchor->getResult(0));
  return type.getElementType().isF32() && type.getRank() == 4 && type.getNumElements() > 0;
}

/// The convolutions in the order of computation, and the sums that ride on the last one; empty if the heavy
/// operators are no chain.
SmallVector<Link> findChain(KernelBody &body, const KernelMemory &memory, BandSums &sums) {
  SmallVector<Operation *> heavy = body.heavyOperators();
  sums = BandSums::find(body, heavy);
  SmallVector<Link> chain;
  // From the back: the results depend on the last one only, its input on the one before it only, ...
  SmallVector<Value> wanted = sums.empty() ? SmallVector<Value>(body.results()) : sums.wanted();
  while (true) {
    SmallVector<Operation *> behind;
    for (Value value : wanted)
      for (Operation *op : heavyBehind(value, heavy))
        if (!llvm::is_contained(behind, op))
          behind.push_back(op);
    if (behind.empty())
      break;
    Operation *anchor = behind.front();
    bool isLast = chain.empty();
    bool isSupported = isa<tk::ConvOp, tk::ConvTransposeOp, tk::WindowOp>(anchor);
    if (behind.size() > 1 || !isSupported || !isFloatPlane(anchor) || !readInPlace(wanted, anchor))
      return {};
    if (!isLast && wanted.front().getType() != anchor->getResult(0).getType())
      return {};
    if (isLast && !sums.fit(anchor->getResult(0)))
      return {};
    Link link{anchor, operandsOf(memory, anchor)};
    if (!isa<tk::WindowOp>(anchor) && !mayPack(body, memory, link.operands.weight, anchor))
      return {};
    if (link.operands.bias && !heavyBehind(*link.operands.bias, heavy).empty())
      return {};
    chain.insert(chain.begin(), link);
    wanted = {link.input()};
  }
  return chain.size() == heavy.size() ? chain : SmallVector<Link>();
}

/// Results of the last convolution as tasks: bands of rows, by channels where each channel block computes its
/// own part of the input.
struct BandTasks {
  int64_t images = 1, rows = 1, bandRows = 1;
  int64_t blocks = 1, stepBlocks = 1; ///< channel blocks, and how many of them a task computes

  int64_t bands() const { return (rows + bandRows - 1) / bandRows; }
  int64_t steps() const { return (blocks + stepBlocks - 1) / stepBlocks; }
  int64_t count() const { return images * bands() * steps(); }
  /// The band of task `number`.
  Value bandOf(LoopBuilder &loops, Value number) const {
    return loops.rem(loops.div(number, steps()), bands());
  }
  /// What it computes.
  ConvolutionRegion regionOf(LoopBuilder &loops, Value number) const {
    Value first = loops.mul(loops.rem(number, steps()), stepBlocks);
    Value begin = loops.mul(bandOf(loops, number), bandRows);
    ConvolutionRegion region;
    region.image = loops.div(loops.div(number, steps()), bands());
    region.images = images;
    region.blocks = {first, loops.min(loops.add(first, stepBlocks), loops.index(blocks)), blocks};
    region.spatial = {{begin, loops.min(loops.add(begin, bandRows), loops.index(rows)), rows}};
    return region;
  }
};

/// Chooses the bands and plans each convolution for them.
class ChainPlanner {
public:
  /// `sums`: how many ride on the last convolution.
  ChainPlanner(SmallVector<Link> chain, int64_t sums, const KernelMemory &memory,
               const TargetDescription &target)
      : chain(std::move(chain)), sums(sums), memory(memory), target(target) {}

  /// The highest bands whose scratch leaves half of the second level to weights, and that are enough for the
  /// threads. (Lower ones, weighing what they compute and read again against how much of the level they fill,
  /// were 2 to 4 % slower on mobilenet_v2 at 448x448 and a text detector at 640x640.)
  bool plan() {
    constexpr int64_t enoughTasks = 8;
    if (!start())
      return false;
    for (int64_t count = 1; count <= bands.rows; ++count) {
      int64_t bandRows = (bands.rows + count - 1) / count;
      if (count > 1 && bandRows == bands.bandRows)
        continue;
      if (!planBands(bandRows))
        return false;
      if (fitsCache() && bands.count() >= enoughTasks)
        return true;
    }
    return fitsCache();
  }
  /// The same for bands of so many rows.
  bool plan(int64_t bandRows) { return start() && planBands(bandRows) && hasRoom(); }

  const BandTasks &tasks() const { return bands; }
  ArrayRef<Link> links() const { return chain; }
  /// In elements.
  int64_t sumsOffset() const { return scratchElements; }
  int64_t scratchBytes() const {
    return (scratchElements + sums * bands.stepBlocks * target.lanes()) * static_cast<int64_t>(sizeof(float));
  }

private:
  bool start() {
    if (!chooseSteps())
      return false;
    auto type = tk::tensorType(chain.back().anchor->getResult(0));
    bands.images = type.getDimSize(0);
    bands.rows = type.getDimSize(2);
    bands.blocks = (type.getDimSize(1) + target.lanes() - 1) / target.lanes();
    return true;
  }

  bool hasRoom() const { return scratchBytes() <= target.l2Bytes / 2; }
  /// A dense convolution alone reads the rows of its band once for each tile of channels.
  bool fitsCache() const {
    auto conv = dyn_cast<tk::ConvOp>(chain.front().anchor);
    if (chain.size() > 1 || !conv || conv.getGroup() != 1)
      return hasRoom();
    auto input = tk::tensorType(chain.front().input());
    const int64_t image = input.getNumElements() / bands.images * static_cast<int64_t>(sizeof(float));
    return hasRoom() && image / bands.bands() <= target.l2Bytes / 2;
  }

  std::shared_ptr<ConvolutionPlan> create(size_t number, int64_t bandRows) {
    const Link &link = chain[number];
    std::optional<Layout> layout;
    if (link.operands.input)
      layout = memory.arguments[*link.operands.input].layout;
    auto shape = ConvolutionPlan::describe(link.anchor, layout, target);
    if (!shape) {
      llvm::consumeError(shape.takeError());
      return nullptr;
    }
    shape->bandRows = bandRows;
    shape->inputBlocks = inputBlocks[number];
    auto plan = ConvolutionPlan::create(*shape, target);
    if (plan)
      return std::move(*plan);
    llvm::consumeError(plan.takeError());
    return nullptr;
  }

  /// How many channel blocks each asks for at a time: as many as suit the one before it.
  bool chooseSteps() {
    inputBlocks.assign(chain.size(), 1);
    for (size_t i = 0; i == 0 || i + 1 < chain.size(); ++i) {
      auto plan = create(i, 1);
      if (!plan && chain[i].operands.input) { // not from memory as it lies: brought into blocks first
        chain[i].operands.input = std::nullopt;
        plan = create(i, 1);
      }
      if (!plan)
        return false;
      if (i + 1 < chain.size())
        inputBlocks[i + 1] = plan->blocksAtOnce();
    }
    return true;
  }

  /// Plans bands of so many rows of the last result, and from there what each needs of the one before.
  bool planBands(int64_t bandRows) {
    bands.bandRows = bandRows;
    scratchElements = 0;
    for (size_t i = chain.size(); i-- > 0;) {
      Link &link = chain[i];
      link.plan = create(i, bandRows);
      if (!link.plan)
        return false;
      link.scratchOffset = scratchElements;
      constexpr int64_t lineElements = 16;
      int64_t elements = link.plan->scratchBytes() / static_cast<int64_t>(sizeof(float));
      scratchElements += (elements + lineElements - 1) / lineElements * lineElements;
      bandRows = std::max<int64_t>(link.plan->inputRowsAtOnce(), 1);
    }
    // All blocks read what the last one has computed once, unless each has its own.
    bands.stepBlocks = std::min(chain.back().plan->blocksAtOnce(), bands.blocks);
    return true;
  }

  SmallVector<Link> chain;
  int64_t sums;
  SmallVector<int64_t> inputBlocks;
  const KernelMemory &memory;
  const TargetDescription &target;
  int64_t scratchElements = 0;
  BandTasks bands;
};

/// What puts `input`, which depends on the accumulators of `inner`, into a region.
EpilogueFn storeInto(KernelContext &k, const Link &inner, Value input, const ConvolutionRegion &region) {
  return [&k, &inner, input, region](OpBuilder &builder, Location loc, const AccumulatorPoint &point) {
    atPoint(k, inner.anchor, inner.operands, builder, loc, point,
            [&](ElementBuilder &e, const PointPlace &place) {
              IndexSpace &space = e.space();
              auto along = [&](const Index &at, const RegionAxis &axis, int64_t extent, int64_t stride) {
                return space.scale(space.sub(at, space.uniform(axis.begin, 0, extent)), stride);
              };
              Index position = space.add(
                  along(place.block, region.blocks, region.blocks.extent, region.blockStride), e.laneIndex());
              for (auto [axis, range] : llvm::enumerate(region.spatial))
                position = space.add(
                    position, along(place.index[2 + axis], range, range.extent, region.spatialStrides[axis]));
              Value element = e.element(input, place.index);
              e.setMask(nullptr); // the scratch has room for the whole vector
              e.store(element, vectorAt(region.memory, position), {});
            });
  };
}

/// What computes regions of the input of link `number`; nothing where it lies in memory.
ConvolutionInputFn inputOf(KernelContext &k, ArrayRef<Link> chain, size_t number) {
  const Link &link = chain[number];
  if (link.operands.input)
    return nullptr;
  if (number == 0)
    return computeConvolutionInput(k, link.computedInput);
  return [&k, chain, number](OpBuilder &builder, Location loc, const ConvolutionRegion &region) {
    const Link &inner = chain[number - 1];
    LoopBuilder loops(builder, loc, k.lanes());
    inner.plan->emitRegion(builder, loc, pointerTo(k, inner.operands.input), inner.weightPointer(k),
                           loops.at(k.scratch, inner.scratchOffset), region,
                           storeInto(k, inner, chain[number].input(), region), inputOf(k, chain, number - 1));
  };
}

} // namespace

std::optional<KernelStrategy> planConvolutionChain(KernelBody &body, const KernelMemory &memory,
                                                   const TargetDescription &target) {
  BandSums sums;
  SmallVector<Link> chain = findChain(body, memory, sums);
  if (chain.size() < (sums.empty() ? 2 : 1))
    return std::nullopt;
  ChainPlanner planner(std::move(chain), sums.count(), memory, target);
  if (!(sums.empty() ? planner.plan() : planner.plan(sums.bandRows())))
    return std::nullopt;
  SmallVector<Link> links(planner.links());
  KernelStrategy strategy;
  strategy.kind = "convolution";
  const BandTasks tasks = planner.tasks();
  strategy.tasks = tasks.count();
  strategy.scratchBytes = planner.scratchBytes();
  strategy.anchors.resize(links.size());
  double repeats = 1;
  for (size_t i = links.size(); i-- > 0;) {
    const Link &link = links[i];
    strategy.anchors[i] = {repeats, repeats * link.plan->inputRepeats(),
                           static_cast<double>(tasks.images * tasks.bands())};
    strategy.anchors[i].startsAnew = links.size() > 1;
    repeats = strategy.anchors[i].inputRepeats;
    if (!link.operands.weight)
      continue;
    strategy.packing.resize(std::max(strategy.packing.size(), *link.operands.weight + 1));
    strategy.packing[*link.operands.weight] = [plan = link.plan](const Tensor &weight) {
      return plan->pack(weight);
    };
  }
  constexpr ChainedAnchor riding{1, 1, 1, std::nullopt, /*startsAnew=*/false};
  strategy.anchors.insert(strategy.anchors.end(), static_cast<size_t>(sums.count()), riding);
  strategy.repeats = repeats;
  if (Link &first = links.front(); !first.operands.input) {
    first.computedInput = planConvolutionInput(body, memory, first.input(), target.lanes());
    strategy.accesses = vectorsComputed(first.input(), repeats, target) * first.computedInput.loads;
  }
  strategy.emit = [links, tasks, sums, sumsOffset = planner.sumsOffset()](KernelContext &k) {
    const Link &last = links.back();
    LoopBuilder loops(k.builder, k.loc, k.lanes());
    loops.loop(k.begin, k.end, 1, [&](Value task) {
      const ConvolutionRegion region = tasks.regionOf(loops, task);
      auto emit = [&](const EpilogueFn &epilogue) {
        last.plan->emitRegion(k.builder, k.loc, pointerTo(k, last.operands.input), last.weightPointer(k),
                              k.scratch, region, epilogue, inputOf(k, links, links.size() - 1));
      };
      if (sums.empty())
        return emit(epilogueFor(k, last.anchor, last.operands));
      BandAccumulators accumulators(k, sums, region, loops.at(k.scratch, sumsOffset), tasks.stepBlocks);
      accumulators.clear();
      emit(accumulators.epilogue(last.anchor, last.operands));
      accumulators.store(tasks.bandOf(loops, task), tasks.bands());
    });
  };
  return strategy;
}

std::optional<int64_t> bandRowsOf(KernelBody &body, const KernelMemory &memory,
                                  const TargetDescription &target) {
  BandSums sums;
  SmallVector<Link> chain = findChain(body, memory, sums);
  if (chain.empty() || (chain.size() == 1 && isa<tk::WindowOp>(chain.front().anchor)))
    return std::nullopt;
  if (!sums.empty())
    return sums.bandRows();
  ChainPlanner planner(std::move(chain), 1, memory, target);
  return planner.plan() ? std::optional(planner.tasks().bandRows) : std::nullopt;
}

} // namespace tokamak::codegen
