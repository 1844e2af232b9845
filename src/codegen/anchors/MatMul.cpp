//===- MatMul.cpp - matrix products as register-tiled kernels -----------------------------===//
#include "codegen/anchors/MatMul.h"
#include "codegen/anchors/AxisTiling.h"
#include "codegen/anchors/PackTransposed.h"
#include "codegen/anchors/PanelPrefetch.h"
#include "codegen/anchors/RegisterTile.h"
#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;

namespace tokamak::codegen {
namespace {

using Values = LoopBuilder::Values;

int64_t product(ArrayRef<int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t(1), std::multiplies<>());
}

/// Element stride of each batch axis of an operand, 0 where it broadcasts. `matrix`: elements of one matrix.
SmallVector<int64_t> batchStrides(ArrayRef<int64_t> extents, int64_t matrix) {
  SmallVector<int64_t> strides(extents.size());
  for (size_t axis = extents.size(); axis-- > 0; matrix *= extents[axis])
    strides[axis] = extents[axis] == 1 ? 0 : matrix;
  return strides;
}

class TiledMatMul final : public MatMulPlan {
public:
  TiledMatMul(const MatMulShape &shape, const TargetDescription &target);

  bool packsRhs() const override { return shape.rhsIsConstant; }
  Tensor pack(const Tensor &rhs) const override;
  int64_t taskCount() const override { return batches() * (panelsInside ? 1 : panels) * bands; }
  int64_t scratchBytes() const override {
    int64_t elements = (shape.computesLhs ? lhsScratch() : 0) + (packsToScratch() ? panelSize() : 0);
    return elements * static_cast<int64_t>(sizeof(float));
  }
  double lhsRepeats() const override {
    return batchRepeats(shape.lhsBatch) * static_cast<double>(panelsInside ? 1 : panels);
  }
  double rhsRepeats() const override { return batchRepeats(shape.rhsBatch) * static_cast<double>(bands); }
  int64_t tileCount() const override { return rowTiles.tileCount(); }
  MatMulRows rows() const override { return {tile.columns, tilesPerBand, foldsBatch}; }
  void emit(OpBuilder &builder, Location loc, Value lhs, Value rhs, Value scratch, Value begin, Value end,
            const EpilogueFn &epilogue, const MatMulInputFns &compute) const override;
  void emitBand(OpBuilder &builder, Location loc, Value lhs, Value rhs, Value scratch, const MatMulBand &band,
                const EpilogueFn &epilogue, const MatMulInputFns &compute) const override {
    LoopBuilder loops(builder, loc, target.lanes());
    emitPanels(loops, lhs, rhs, scratch, band, {}, epilogue, compute);
  }

private:
  RegisterTile registerTile() const;
  void chooseBands();
  void divideRows(int64_t products);
  bool packsToScratch() const { return shape.computesRhs || (!shape.rhsIsConstant && shape.transposeRhs); }
  /// Elements of the rows of the left operand that a task computes.
  int64_t lhsScratch() const { return std::min(tilesPerBand * tile.columns, rowCount) * lhsRowStride; }
  double batchRepeats(ArrayRef<int64_t> operand) const {
    return static_cast<double>(product(shape.batch)) /
           static_cast<double>(std::max<int64_t>(product(operand), 1));
  }
  int64_t batches() const { return foldsBatch ? 1 : product(shape.batch); }
  int64_t panelWidth() const { return tile.vectors * target.lanes(); }
  int64_t panelSize() const { return shape.k * panelWidth(); }
  /// Elements from one k to the next of what the microkernel reads as right operand.
  int64_t rhsPitch(int64_t vectorsOfPanel) const {
    return packsRhs() || packsToScratch() ? vectorsOfPanel * target.lanes()
                                          : shape.rhsRowStride.value_or(shape.n);
  }
  /// One panel of some rows; all of them where `panel` is null.
  void emitPanels(LoopBuilder &loops, Value lhs, Value rhs, Value scratch, const MatMulBand &band,
                  Value panel, const EpilogueFn &epilogue, const MatMulInputFns &compute) const;
  /// What the panels of a task share.
  struct TaskOperands {
    Value lhs, rhs, panelScratch;
  };
  void emitPanelTask(LoopBuilder &loops, const MatMulBand &band, const TaskOperands &operands, Value panel,
                     const EpilogueFn &epilogue, const MatMulInputFns &compute) const;
  Values emitTile(LoopBuilder &loops, Value lhs, Value rhs, Value ahead, int64_t width,
                  int64_t vectorsOfPanel, int64_t validLanes) const;
  void emitPanel(LoopBuilder &loops, const MatMulBand &band, Value panel, Value lhs, Value rhs,
                 int64_t vectorsOfPanel, int64_t validLanes, const EpilogueFn &epilogue) const;

