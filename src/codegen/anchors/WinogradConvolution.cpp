//===- WinogradConvolution.cpp - 3x3 convolutions by minimal filtering
//------------------------------------===//
#include "codegen/anchors/WinogradConvolution.h"
#include "codegen/anchors/PanelPrefetch.h"
#include "codegen/anchors/RegisterTile.h"
#include "codegen/anchors/WinogradTransform.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace mlir;

namespace tokamak::codegen {
namespace {

using Values = LoopBuilder::Values;

/// Cycles for one point of a tile and one block of channels, of transforming inputs.
constexpr double cyclesPerInputPoint = 2.5;
/// Output channels of a task, at least, where its inputs are transformed for it alone.
constexpr int64_t kMinChannels = 64;

class WinogradConvolution final : public ConvolutionPlan {
public:
  WinogradConvolution(const ConvolutionShape &shape, int64_t outputs, const TargetDescription &target);

  Tensor pack(const Tensor &weight) const override;
  int64_t taskCount() const override { return tileBlocks() * splits; }
  int64_t scratchBytes() const override { return 4 * scratchSize; }
  void emit(OpBuilder &builder, Location loc, Value input, Value packedWeight, Value scratch, Value begin,
            Value end, const EpilogueFn &epilogue, const ConvolutionInputFn &compute) const override;
  int64_t blocksAtOnce() const override { return tileVectors; }
  FilteringTraffic traffic() const;
  void emitRegion(OpBuilder &, Location, Value, Value, Value, const ConvolutionRegion &, const EpilogueFn &,
                  const ConvolutionInputFn &) const override {
    llvm_unreachable("there is no such plan for bands of rows");
  }

private:
  friend class TileEmitter;
  /// Cuts the work into tasks, enough for all threads: by tiles, of which each task reads the weights again,
  /// and by output channels, for which each transforms the inputs again; whichever takes less time.
  void shareOut(int64_t mostProducts, const TargetDescription &target);
  int64_t points() const { return side * side; }
  int64_t tilesPerImage() const { return tileRows * tileColumns; }
  int64_t tileCount() const { return shape.batch * tilesPerImage(); }
  int64_t tilesPerBlock() const { return productRows * productsPerBlock; }
  int64_t tileBlocks() const { return llvm::divideCeil(tileCount(), tilesPerBlock()); }
  int64_t groups() const { return llvm::divideCeil(outVectors, tileVectors); }
  int64_t lastVectors() const { return outVectors - (groups() - 1) * tileVectors; }
  int64_t panelSize() const { return shape.inChannels * tileVectors * lanes; }
  /// Of the transformed inputs, [point][channel block][tile][lane].
  int64_t blockStride() const { return tilePitch * lanes; }
  int64_t pointStride() const { return inBlocks * blockStride(); }

