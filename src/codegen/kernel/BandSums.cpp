//===- BandSums.cpp - reductions over space that ride on a convolution's kernel --------------------===//
#include "codegen/kernel/BandSums.h"
#include "codegen/expression/Combine.h"
#include "codegen/kernel/ConvolutionChain.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <limits>

namespace tokamak::codegen {

using namespace mlir;

bool sumsBands(Operation *op) {
  auto window = dyn_cast<tk::WindowOp>(op);
  if (!window)
    return false;
  auto input = tk::tensorType(window.getInput());
  const ArrayRef<int64_t> kernel = window.getKernel();
  if (input.getRank() != 4 || input.getNumElements() == 0)
    return false;
  const int64_t rows = input.getDimSize(2), below = window.getPadsHigh()[0];
  return kernel[1] == input.getDimSize(3) && window.getStrides()[0] == kernel[0] &&
         llvm::all_of(window.getDilations(), [](int64_t dilation) { return dilation == 1; }) &&
         llvm::all_of(window.getPadsLow(), [](int64_t pad) { return pad == 0; }) &&
         window.getPadsHigh()[1] == 0 && below < kernel[0] && (rows + below) % kernel[0] == 0;
}

BandSums BandSums::find(KernelBody &body, SmallVector<Operation *> &heavy) {
  BandSums sums;
  SmallVector<Operation *> candidates, others;
  for (Operation *op : heavy)
    (sumsBands(op) ? candidates : others).push_back(op);
  // What another heavy operator reads is a part of the chain.
  for (Operation *op : heavy)
    for (Value operand : op->getOperands())
      for (Operation *behind : heavyBehind(operand, heavy))
        llvm::erase(candidates, behind);
  for (auto [number, value] : llvm::enumerate(body.results())) {
    auto behind = heavyBehind(value, heavy);
    const bool reads =
        llvm::any_of(behind, [&](Operation *op) { return llvm::is_contained(candidates, op); });
    sums.results.push_back({value, number, std::nullopt});
    if (!reads)
      continue;
    if (behind.size() > 1 || !readInPlace(value, behind.front()))
      return {};
    auto window = cast<tk::WindowOp>(behind.front());
    const auto *known = llvm::find(sums.windows, window);
    sums.results.back().window = known - sums.windows.begin();
    if (known == sums.windows.end())
      sums.windows.push_back(window);
  }
  llvm::erase_if(heavy, [&](Operation *op) {
    auto window = dyn_cast<tk::WindowOp>(op);
    return window && llvm::is_contained(sums.windows, window);
  });
  return sums;
}

SmallVector<Value> BandSums::wanted() const {
  SmallVector<Value> values;
  for (const Result &result : results)
    if (!result.window)
      values.push_back(result.value);
  for (tk::WindowOp window : windows)
    values.push_back(window.getInput());
  return values;
}

int64_t BandSums::bandRows() const {
  return windows.empty() ? 0 : tk::WindowOp(windows.front()).getKernel()[0];
}

bool BandSums::fit(Value result) const {
  return llvm::all_of(windows, [&](tk::WindowOp window) {
    return window.getInput().getType() == result.getType() && window.getKernel()[0] == bandRows();
  });
}

Value BandAccumulators::pointerTo(LoopBuilder &loops, size_t window, const PointIndex &block) const {
  Value within = loops.add(loops.sub(block.base, region.blocks.begin), block.offset);
  return loops.at(loops.at(memory, loops.mul(within, loops.lanes())),
                  static_cast<int64_t>(window) * blocks * loops.lanes());
}

void BandAccumulators::clear() {
  LoopBuilder loops(k.builder, k.loc, k.lanes());
  for (auto [number, window] : llvm::enumerate(sums.windows)) {
    const bool isMax = tk::WindowOp(window).getKind() == tk::ReduceKind::Max;
    Value neutral = loops.splat(isMax ? -std::numeric_limits<float>::infinity() : 0);
    Value first = loops.at(memory, static_cast<int64_t>(number) * blocks * loops.lanes());
    loops.loop(loops.index(0), loops.index(blocks), 1,
               [&](Value block) { loops.store(neutral, loops.at(first, loops.mul(block, loops.lanes()))); });
  }
}

EpilogueFn BandAccumulators::epilogue(Operation *anchor, const AnchorOperands &operands) {
  return [this, anchor, operands](OpBuilder &builder, Location loc, const AccumulatorPoint &point) {
    atPoint(k, anchor, operands, builder, loc, point, [&](ElementBuilder &e, const PointPlace &place) {
      for (const BandSums::Result &result : sums.results)
        if (!result.window)
          storeBehind(e, anchor->getResult(0), place.index, result.value, k.outputs[result.number]);
      add(e, place, point);
      if (point.endsTile)
        flush(e);
    });
  };
}

/// Lanes without results are added up as well; nothing reads those sums.
void BandAccumulators::add(ElementBuilder &e, const PointPlace &place, const AccumulatorPoint &point) {
  for (auto [number, window] : llvm::enumerate(sums.windows)) {
    tk::WindowOp op = window;
    Value element = e.element(op.getInput(), place.index);
    auto *known = llvm::find_if(running, [&, number = number](const Running &sum) {
      return sum.window == number && sum.block.base == point.block.base &&
             sum.block.offset == point.block.offset;
    });
    if (known == running.end())
      running.push_back({number, point.block, element});
    else
      known->sum = combine(e, op.getKind(), DataType::Float32, known->sum, element);
  }
}

void BandAccumulators::flush(ElementBuilder &e) {
  LoopBuilder loops(e.builder(), e.location(), k.lanes());
  for (const Running &tile : running) {
    tk::WindowOp window = sums.windows[tile.window];
    Value pointer = pointerTo(loops, tile.window, tile.block);
    loops.store(combine(e, window.getKind(), DataType::Float32, loops.load(pointer), tile.sum), pointer);
  }
  running.clear();
}

void BandAccumulators::store(Value band, int64_t bands) {
  LoopBuilder loops(k.builder, k.loc, k.lanes());
  const int64_t channels = tk::tensorType(sums.windows.front()->getResult(0)).getDimSize(1);
  const int64_t rest = channels % loops.lanes(), last = region.blocks.extent - 1;
  loops.loop(region.blocks.begin, region.blocks.end, 1, [&](Value block) {
    auto emit = [&](int64_t validLanes) { storeBlock(loops, block, validLanes, band, bands); };
    if (rest == 0 || last == 0)
      return emit(rest ? rest : loops.lanes());
    loops.ifEqual(block, loops.index(last), [&] { emit(rest); }, [&] { emit(loops.lanes()); });
  });
}

void BandAccumulators::storeBlock(LoopBuilder &loops, Value block, int64_t validLanes, Value band,
                                  int64_t bands) {
  IndexSpace space;
  ElementBuilder e(loops.opBuilder(), loops.location(), space, loops.lanes());
  k.bindArguments(e);
  if (validLanes < loops.lanes()) {
    SmallVector<bool> bits(static_cast<size_t>(loops.lanes()));
    std::fill_n(bits.begin(), validLanes, true);
    auto type = VectorType::get({loops.lanes()}, loops.opBuilder().getI1Type());
    e.setMask(
        loops.opBuilder().create<arith::ConstantOp>(loops.location(), DenseElementsAttr::get(type, bits)));
  }
  for (auto [number, window] : llvm::enumerate(sums.windows)) {
    Value sum = loops.load(pointerTo(loops, number, {block}));
    // Each result reads the sum at its own place only.
    e.bindSource(tk::WindowOp(window).getResult(), [sum](ArrayRef<Index>) { return sum; });
  }
  const SmallVector<Index> index{
      space.uniform(region.image, 0, region.images - 1),
      space.add(space.scale(space.uniform(block, 0, region.blocks.extent - 1), loops.lanes()), e.laneIndex()),
      space.uniform(band, 0, bands - 1), Index(0)};
  for (const BandSums::Result &result : sums.results)
    if (result.window)
      storeBehind(e, tk::WindowOp(sums.windows[*result.window]).getResult(), index, result.value,
                  k.outputs[result.number]);
}

} // namespace tokamak::codegen
