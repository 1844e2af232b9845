//===- StreamPlan.cpp - how attention is cut into blocks of keys ------------------------------------===//
#include "codegen/kernel/StreamPlan.h"
#include "codegen/kernel/AnchorOperands.h"
#include "codegen/kernel/MatrixChain.h"
#include "codegen/kernel/OnlineSoftmax.h"
#include <numeric>

namespace tokamak::codegen {

using namespace mlir;

static int64_t product(ArrayRef<int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t(1), std::multiplies<>());
}

std::optional<StreamPlan::Operand> StreamPlan::operandOf(KernelBody &body, const KernelMemory &memory,
                                                         Value value, bool isTransposed, bool isWhole,
                                                         bool mayLie) const {
  if (hasHeavySource(body, memory, value) || !tk::tensorType(value).getElementType().isF32())
    return std::nullopt;
  Operand operand{value, {}, {}};
  if (mayLie)
    operand.argument = argumentOf(memory, value);
  if (operand.argument && memory.arguments[*operand.argument].layout.isBlocked())
    operand.argument.reset();
  if (operand.isComputed())
    operand.computed = planMatrixInput(body, memory, value, isTransposed, isWhole, target.lanes());
  return operand;
}

llvm::Expected<std::shared_ptr<StreamPlan>> StreamPlan::create(KernelBody &body, tk::MatMulOp reader,
                                                               const KernelMemory &memory,
                                                               const TargetDescription &target) {
  auto match = matchSoftmax(body, reader);
  if (!match)
    return match.takeError();
  auto stream = std::make_shared<StreamPlan>();
  stream->target = target;
  stream->reader = reader;
  stream->softmax = *match;
  tk::MatMulOp scores = match->product;
  auto scoreShape = scores.getType().getShape(), resultShape = reader.getType().getShape();
  stream->scoreBatch.assign(scoreShape.begin(), scoreShape.end() - 2);
  stream->resultBatch.assign(resultShape.begin(), resultShape.end() - 2);
  if (product(stream->scoreBatch) != product(stream->resultBatch))
    return llvm::createStringError("several matrices of values read the same weights");
  stream->rowCount = resultShape.end()[-2], stream->width = resultShape.back();
  stream->keyCount = scoreShape.back(), stream->transposesKeys = scores.getTransposeRhs();
  stream->depth = tk::tensorType(scores.getLhs()).getShape().end()[scores.getTransposeLhs() ? -2 : -1];
  auto queries = stream->operandOf(body, memory, scores.getLhs(), scores.getTransposeLhs(), false, true),
       keys = stream->operandOf(body, memory, scores.getRhs(), scores.getTransposeRhs(), true, true),
       // Rows of a block of transposed values do not lie side by side.
      values = stream->operandOf(body, memory, reader.getRhs(), reader.getTransposeRhs(), false,
                                 !reader.getTransposeRhs());
  if (!queries || !keys || !values)
    return llvm::createStringError("queries, keys or values are computed with loops of their own");
  stream->queries = *queries, stream->keys = *keys, stream->values = *values;
  if (llvm::Error error = stream->planBlocks())
    return error;
  return stream;
}

llvm::Expected<StreamPlan::Block> StreamPlan::planBlock(int64_t keysOfBlock) const {
  Block block;
  block.keys = keysOfBlock;
  MatMulShape scores;
  scores.m = rowCount, scores.n = keysOfBlock, scores.k = depth;
  tk::MatMulOp op = softmax.product;
  scores.computesLhs = queries.isComputed(), scores.computesRhs = keys.isComputed();
  scores.transposeLhs = op.getTransposeLhs() && !scores.computesLhs;
  scores.transposeRhs = op.getTransposeRhs() && !scores.computesRhs;
  scores.rhsRowStride = keyCount;
  scores.rows = rows;
  MatMulShape results;
  results.m = rowCount, results.n = width, results.k = keysOfBlock;
  results.computesLhs = results.computesLhsOnce = true;
  results.computesRhs = values.isComputed();
  results.rows = rows;
  for (auto [shape, plan] : {std::pair{&scores, &block.scores}, {&results, &block.results}}) {
    auto created = MatMulPlan::create(*shape, target);
    if (!created)
      return created.takeError();
    *plan = std::move(*created);
  }
  return block;
}

