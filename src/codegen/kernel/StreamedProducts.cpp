//===- StreamedProducts.cpp - attention, one block of keys at a time --------------------------------===//
#include "codegen/kernel/StreamedProducts.h"
#include "codegen/kernel/AnchorOperands.h"
#include "codegen/kernel/MatrixChain.h"
#include "codegen/kernel/OnlineSoftmax.h"
#include "codegen/kernel/StreamPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/FormatVariadic.h"

namespace tokamak::codegen {

using namespace mlir;

namespace {

class StreamEmitter {
public:
  StreamEmitter(const StreamPlan &plan, KernelContext &k)
      : plan(plan), k(k), loops(k.builder, k.loc, k.lanes()) {}
  void emit();

private:
  struct Task {
    SmallVector<RegionAxis> scoreBatch, resultBatch; ///< begin only
    MatMulBand band;                                 ///< of one matrix
    Value firstRow, lastRow;
    Value queries, keys, values; ///< null where they are computed
  };

  /// The matrix at `index` of an operand in memory.
  Value matrixAt(const StreamPlan::Operand &operand, ArrayRef<RegionAxis> index);
  SmallVector<RegionAxis> indexOf(Value matrix, ArrayRef<int64_t> extents);
  void emitTask(Value number);
  void emitBlock(const Task &task, const StreamPlan::Block &block, Value firstKey);
  Value scoreAt(const Task &task, Value bare, Value row, Value block, int64_t valid);
  void emitProducts(const Task &task, const StreamPlan::Block &block, Value firstKey,
                    const MatrixRegion &region);
  Value emitResults(const Task &task);
  OnlineRows rowsOf();
  Value place(int64_t bytes) { return loops.at(k.scratch, bytes / static_cast<int64_t>(sizeof(float))); }