  ConvolutionShape shape;
  WinogradTransform transform;
  int64_t lanes, side, results; ///< side: of a tile's inputs; results: of its outputs
  int64_t tileRows, tileColumns, inBlocks, outVectors;
  int64_t tileVectors;      ///< of output channels in a register tile
  int64_t productRows;      ///< tiles in a register tile
  int64_t productsPerBlock; ///< register tiles for which a task transforms inputs
  int64_t tilePitch = 0;    ///< odd, so that points do not meet in the same cache sets
  int64_t splits = 1;       ///< of the output channels
  PanelPrefetch nextPanel;  ///< of the next point, or of the first of the next group
  // Parts of a task's scratch, in elements.
  int64_t productsAt = 0, halfAt = 0, patchAt = 0, scratchSize = 0;
};

WinogradConvolution::WinogradConvolution(const ConvolutionShape &shape, int64_t outputs,
                                         const TargetDescription &target)
    : shape(shape), transform(WinogradTransform::ofOutputs(outputs)), lanes(target.lanes()),
      side(transform.inputs()), results(outputs), tileRows(llvm::divideCeil(shape.output[1], outputs)),
      tileColumns(llvm::divideCeil(shape.output[2], outputs)),
      inBlocks(llvm::divideCeil(shape.inChannels, lanes)),
      outVectors(llvm::divideCeil(shape.outChannels, lanes)), tileVectors(std::min<int64_t>(2, outVectors)) {
  int64_t products = 0, larger = 0;
  productRows =
      balancedTile(std::max<int64_t>(tileCount(), 1), maxPositions(tileVectors, target), products, larger);
  // The transformed inputs are read for every group of output channels.
  const int64_t bytesPerProduct = 4 * points() * inBlocks * productRows * lanes;
  shareOut(std::clamp<int64_t>(target.l2Bytes / 2 / std::max<int64_t>(bytesPerProduct, 1), 1,
                               std::max<int64_t>(1, products)),
           target);
  nextPanel = PanelPrefetch(panelSize(), tileVectors * lanes, groups() * points(), productsPerBlock, target);
  tilePitch = tilesPerBlock() | 1;
  productsAt = points() * pointStride();
  halfAt = productsAt + points() * tilesPerBlock() * tileVectors * lanes;
  patchAt = halfAt + points() * lanes;
  scratchSize = patchAt + points() * lanes;
}

void WinogradConvolution::shareOut(int64_t mostProducts, const TargetDescription &target) {
  const int64_t enoughTasks = std::min<int64_t>(8, 2 * target.cores);
  const double weightSeconds = static_cast<double>(4 * groups() * points() * panelSize()) /
                               target.bandwidth[static_cast<size_t>(MemoryLevel::L3)];
  const double transformSeconds =
      cyclesPerInputPoint * static_cast<double>(points() * inBlocks * tileCount()) / target.clockHz;
  double least = 0;
  bool hasEnough = false;
  int64_t bestProducts = 0, bestSplits = 1;
  for (splits = 1; splits == 1 || groups() * tileVectors * lanes >= kMinChannels * splits; splits *= 2) {
    productsPerBlock = mostProducts;
    while (productsPerBlock > 1 && taskCount() < enoughTasks)
      --productsPerBlock;
    const double seconds =
        static_cast<double>(tileBlocks()) * weightSeconds + static_cast<double>(splits) * transformSeconds;
    const bool isEnough = taskCount() >= enoughTasks;
    if (bestProducts == 0 || (isEnough && seconds < least) || !hasEnough) {
      bestProducts = productsPerBlock, bestSplits = splits, least = seconds;
      hasEnough = isEnough;
    }
  }
  productsPerBlock = bestProducts, splits = bestSplits;
}

FilteringTraffic WinogradConvolution::traffic() const {
  FilteringTraffic traffic;
  traffic.weights = 4 * groups() * points() * panelSize();
  traffic.weightPasses = std::max<int64_t>(tileBlocks(), 1);
  traffic.inputPasses = splits;
  traffic.scratch = scratchBytes();
  const int64_t ofPoint = 4 * points() * tileCount() * lanes; // of one vector of channels, all tiles
  const int64_t inputs = ofPoint * inBlocks, products = ofPoint * outVectors;
  traffic.scratchWritten = splits * inputs + products;
  traffic.scratchRead = groups() * inputs + products;
  return traffic;
}

Tensor WinogradConvolution::pack(const Tensor &weight) const {
  // [group of output channels][point][input channel][vector of the group, lane]
  Tensor packed(DataType::Float32, {groups() * points() * panelSize()});
  auto *to = reinterpret_cast<float *>(packed.mutableBytes());
  const auto *from = reinterpret_cast<const float *>(weight.bytes());
  const auto matrix = transform.filterMatrix();
  const int64_t width = tileVectors * lanes;
  for (int64_t out = 0; out < shape.outChannels; ++out)
    for (int64_t in = 0; in < shape.inChannels; ++in) {
      const float *taps = from + (out * shape.inChannels + in) * 9;
      const int64_t group = out / width;
      const int64_t rowWidth = (group + 1 == groups() ? lastVectors() : tileVectors) * lanes;
      for (int64_t row = 0; row < side; ++row)
        for (int64_t column = 0; column < side; ++column) {
          double sum = 0;
          for (size_t i = 0; i < 3; ++i)
            for (size_t j = 0; j < 3; ++j)
              sum += matrix[row][i] * matrix[column][j] * static_cast<double>(taps[i * 3 + j]);
          to[(group * points() + row * side + column) * panelSize() + in * rowWidth + out % width] =
              static_cast<float>(sum);
        }
    }
  return packed;
}

/// Emits what a task does with its tiles.
class TileEmitter {
public:
  TileEmitter(const WinogradConvolution &plan, LoopBuilder &loops, Value scratch)
      : plan(plan), loops(loops), transform(plan.transform), lanes(plan.lanes), side(plan.side),
        results(plan.results), products(loops.at(scratch, plan.productsAt)),
        half(loops.at(scratch, plan.halfAt)), patch(loops.at(scratch, plan.patchAt)), factors(scratch) {}