/// Blocks as large as a sixteenth of the second level holds of keys or values, rows so many that their scores
/// fill a quarter of it: keys are transposed once for all of them. Measured with 8 heads of 64 and 2048 keys:
/// within 5 % of the best from 128 to 512 keys and 192 to 384 rows, 10 % more time at 48 rows or 64 keys.
llvm::Error StreamPlan::planBlocks() {
  constexpr int64_t kBlockShare = 16, kMostKeys = 512;
  const int64_t lanes = target.lanes(), matrices = product(resultBatch);
  const auto floatBytes = static_cast<int64_t>(sizeof(float));
  const int64_t share = target.l2Bytes / kBlockShare / floatBytes; // in elements
  const int64_t mostKeys = std::clamp(share / std::max({width, depth, int64_t(1)}), 4 * lanes, kMostKeys),
                blocks = (keyCount + mostKeys - 1) / mostKeys;
  const int64_t blockKeys = blocks == 1 ? keyCount : roundUp((keyCount + blocks - 1) / blocks, lanes);
  // The rows of a tile suit the second product: its left operand has many columns.
  MatMulShape shape;
  shape.m = rowCount, shape.n = width, shape.k = blockKeys;
  shape.computesLhs = shape.computesLhsOnce = true;
  auto alone = MatMulPlan::create(shape, target);
  if (!alone)
    return alone.takeError();
  rows.tile = (*alone)->rows().tile;
  AxisTaps axis;
  axis.outCount = axis.inExtent = rowCount;
  tiling = AxisTiling::create(axis, rows.tile, 0);
  const int64_t tiles = tiling.tileCount(),
                mostRows = std::max(4 * share / std::max({blockKeys, width, depth}), rows.tile);
  bands = (rowCount + mostRows - 1) / mostRows;
  // Enough tasks for many threads, as far as keys need not be transposed for fewer than 64 rows; for a few
  // threads, for fewer.
  for (auto [tasks, fewestRows] : {std::pair<int64_t, int64_t>{32, 64}, {8, 16}})
    bands = std::max(bands, std::min((tasks + matrices - 1) / matrices, rowCount / fewestRows));
  bands = std::clamp<int64_t>(bands, 1, tiles);
  rows.tilesPerBand = (tiles + bands - 1) / bands;
  bands = (tiles + rows.tilesPerBand - 1) / rows.tilesPerBand;
  bandRows = std::min(rows.tile * rows.tilesPerBand, rowCount);

  auto planned = planBlock(blockKeys);
  if (!planned)
    return planned.takeError();
  whole = std::move(*planned);
  if (int64_t rest = keyCount % blockKeys) {
    auto plannedLast = planBlock(rest);
    if (!plannedLast)
      return plannedLast.takeError();
    last = std::move(*plannedLast);
  }
  constexpr int64_t alignment = 64;
  auto largest = [&](auto scratchOf) {
    return roundUp(std::max(scratchOf(whole), last.keys ? scratchOf(last) : 0), alignment);
  };
  scoresScratch = largest([](const Block &block) { return block.results->scratchBytes(); });
  accumulators = scoresScratch + largest([](const Block &block) { return block.scores->scratchBytes(); });
  rowState = accumulators + roundUp(bandRows * roundUp(width, lanes) * floatBytes, alignment);
  bytes = rowState + OnlineRows::arrays * roundUp(bandRows, lanes) * floatBytes;
  if (bytes > target.l2Bytes)
    return llvm::createStringError("one block of keys takes more than the second level of cache");
  return llvm::Error::success();
}

KernelStrategy StreamPlan::strategy() const {
  KernelStrategy strategy;
  strategy.kind = "matmul";
  strategy.tasks = product(resultBatch) * bands;
  strategy.scratchBytes = bytes;
  auto passes = [&](ArrayRef<int64_t> batch, const Operand &operand) {
    return static_cast<double>(product(batch) * bands) /
           static_cast<double>(std::max<int64_t>(product(operand.batch()), 1));
  };
  for (auto [batch, operand] : {std::pair{&scoreBatch, &keys}, {&resultBatch, &values}}) {
    const double times = passes(*batch, *operand);
    strategy.anchors.push_back({1, 1, times, times});
    if (operand->isComputed()) {
      strategy.repeats = std::max(strategy.repeats, times);
      strategy.accesses += operand->computed.loads * vectorsComputed(operand->value, times, target);
    }
  }
  if (queries.isComputed())
    strategy.accesses += queries.computed.loads * vectorsComputed(queries.value, 1, target);
  return strategy;
}

} // namespace tokamak::codegen