  const StreamPlan &plan;
  KernelContext &k;
  LoopBuilder loops;
};

SmallVector<RegionAxis> StreamEmitter::indexOf(Value matrix, ArrayRef<int64_t> extents) {
  SmallVector<RegionAxis> index(extents.size());
  for (size_t axis = extents.size(); axis-- > 0;) {
    index[axis] = {loops.rem(matrix, extents[axis]), {}, extents[axis]};
    matrix = loops.div(matrix, extents[axis]);
  }
  return index;
}

OnlineRows StreamEmitter::rowsOf() {
  return OnlineRows(loops, place(plan.rowState), roundUp(plan.bandRows, plan.target.lanes()));
}

void StreamEmitter::emit() {
  loops.loop(k.begin, k.end, 1, [&](Value number) { emitTask(number); });
}

Value StreamEmitter::matrixAt(const StreamPlan::Operand &operand, ArrayRef<RegionAxis> index) {
  if (operand.isComputed())
    return nullptr;
  auto shape = tk::tensorType(operand.value).getShape();
  Value pointer = k.arguments[*operand.argument].pointer;
  int64_t stride = shape.end()[-2] * shape.back();
  for (size_t fromLast = 1; fromLast + 2 <= shape.size(); ++fromLast) {
    const int64_t extent = shape[shape.size() - 2 - fromLast];
    if (extent != 1)
      pointer = loops.at(pointer, loops.mul(index[index.size() - fromLast].begin, stride));
    stride *= extent;
  }
  return pointer;
}

void StreamEmitter::emitTask(Value number) {
  Task task;
  // Tasks that follow each other share keys and values.
  Value matrix = loops.div(number, plan.bands);
  task.scoreBatch = indexOf(matrix, plan.scoreBatch);
  task.resultBatch = indexOf(matrix, plan.resultBatch);
  task.band.firstTile = loops.mul(loops.rem(number, plan.bands), plan.rows.tilesPerBand);
  task.band.lastTile =
      loops.min(loops.add(task.band.firstTile, plan.rows.tilesPerBand), loops.index(plan.tiling.tileCount()));
  task.firstRow = plan.tiling.firstOutput(loops, task.band.firstTile);
  task.lastRow = plan.tiling.firstOutput(loops, task.band.lastTile);
  task.queries = matrixAt(plan.queries, task.scoreBatch);
  task.keys = matrixAt(plan.keys, task.scoreBatch);
  task.values = matrixAt(plan.values, task.resultBatch);
  if (plan.queries.isComputed()) {
    RegionAxis region{task.firstRow, task.lastRow, plan.rowCount};
    computeMatrix(k, plan.queries.computed)(k.builder, k.loc,
                                            {task.scoreBatch, region, loops.index(0), plan.depth, plan.depth,
                                             1, 0, place(plan.scoresScratch),
                                             computedRowStride(plan.depth, plan.target),
                                             /*isWhole=*/false, task.band.firstTile, task.band.lastTile});
  }
  OnlineRows state = rowsOf();
  state.start();
  // Twice where the first pass leaves NaN or infinity.
  loops.loop(loops.index(0), loops.index(2), 1, {loops.index(1)}, [&](Value pass, ValueRange isWanted) {
    return loops.loop(loops.index(0), isWanted[0], 1, {loops.index(0)}, [&](Value, ValueRange) {
      loops.ifEqual(pass, loops.index(0), [] {}, [&] { state.startAgain(); });
      Value accumulator = place(plan.accumulators);
      loops.loop(loops.index(0), loops.index(plan.bandRows * roundUp(plan.width, k.lanes())), k.lanes(),
                 [&](Value at) { loops.store(loops.zero(), loops.at(accumulator, at)); });
      if (int64_t count = plan.keyCount / plan.whole.keys)
        loops.loop(loops.index(0), loops.index(count), 1,
                   [&](Value block) { emitBlock(task, plan.whole, loops.mul(block, plan.whole.keys)); });
      if (plan.last.keys)
        emitBlock(task, plan.last, loops.index(plan.keyCount / plan.whole.keys * plan.whole.keys));
      return LoopBuilder::Values{emitResults(task)};
    });
  });
}

/// The result of each row so far, with the keys of one block more.
void StreamEmitter::emitBlock(const Task &task, const StreamPlan::Block &block, Value firstKey) {
  OnlineRows state = rowsOf();
  const int64_t stride = roundUp(plan.width, k.lanes());
  MatMulInputFns inputs;
  inputs.lhs = [&](OpBuilder &, Location, const MatrixRegion &region) {
    emitProducts(task, block, firstKey, region);
    state.addBlock(region.memory, region.rowStride, loops.sub(task.lastRow, task.firstRow), block.keys,
                   [&](Value bare, Value row, Value part, int64_t valid) {
                     return scoreAt(task, bare, row, loops.add(part, loops.div(firstKey, k.lanes())), valid);
                   });
  };
  if (plan.values.isComputed())
    inputs.rhs = [&](OpBuilder &builder, Location loc, MatrixRegion region) {
      region.batch = task.resultBatch;
      region.rows = {firstKey, loops.add(firstKey, block.keys), plan.keyCount};
      region.isWhole = false;
      computeMatrix(k, plan.values.computed)(builder, loc, region);
    };
  Value right = task.values ? loops.at(task.values, loops.mul(firstKey, plan.width)) : Value();
  auto accumulate = [&](OpBuilder &, Location, const AccumulatorPoint &point) {
    const PointIndex &row = point.before.back();
    Value inBand = loops.sub(row.base, task.firstRow);
    Value base = loops.at(place(plan.accumulators),
                          loops.add(loops.mul(inBand, stride), loops.mul(point.block.base, k.lanes())));
    const int64_t offset = row.offset * stride + point.block.offset * k.lanes();
    Value before = loops.load(base, offset);
    loops.store(loops.fma(before, state.rescale(inBand, row.offset), point.value), base, offset);
  };
  block.results->emitBand(k.builder, k.loc, nullptr, right, k.scratch, task.band, accumulate, inputs);
}

/// Scaled and masked scores from a vector of the product; `row` counts in the task, `block` through all keys.
Value StreamEmitter::scoreAt(const Task &task, Value bare, Value row, Value block, int64_t valid) {
  tk::MatMulOp op = plan.softmax.product;
  Value from = op.getResult(), score = bare;
  if (plan.softmax.scores == from)
    return score;
  AccumulatorPoint point;
  point.value = bare;
  for (const RegionAxis &axis : task.scoreBatch)
    point.before.push_back({axis.begin});
  point.before.push_back({loops.add(task.firstRow, row)});
  point.block = {block};
  point.validLanes = valid;
  atPoint(k, op, {}, k.builder, k.loc, point, [&](ElementBuilder &e, const PointPlace &place) {
    score = e.element(plan.softmax.scores, indexInResult(e.space(), from, place.index, plan.softmax.scores));
  });
  return score;
}

/// The bare products of a block.
void StreamEmitter::emitProducts(const Task &task, const StreamPlan::Block &block, Value firstKey,
                                 const MatrixRegion &region) {
  auto epilogue = [&](OpBuilder &, Location, const AccumulatorPoint &point) {
    const PointIndex &row = point.before.back();
    Value base =
        loops.at(region.memory, loops.add(loops.mul(loops.sub(row.base, task.firstRow), region.rowStride),
                                          loops.mul(point.block.base, k.lanes())));
    loops.store(point.value, base, row.offset * region.rowStride + point.block.offset * k.lanes());
  };
  MatMulInputFns inputs;
  if (plan.queries.isComputed())
    inputs.lhs = [](OpBuilder &, Location, const MatrixRegion &) {}; // lie there since the task began
  if (plan.keys.isComputed())
    inputs.rhs = [&](OpBuilder &builder, Location loc, MatrixRegion part) {
      part.batch = task.scoreBatch;
      part.firstColumn = loops.add(part.firstColumn, firstKey);
      part.lastFirst = plan.keyCount - part.valid;
      part.step = 1;
      computeMatrix(k, plan.keys.computed)(builder, loc, part);
    };
  Value right;
  if (task.keys)
    right = loops.at(task.keys, loops.mul(firstKey, plan.transposesKeys ? plan.depth : 1));
  block.scores->emitBand(k.builder, k.loc, task.queries, right, place(plan.scoresScratch), task.band,
                         epilogue, inputs);
}

/// Stores the results of the task's rows; 1 where there is NaN or infinity among them, else 0.
Value StreamEmitter::emitResults(const Task &task) {
  OnlineRows state = rowsOf();
  EpilogueFn epilogue = epilogueFor(k, plan.reader, {});
  const int64_t lanes = k.lanes(), stride = roundUp(plan.width, lanes), full = plan.width / lanes;
  auto store = [&](Value row, Value pointer, Value sum, const PointIndex &block, int64_t valid) {
    AccumulatorPoint point;
    point.value =
        k.builder.create<arith::DivFOp>(k.loc, loops.loadFirst(pointer, block.offset * lanes, valid), sum);
    for (const RegionAxis &axis : task.resultBatch)
      point.before.push_back({axis.begin});
    point.before.push_back({loops.add(task.firstRow, row)});
    point.block = block;
    point.validLanes = valid;
    epilogue(k.builder, k.loc, point);
    return point.value;
  };
  Value count = loops.sub(task.lastRow, task.firstRow);
  // Zero times a number is zero.
  Value zeros = loops.loop(loops.index(0), count, 1, {loops.zero()}, [&](Value row, ValueRange carried) {
    Value sum = state.sum(row), base = loops.at(place(plan.accumulators), loops.mul(row, stride));
    Value zero =
        loops.loop(loops.index(0), loops.index(full), 1, carried, [&](Value block, ValueRange inner) {
          Value pointer = loops.at(base, loops.mul(block, lanes));
          Value result = store(row, pointer, sum, {block}, lanes);
          return LoopBuilder::Values{loops.fma(result, loops.zero(), inner[0])};
        })[0];
    if (int64_t valid = plan.width % lanes) {
      Value result = store(row, loops.at(base, full * lanes), sum, {loops.index(full)}, valid);
      // Lanes beyond are zero over the sum: NaN only where the others are as well.
      zero = loops.fma(result, loops.zero(), zero);
    }
    return LoopBuilder::Values{zero};
  })[0];
  return isAnyNaN(loops, zeros);
}

} // namespace

llvm::Expected<KernelStrategy> planStreamedProducts(KernelBody &body, tk::MatMulOp reader,
                                                    const KernelMemory &memory,
                                                    const TargetDescription &target) {
  auto stream = StreamPlan::create(body, reader, memory, target);
  if (!stream)
    return stream.takeError();
  KernelStrategy strategy = (*stream)->strategy();
  strategy.emit = [shared = *stream](KernelContext &k) { StreamEmitter(*shared, k).emit(); };
  return strategy;
}

std::string describeStream(tk::FusionOp group, const TargetDescription &target) {
  // What computed operands load is counted on code that is thrown away.
  group.getContext()
      ->loadDialect<arith::ArithDialect, LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect,
                    vector::VectorDialect>();
  KernelBody body(group);
  auto heavy = body.heavyOperators();
  auto reader = heavy.empty() ? nullptr : dyn_cast<tk::MatMulOp>(heavy.back());
  if (!reader)
    return "";
  auto sources = sourcesOf(reader.getLhs());
  bool hasProduct = false, hasMaximum = false;
  for (Operation *op : heavy) {
    if (!sources.contains(op))
      continue;
    hasProduct |= isa<tk::MatMulOp>(op);
    auto reduce = dyn_cast<tk::ReduceOp>(op);
    hasMaximum |= reduce && reduce.getKind() == tk::ReduceKind::Max;
  }
  if (!hasProduct || !hasMaximum)
    return "";
  KernelMemory memory;
  for (size_t i = 0; i < body.arguments().size(); ++i)
    memory.addArgument(body.arguments()[static_cast<unsigned>(i)], Layout(), i >= body.operandCount());
  auto stream = StreamPlan::create(body, reader, memory, target);
  return stream ? llvm::formatv("keys in blocks of {0}", (*stream)->whole.keys).str()
                : "no stream of keys: " + llvm::toString(stream.takeError());
}

} // namespace tokamak::codegen