  MatMulShape shape;
  TargetDescription target;
  /// Whether rows count through all matrices. Then a row index is taken apart for the epilogue.
  bool foldsBatch;
  int64_t rowCount; ///< of one product, folded batches included
  int64_t vectors;  ///< of a row
  int64_t lhsRowStride, lhsDepthStride;
  RegisterTile tile;
  AxisTiling rowTiles;
  int64_t panels;
  int64_t bands = 1, tilesPerBand = 1;
  bool panelsInner = false;  ///< consecutive tasks share a band of rows, else a panel
  bool panelsInside = false; ///< a task computes all panels of its rows
  PanelPrefetch nextPanel;   ///< of packed weights
};

/// Rows a multiple of this apart fall into one set of the first-level cache, which has 8 ways or more.
constexpr int64_t kSetPeriodBytes = 4096, kWays = 8;

} // namespace

int64_t computedRowStride(int64_t k, const TargetDescription &target) {
  int64_t stride = (k + target.lanes() - 1) / target.lanes() * target.lanes();
  return stride * static_cast<int64_t>(sizeof(float)) % kSetPeriodBytes == 0 ? stride + target.lanes()
                                                                             : stride;
}

namespace {

TiledMatMul::TiledMatMul(const MatMulShape &shape, const TargetDescription &target)
    : shape(shape), target(target), foldsBatch(shape.rows ? shape.rows->foldsBatch : shape.canFoldBatch()),
      rowCount(foldsBatch ? product(shape.batch) * shape.m : shape.m),
      vectors((shape.n + target.lanes() - 1) / target.lanes()),
      lhsRowStride(shape.computesLhs    ? computedRowStride(shape.k, target)
                   : shape.transposeLhs ? 1
                                        : shape.k),
      lhsDepthStride(shape.transposeLhs ? shape.m : 1), tile(registerTile()),
      panels((vectors + tile.vectors - 1) / tile.vectors) {
  AxisTaps axis;
  axis.outCount = axis.inExtent = rowCount;
  rowTiles = AxisTiling::create(axis, tile.columns, 0);
  chooseBands();
  // Tiles of a row or two do little but wait for memory, whatever is asked for.
  constexpr int64_t kFewestRows = 4;
  if (packsRhs() && tile.columns >= kFewestRows)
    nextPanel =
        PanelPrefetch(panelSize(), panelWidth(), product(shape.rhsBatch) * panels, tilesPerBand, target);
}

RegisterTile TiledMatMul::registerTile() const {
  TileProblem problem;
  problem.columns = shape.rows ? shape.rows->tile : rowCount;
  problem.wholeColumns = shape.rows.has_value();
  problem.vectors = vectors;
  if (!shape.rows && lhsRowStride * static_cast<int64_t>(sizeof(float)) % kSetPeriodBytes == 0)
    problem.maxPositions = kWays;
  return chooseTile(problem, target);
}

/// What computed rows cost is spent once for all panels, where that leaves enough tasks.
void TiledMatMul::chooseBands() {
  constexpr int64_t kEnoughTasks = 6;
  if (shape.rows) {
    tilesPerBand = shape.rows->tilesPerBand;
    bands = (rowTiles.tileCount() + tilesPerBand - 1) / tilesPerBand;
    panelsInside = true;
    return;
  }
  if (shape.computesLhs) {
    divideRows(batches());
    panelsInside = shape.computesLhsOnce || batches() * bands >= kEnoughTasks || panels == 1;
  }
  if (!panelsInside)
    divideRows(batches() * panels);
}

/// Cuts the rows into bands, where `products` tasks a band are to be had.
void TiledMatMul::divideRows(int64_t products) {
  // As for convolutions: enough tasks for a few threads, each worth its dispatch, its operands
  // cache-resident.
  constexpr double kWantedTasks = 32, kFlopsPerTask = 1e6;
  int64_t tiles = rowTiles.tileCount();
  if (tiles == 0 || panels == 0)
    return;
  double depth = static_cast<double>(shape.k);
  double flops = 2.0 * static_cast<double>(rowCount) * depth *
                 static_cast<double>(batches() * panels * panelWidth()) / static_cast<double>(products);
  double cacheShare = static_cast<double>(target.l2Bytes) / (shape.computesLhsOnce ? 4 : 2);
  double lhsBytes = 4.0 * static_cast<double>(rowCount) * depth,
         rhsBytes = 4.0 * static_cast<double>(shape.n) * depth;
  double wanted =
      std::min(std::ceil(kWantedTasks / static_cast<double>(products)), std::floor(flops / kFlopsPerTask));
  // Packing a panel again for each band costs more than reading far rows.
  if (!packsToScratch() || shape.computesLhs)
    wanted = std::max(wanted, std::ceil(lhsBytes / cacheShare));
  bands = shape.oneBand ? 1 : std::clamp<int64_t>(static_cast<int64_t>(std::min(wanted, 1e6)), 1, tiles);
  tilesPerBand = (tiles + bands - 1) / bands;
  bands = (tiles + tilesPerBand - 1) / tilesPerBand;
  double bandsInner = rhsBytes + lhsBytes * (lhsBytes > cacheShare ? static_cast<double>(panels) : 1);
  double innerPanels = lhsBytes + rhsBytes * (rhsBytes > cacheShare ? static_cast<double>(bands) : 1);
  panelsInner = innerPanels < bandsInner;
}

Tensor TiledMatMul::pack(const Tensor &rhs) const {
  int64_t lanes = target.lanes(), matrices = product(shape.rhsBatch), matrix = shape.k * shape.n;
  Tensor packed(DataType::Float32, {matrices * panels * panelSize()});
  auto *to = reinterpret_cast<float *>(packed.mutableBytes());
  const auto *from = reinterpret_cast<const float *>(rhs.bytes());
  int64_t depthStride = shape.transposeRhs ? 1 : shape.n, columnStride = shape.transposeRhs ? shape.k : 1;
  for (int64_t b = 0; b < matrices; ++b)
    for (int64_t panel = 0; panel < panels; ++panel) {
      int64_t width = (panel + 1 == panels ? vectors - panel * tile.vectors : tile.vectors) * lanes;
      int64_t valid = std::min(width, shape.n - panel * panelWidth());
      float *base = to + (b * panels + panel) * panelSize();
      for (int64_t k = 0; k < shape.k; ++k)
        for (int64_t i = 0; i < valid; ++i)
          base[k * width + i] =
              from[b * matrix + k * depthStride + (panel * panelWidth() + i) * columnStride];
    }
  return packed;
}

/// The sums of `width` rows by one panel, [row][vector]. `ahead`: as of PanelPrefetch.
Values TiledMatMul::emitTile(LoopBuilder &loops, Value lhs, Value rhs, Value ahead, int64_t width,
                             int64_t vectorsOfPanel, int64_t validLanes) const {
  // Few accumulators wait for each other: keep several sets, each for every so-many-th k, and add them at the
  // end.
  constexpr int64_t kHidesLatency = 8;
  int64_t accumulators = width * vectorsOfPanel, sets = 1;
  while (sets * accumulators < kHidesLatency && shape.k >= 4 * sets)
    sets *= 2;
  int64_t pitch = rhsPitch(vectorsOfPanel);
  bool isPadded = packsRhs() || packsToScratch();

  auto step = [&](Value x, Value w, int64_t k, MutableArrayRef<Value> sums) {
    Values weights;
    for (int64_t v = 0; v < vectorsOfPanel; ++v) {
      bool isLast = v + 1 == vectorsOfPanel;
      weights.push_back(loops.loadFirst(w, k * pitch + v * loops.lanes(),
                                        isPadded || !isLast ? loops.lanes() : validLanes));
    }
    nextPanel.emit(loops, loops.at(w, k * pitch), ahead);
    for (int64_t row = 0; row < width; ++row) {
      Value value = loops.broadcast(x, row * lhsRowStride + k * lhsDepthStride);
      for (int64_t v = 0; v < vectorsOfPanel; ++v) {
        Value &sum = sums[row * vectorsOfPanel + v];
        sum = loops.fma(value, weights[v], sum);
      }
    }
  };
  auto depthLoop = [&](int64_t low, int64_t high, int64_t unroll, ValueRange initial) {
    return loops.loop(loops.index(low), loops.index(high), unroll, initial, [&](Value k, ValueRange carried) {
      Values sums(carried);
      Value x = loops.at(lhs, loops.mul(k, lhsDepthStride)), w = loops.at(rhs, loops.mul(k, pitch));
      for (int64_t u = 0; u < unroll; ++u)
        step(x, w, u, MutableArrayRef<Value>(sums).slice(u * accumulators, accumulators));
      return sums;
    });
  };
  int64_t whole = shape.k / sets * sets;
  Values sums = depthLoop(0, whole, sets, Values(sets * accumulators, loops.zero()));
  for (int64_t half = sets / 2; half > 0; half /= 2)
    for (int64_t i = 0; i < half * accumulators; ++i)
      sums[i] = loops.addFloat(sums[i], sums[half * accumulators + i]);
  sums.truncate(accumulators);
  return whole == shape.k ? sums : depthLoop(whole, shape.k, 1, sums);
}

/// All rows of the band by one panel. `lhs` points to the first row of the matrix, `rhs` to the panel.
void TiledMatMul::emitPanel(LoopBuilder &loops, const MatMulBand &band, Value panel, Value lhs, Value rhs,
                            int64_t vectorsOfPanel, int64_t validLanes, const EpilogueFn &epilogue) const {
  Value firstBlock = loops.mul(panel, tile.vectors), bandStart = rowTiles.firstOutput(loops, band.firstTile);
  rowTiles.forEachTile(loops, band.firstTile, band.lastTile, [&](const TileRun &run, Value firstRow) {
    Value x = loops.at(lhs, loops.mul(firstRow, lhsRowStride));
    Value ahead;
    if (!nextPanel.isNone())
      ahead = nextPanel.distance(loops, loops.div(loops.sub(firstRow, bandStart), tile.columns));
    Values sums = emitTile(loops, x, rhs, ahead, run.width, vectorsOfPanel, validLanes);
    for (int64_t row = 0; row < run.width; ++row) {
      SmallVector<PointIndex> before;
      if (foldsBatch && product(shape.batch) != 1) {
        Value rest = loops.add(firstRow, row);
        before.push_back({loops.rem(rest, shape.m)});
        rest = loops.div(rest, shape.m);
        for (int64_t extent : llvm::reverse(shape.batch)) {
          before.push_back({loops.rem(rest, extent)});
          rest = loops.div(rest, extent);
        }
        std::reverse(before.begin(), before.end());
      } else {
        for (size_t axis = 0; axis < shape.batch.size(); ++axis)
          before.push_back({foldsBatch ? loops.index(0) : band.batch[axis].begin});
        before.push_back({firstRow, row});
      }
      for (int64_t v = 0; v < vectorsOfPanel; ++v) {
        AccumulatorPoint point;
        point.value = sums[row * vectorsOfPanel + v];
        point.before = before;
        point.block = {firstBlock, v};
        point.validLanes = v + 1 == vectorsOfPanel ? validLanes : loops.lanes();
        epilogue(loops.opBuilder(), loops.location(), point);
      }
    }
  });
}

void TiledMatMul::emit(OpBuilder &builder, Location loc, Value lhs, Value rhs, Value scratch, Value begin,
                       Value end, const EpilogueFn &epilogue, const MatMulInputFns &compute) const {
  if (taskCount() == 0)
    return;
  LoopBuilder loops(builder, loc, target.lanes());
  loops.loop(begin, end, 1, [&](Value task) {
    Value rest = task;
    auto next = [&](int64_t extent) {
      Value digit = loops.rem(rest, extent);
      rest = loops.div(rest, extent);
      return digit;
    };
    Value panel;
    if (panelsInner && !panelsInside)
      panel = next(panels);
    MatMulBand band;
    band.firstTile = loops.mul(next(bands), tilesPerBand);
    band.lastTile = loops.min(loops.add(band.firstTile, tilesPerBand), loops.index(rowTiles.tileCount()));
    if (!panelsInner && !panelsInside)
      panel = next(panels);
    if (!foldsBatch)
      for (int64_t extent : llvm::reverse(shape.batch))
        band.batch.insert(band.batch.begin(), RegionAxis{next(extent), {}, extent});
    emitPanels(loops, lhs, rhs, scratch, band, panel, epilogue, compute);
  });
}

void TiledMatMul::emitPanels(LoopBuilder &loops, Value lhs, Value rhs, Value scratch, const MatMulBand &band,
                             Value panel, const EpilogueFn &epilogue, const MatMulInputFns &compute) const {
  SmallVector<int64_t> lhsStrides = batchStrides(shape.lhsBatch, shape.m * shape.k);
  SmallVector<int64_t> rhsStrides =
      batchStrides(shape.rhsBatch, packsRhs() ? panels * panelSize() : shape.k * shape.n);
  TaskOperands operands{lhs, rhs, scratch};
  for (size_t axis = band.batch.size(); axis-- > 0;) {
    Value index = band.batch[axis].begin;
    if (!shape.computesLhs)
      operands.lhs = loops.at(operands.lhs, loops.mul(index, lhsStrides[axis]));
    if (!shape.computesRhs)
      operands.rhs = loops.at(operands.rhs, loops.mul(index, rhsStrides[axis]));
  }
  if (shape.computesLhs) {
    Value firstRow = rowTiles.firstOutput(loops, band.firstTile);
    RegionAxis rowAxis{firstRow, rowTiles.firstOutput(loops, band.lastTile), rowCount};
    compute.lhs(loops.opBuilder(), loops.location(),
                {band.batch, rowAxis, loops.index(0), shape.k, shape.k, 1, 0, scratch, lhsRowStride,
                 /*isWhole=*/false, band.firstTile, band.lastTile});
    operands.lhs = loops.at(scratch, loops.sub(loops.index(0), loops.mul(firstRow, lhsRowStride)));
    operands.panelScratch = loops.at(scratch, lhsScratch());
  }
  if (panel)
    emitPanelTask(loops, band, operands, panel, epilogue, compute);
  else
    loops.loop(loops.index(0), loops.index(panels), 1,
               [&](Value inner) { emitPanelTask(loops, band, operands, inner, epilogue, compute); });
}

/// A task's rows of one panel.
void TiledMatMul::emitPanelTask(LoopBuilder &loops, const MatMulBand &band, const TaskOperands &operands,
                                Value panel, const EpilogueFn &epilogue,
                                const MatMulInputFns &compute) const {
  Value right = operands.rhs;
  if (packsRhs())
    right = loops.at(right, loops.mul(panel, panelSize()));
  else if (!shape.computesRhs)
    right = loops.at(right, loops.mul(panel, panelWidth() * (shape.transposeRhs ? shape.k : 1)));

  auto emitVariant = [&](int64_t vectorsOfPanel, int64_t validLanes, int64_t lastPanel) {
    Value source = right;
    int64_t width = vectorsOfPanel * loops.lanes(), valid = width - loops.lanes() + validLanes;
    if (packsToScratch())
      source = operands.panelScratch;
    if (shape.computesRhs)
      compute.rhs(loops.opBuilder(), loops.location(),
                  {band.batch, RegionAxis{loops.index(0), loops.index(shape.k), shape.k},
                   loops.mul(panel, panelWidth()), width, valid, panelWidth(), lastPanel * panelWidth(),
                   source, width, /*isWhole=*/true});
    else if (packsToScratch())
      emitPackTransposed(loops, right, source, valid, shape.k, width);
    emitPanel(loops, band, panel, operands.lhs, source, vectorsOfPanel, validLanes, epilogue);
  };
  int64_t lastVectors = vectors - (panels - 1) * tile.vectors;
  int64_t lastLanes = shape.n - (vectors - 1) * loops.lanes();
  if (panels == 1 || (lastVectors == tile.vectors && lastLanes == loops.lanes()))
    emitVariant(lastVectors, lastLanes, panels - 1);
  else
    loops.ifEqual(
        panel, loops.index(panels - 1), [&] { emitVariant(lastVectors, lastLanes, panels - 1); },
        [&] { emitVariant(tile.vectors, loops.lanes(), panels - 2); });
}

} // namespace

llvm::Expected<std::unique_ptr<MatMulPlan>> MatMulPlan::create(const MatMulShape &shape,
                                                               const TargetDescription &target) {
  return std::make_unique<TiledMatMul>(shape, target);
}

} // namespace tokamak::codegen