  /// Where a tile lies.
  struct Tile {
    Value image, row, column; ///< of its first result
  };
  Tile tileAt(Value number) const;
  /// Transforms all channels of a tile, the `number`th of the task.
  void emitInputs(Value input, const Tile &tile, Value number);
  /// All points' products for one group of output channels, of register tiles [0, count). The rows of a
  /// register tile are tiles of the image; those beyond the last one hold anything.
  void emitProducts(Value panels, int64_t vectors, Value count);
  /// Transforms one vector of the group back, and hands the results to the epilogue.
  void emitResults(const Tile &tile, Value number, int64_t vectors, int64_t vector, AccumulatorPoint point,
                   const EpilogueFn &epilogue);

private:
  void emitInput(Value from, int64_t rowStride, Value to);
  Values loadAlong(Value first, int64_t stride);
  Values sumProducts(Value tiles, Value panel, Value ahead, int64_t vectors);

  const WinogradConvolution &plan;
  LoopBuilder &loops;
  const WinogradTransform &transform;
  int64_t lanes, side, results;
  Value products, half, patch, factors; ///< parts of the scratch
};

TileEmitter::Tile TileEmitter::tileAt(Value number) const {
  Tile tile;
  tile.image = loops.div(number, plan.tilesPerImage());
  Value inImage = loops.rem(number, plan.tilesPerImage());
  tile.row = loops.mul(loops.div(inImage, plan.tileColumns), results);
  tile.column = loops.mul(loops.rem(inImage, plan.tileColumns), results);
  return tile;
}

Values TileEmitter::loadAlong(Value first, int64_t stride) {
  Values values;
  for (int64_t i = 0; i < side; ++i)
    values.push_back(loops.load(first, i * stride));
  return values;
}

/// Transforms one block of channels of a tile: columns into scratch, then rows.
void TileEmitter::emitInput(Value from, int64_t rowStride, Value to) {
  loops.loop(loops.index(0), loops.index(side), 1, [&](Value column) {
    Value offset = loops.mul(column, lanes), toColumn = loops.at(half, offset);
    Values ofColumn = transform.transformInput(loops, loadAlong(loops.at(from, offset), rowStride));
    for (int64_t row = 0; row < side; ++row)
      loops.store(ofColumn[row], toColumn, row * side * lanes);
  });
  loops.loop(loops.index(0), loops.index(side), 1, [&](Value row) {
    Value toRow = loops.at(to, loops.mul(row, side * plan.pointStride()));
    Values ofRow =
        transform.transformInput(loops, loadAlong(loops.at(half, loops.mul(row, side * lanes)), lanes));
    for (int64_t column = 0; column < side; ++column)
      loops.store(ofRow[column], toRow, column * plan.pointStride());
  });
}

void TileEmitter::emitInputs(Value input, const Tile &tile, Value number) {
  const ConvolutionShape &shape = plan.shape;
  const int64_t rowStride = shape.input[2] * lanes, plane = shape.input[1] * rowStride;
  // [low, high) of the tile's rows and columns lie inside the image.
  struct Inside {
    Value start, low, high;
  };
  auto inside = [&](Value first, int64_t axis) {
    Value start = loops.add(first, -shape.padsLow[axis]);
    return Inside{start, loops.max(loops.sub(loops.index(0), start), loops.index(0)),
                  loops.min(loops.sub(loops.index(shape.input[axis]), start), loops.index(side))};
  };
  const Inside rows = inside(tile.row, 1), columns = inside(tile.column, 2);
  const int64_t pitch = shape.inputPitch ? shape.inputPitch : plan.inBlocks * plane;
  Value image = loops.at(input, loops.mul(tile.image, pitch));
  Value first = loops.at(loops.at(image, loops.mul(rows.start, rowStride)), loops.mul(columns.start, lanes));
  Value toTile = loops.at(factors, loops.mul(number, lanes));
  auto forEachBlock = [&](llvm::function_ref<void(Value, Value)> body) {
    loops.loop(loops.index(0), loops.index(plan.inBlocks), 1, [&](Value block) {
      body(loops.at(first, loops.mul(block, plane)), loops.at(toTile, loops.mul(block, plan.blockStride())));
    });
  };
  auto emitWhole = [&] { forEachBlock([&](Value from, Value to) { emitInput(from, rowStride, to); }); };
  auto emitBorder = [&] {
    loops.loop(loops.index(0), loops.index(plan.points()), 1,
               [&](Value i) { loops.store(loops.zero(), loops.at(patch, loops.mul(i, lanes))); });
    forEachBlock([&](Value from, Value to) {
      loops.loop(rows.low, rows.high, 1, [&](Value row) {
        loops.loop(columns.low, columns.high, 1, [&](Value column) {
          Value x = loops.load(loops.at(loops.at(from, loops.mul(row, rowStride)), loops.mul(column, lanes)));
          loops.store(x, loops.at(patch, loops.mul(loops.add(loops.mul(row, side), column), lanes)));
        });
      });
      emitInput(patch, side * lanes, to);
    });
  };
  Value present = loops.add(loops.sub(rows.high, rows.low), loops.sub(columns.high, columns.low));
  loops.ifEqual(present, loops.index(2 * side), emitWhole, emitBorder);
}

/// The products of one point: of a register tile of image tiles by the output channels of a panel. `ahead`:
/// as of PanelPrefetch.
Values TileEmitter::sumProducts(Value tiles, Value panel, Value ahead, int64_t vectors) {
  const int64_t width = vectors * lanes, inChannels = plan.shape.inChannels;
  Values zeros(plan.productRows * vectors, loops.zero());
  return loops.loop(
      loops.index(0), loops.index(plan.inBlocks), 1, zeros, [&](Value block, ValueRange carried) {
        // The padding lanes of a ragged last block hold anything.
        Value channels = loops.index(lanes);
        if (inChannels % lanes != 0)
          channels = loops.min(channels, loops.sub(loops.index(inChannels), loops.mul(block, lanes)));
        Value x = loops.at(tiles, loops.mul(block, plan.blockStride()));
        Value w = loops.at(panel, loops.mul(block, lanes * width));
        return loops.loop(loops.index(0), channels, 1, carried, [&](Value channel, ValueRange sums) {
          Values next(sums), weights;
          Value row = loops.at(w, loops.mul(channel, width)), element = loops.at(x, channel);
          for (int64_t v = 0; v < vectors; ++v)
            weights.push_back(loops.load(row, v * lanes));
          plan.nextPanel.emit(loops, row, ahead);
          for (int64_t tile = 0; tile < plan.productRows; ++tile) {
            Value factor = loops.broadcast(element, tile * lanes);
            for (int64_t v = 0; v < vectors; ++v) {
              Value &sum = next[tile * vectors + v];
              sum = loops.fma(factor, weights[v], sum);
            }
          }
          return next;
        });
      });
}

void TileEmitter::emitProducts(Value panels, int64_t vectors, Value count) {
  const int64_t width = vectors * lanes;
  loops.loop(loops.index(0), loops.index(plan.points()), 1, [&](Value point) {
    Value panel = loops.at(panels, loops.mul(point, plan.panelSize()));
    Value ofPoint = loops.at(factors, loops.mul(point, plan.pointStride()));
    Value to = loops.at(products, loops.mul(point, plan.tilesPerBlock() * width));
    loops.loop(loops.index(0), count, 1, [&](Value tile) {
      Values sums = sumProducts(loops.at(ofPoint, loops.mul(tile, plan.productRows * lanes)), panel,
                                plan.nextPanel.distance(loops, tile), vectors);
      Value toTile = loops.at(to, loops.mul(tile, plan.productRows * width));
      for (auto [i, sum] : llvm::enumerate(sums))
        loops.store(sum, toTile, static_cast<int64_t>(i) * lanes);
    });
  });
}

void TileEmitter::emitResults(const Tile &tile, Value number, int64_t vectors, int64_t vector,
                              AccumulatorPoint point, const EpilogueFn &epilogue) {
  const int64_t stride = plan.tilesPerBlock() * vectors * lanes;
  Value first = loops.at(loops.at(products, loops.mul(number, vectors * lanes)), vector * lanes);
  loops.loop(loops.index(0), loops.index(side), 1, [&](Value column) {
    Value to = loops.at(half, loops.mul(column, lanes));
    Values ofColumn = transform.transformOutput(
        loops, loadAlong(loops.at(first, loops.mul(column, stride)), side * stride));
    for (int64_t row = 0; row < results; ++row)
      loops.store(ofColumn[row], to, row * side * lanes);
  });
  loops.loop(loops.index(0), loops.index(results), 1, [&](Value row) {
    Value to = loops.at(patch, loops.mul(row, results * lanes));
    Values ofRow =
        transform.transformOutput(loops, loadAlong(loops.at(half, loops.mul(row, side * lanes)), lanes));
    for (int64_t column = 0; column < results; ++column)
      loops.store(ofRow[column], to, column * lanes);
  });
  const ConvolutionShape::Axes &output = plan.shape.output;
  Value rows = loops.min(loops.index(results), loops.sub(loops.index(output[1]), tile.row));
  Value columns = loops.min(loops.index(results), loops.sub(loops.index(output[2]), tile.column));
  loops.loop(loops.index(0), rows, 1, [&](Value row) {
    loops.loop(loops.index(0), columns, 1, [&](Value column) {
      point.value = loops.load(loops.at(patch, loops.mul(loops.add(loops.mul(row, results), column), lanes)));
      point.after = {PointIndex{loops.add(tile.row, row)}, PointIndex{loops.add(tile.column, column)}};
      epilogue(loops.opBuilder(), loops.location(), point);
    });
  });
}

void WinogradConvolution::emit(OpBuilder &builder, Location loc, Value input, Value packedWeight,
                               Value scratch, Value begin, Value end, const EpilogueFn &epilogue,
                               const ConvolutionInputFn & /*compute*/) const {
  LoopBuilder loops(builder, loc, lanes);
  TileEmitter emitter(*this, loops, scratch);
  const int64_t groupsPerSplit = llvm::divideCeil(groups(), splits);
  loops.loop(begin, end, 1, [&](Value task) {
    Value firstTile = loops.mul(loops.div(task, splits), tilesPerBlock());
    Value count = loops.min(loops.index(tilesPerBlock()), loops.sub(loops.index(tileCount()), firstTile));
    auto forEachTile = [&](llvm::function_ref<void(Value, const TileEmitter::Tile &)> body) {
      loops.loop(loops.index(0), count, 1,
                 [&](Value i) { body(i, emitter.tileAt(loops.add(firstTile, i))); });
    };
    forEachTile([&](Value i, const TileEmitter::Tile &tile) { emitter.emitInputs(input, tile, i); });

    auto emitGroup = [&](Value group, int64_t vectors, int64_t validLanes) {
      emitter.emitProducts(loops.at(packedWeight, loops.mul(group, points() * panelSize())), vectors,
                           loops.div(loops.add(count, productRows - 1), productRows));
      forEachTile([&](Value i, const TileEmitter::Tile &tile) {
        for (int64_t v = 0; v < vectors; ++v) {
          AccumulatorPoint point;
          point.before = {PointIndex{tile.image}};
          point.block = {loops.mul(group, tileVectors), v};
          point.validLanes = v + 1 == vectors ? validLanes : lanes;
          emitter.emitResults(tile, i, vectors, v, point, epilogue);
        }
      });
    };
    const int64_t lastValidLanes = shape.outChannels - (outVectors - 1) * lanes;
    const bool isRagged = lastVectors() != tileVectors || lastValidLanes != lanes;
    Value firstGroup = loops.mul(loops.rem(task, splits), groupsPerSplit);
    Value lastGroup = loops.min(loops.add(firstGroup, groupsPerSplit), loops.index(groups()));
    loops.loop(firstGroup, lastGroup, 1, [&](Value group) {
      if (groups() == 1 || !isRagged)
        emitGroup(group, lastVectors(), lastValidLanes);
      else
        loops.ifEqual(
            group, loops.index(groups() - 1), [&] { emitGroup(group, lastVectors(), lastValidLanes); },
            [&] { emitGroup(group, tileVectors, lanes); });
    });
  });
}

} // namespace

/// Null, or why there is no such plan.
static llvm::Error refuse(const ConvolutionShape &shape, int64_t outputs, const TargetDescription &target) {
  auto because = [](const char *reason) { return llvm::createStringError(reason); };
  if (shape.window != ConvolutionShape::Window::None || shape.transposed || shape.group != 1)
    return because("no plain convolution");
  if (outputs != 2 && outputs != 4)
    return because("no tiles of that size");
  using Axes = ConvolutionShape::Axes;
  if (shape.spatialRank != 2 || shape.kernel != Axes{1, 3, 3})
    return because("no kernel of 3x3");
  if (shape.strides != Axes{1, 1, 1} || shape.dilations != Axes{1, 1, 1})
    return because("strides or dilations");
  if (shape.computesInput || shape.bandRows || shape.inputBlock != target.lanes())
    return because("the input is not in memory in blocks of one vector of channels");
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<ConvolutionPlan>>
createWinogradConvolution(const ConvolutionShape &shape, int64_t outputs, const TargetDescription &target) {
  if (llvm::Error reason = refuse(shape, outputs, target))
    return reason;
  return std::make_unique<WinogradConvolution>(shape, outputs, target);
}

llvm::Expected<FilteringTraffic> filteringTraffic(const ConvolutionShape &shape, int64_t outputs,
                                                  const TargetDescription &target) {
  if (llvm::Error reason = refuse(shape, outputs, target))
    return reason;
  return WinogradConvolution(shape, outputs, target).traffic();
}

} // namespace tokamak::codegen
