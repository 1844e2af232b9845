//===- ShortRows.cpp - many short rows at once, one a lane --------------------------------------===//
#include "codegen/kernel/ShortRows.h"
#include "codegen/anchors/PackTransposed.h"
#include "codegen/kernel/IndexProbe.h"
#include "codegen/kernel/Interleave.h"
#include "codegen/kernel/RowReductions.h"
#include "codegen/kernel/ScratchFunction.h"
#include "codegen/kernel/VectorLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

namespace tokamak::codegen {

using namespace mlir;

namespace {

/// Elements of a row beyond which vectors along it are as good: reductions are then mostly whole vectors.
constexpr int64_t longestRow = 128;
/// Blocks of rows that leave enough tasks for threads.
constexpr int64_t enoughBlocks = 32;

int64_t product(ArrayRef<int64_t> extents) {
  int64_t n = 1;
  for (int64_t extent : extents)
    n *= extent;
  return n;
}

/// How many of the last axes of `value` lie inside a row.
size_t innerSuffix(const RowPlan &plan, Value value) {
  size_t rank = tk::tensorType(value).getShape().size(), count = 0;
  while (count < rank && !plan.isOuter(value, rank - 1 - count))
    ++count;
  return count;
}

/// Whether every operator reads of `argument` only the row that it computes itself. Groups may read memory at
/// any place, a copy of one row has no other.
bool readsOwnRow(Value argument, const RowPlan &plan) {
  auto isOwn = [&](const IndexProbe &probe, Value result, const Access &access, size_t axis) {
    for (size_t i = 0; i < probe.rank(); ++i)
      if (access.index[axis] == probe.axis(i) && !probe.axis(i).isConstant() &&
          plan.classes->classOf(result, i) == plan.classes->classOf(argument, axis))
        return true;
    return false;
  };
  for (Operation *user : argument.getUsers())
    for (Value result : user->getResults()) {
      IndexProbe probe(result, [](Value) { return true; });
      for (const Access &access : probe.accesses())
        for (size_t axis = 0; access.tensor == argument && axis < access.index.size(); ++axis)
          if (plan.isOuter(argument, axis) && !isOwn(probe, result, access, axis))
            return false;
    }
  return true;
}

bool canTranspose(Value value, const Buffer &buffer, const RowPlan &plan) {
  const int64_t elements = plan.innerElements(value);
  if (buffer.layout.isBlocked() || buffer.position || innerSuffix(plan, value) == 0 || elements == 0 ||
      elements > longestRow)
    return false;
  return byteSize(buffer.type) == 4 || (isFloat(buffer.type) && byteSize(buffer.type) == 2);
}

/// What one row costs with lanes along it, or along its `columns`, in cycles.
class RowCost {
public:
  RowCost(KernelBody &body, const RowPlan &plan, ArrayRef<Value> stages, int64_t columns,
          const TargetDescription &target)
      : plan(plan), columns(columns), target(target), kept(stages.begin(), stages.end()) {
    const SmallVector<Operation *> heavy = body.heavyOperators();
    const llvm::SmallDenseSet<Operation *> walks(heavy.begin(), heavy.end());
    for (Value stage : stages) {
      Operation *op = stage.getDefiningOp();
      if (auto reduce = llvm::dyn_cast<tk::ReduceOp>(op)) {
        Value input = reduce.getInput();
        const int64_t loops = reducesContiguously(reduce) ? plan.innerElements(stage) : 1;
        reductions += loops;
        add(input, loops, /*isLoaded=*/kept.contains(input));
      } else {
        walksAlong |= walks.contains(op);
        add(stage);
      }
    }
    for (Value result : body.results())
      if (!kept.contains(result))
        add(result);
    for (Operation &op : body.block().without_terminator())
      dearScalars += op.hasTrait<tk::IsExpensive>() && plan.innerElements(op.getResult(0)) == 1;
  }

  /// What lanes across rows would not take: vectors that a row does not fill (a value of one element a row
  /// fills one lane), beginning each loop for each row, and waiting for what is one element a row: reductions
  /// across lanes, roots, quotients. Processors hide that behind the work of the next rows, as far as they
  /// see.
  double avoidable() const {
    constexpr double beginning = 1.5, ofReduction = 25, ofScalar = 20, shareOfRow = 0.2;
    if (columns) // which no sum crosses, and whose loops begin as often as those of lanes across rows
      return unfilled;
    if (walksAlong) // element by element
      return std::numeric_limits<double>::infinity();
    auto wait = [&](int64_t times, double cycles) {
      return static_cast<double>(times) * std::min(cycles, shareOfRow * ofRow);
    };
    return unfilled + static_cast<double>(begun) * beginning + wait(reductions, ofReduction) +
           wait(dearScalars, ofScalar);
  }

private:
  /// The loop over the elements of `value`, or several, each over as many of them.
  void add(Value value, int64_t loops = 1, bool isLoaded = false) {
    const int64_t all = plan.innerElements(value);
    if (all == 0)
      return;
    VectorNest nest;
    nest.extents = {all / loops};
    if (columns)
      nest.extents = {all / columns, columns};
    nest.lanes = target.lanes();
    auto emit = [&](ElementBuilder &e, ArrayRef<Index> position) {
      isLoaded || llvm::isa<BlockArgument>(value) ? bindMemory(e, value, e.indexConstant(0))
                                                  : bindOperands(e, value);
      SmallVector<Index> row(plan.outer.size(), Index(0));
      Index place = linearize(e.space(), position, nest.extents);
      e.element(value, plan.rowIndex(value, row, delinearize(e.space(), place, plan.innerExtents(value))));
    };
    const auto elements = static_cast<double>(nest.innerExtent()),
               lanes = static_cast<double>(nest.vectors() * nest.lanes);
    const double cycles =
        static_cast<double>(all) * nestCost(value.getContext(), value.getLoc(), nest, target, emit);
    ofRow += cycles;
    begun += loops;
    unfilled += cycles * (lanes - elements) / lanes;
  }
  /// All that a loop over `value` loads.
  void bindOperands(ElementBuilder &e, Value value) const {
    SmallVector<Operation *> open = {value.getDefiningOp()};
    llvm::SmallDenseSet<Value> seen;
    while (!open.empty())
      for (Value operand : open.pop_back_val()->getOperands()) {
        if (!seen.insert(operand).second)
          continue;
        if (kept.contains(operand) || llvm::isa<BlockArgument>(operand))
          bindMemory(e, operand, e.indexConstant(0));
        else
          open.push_back(operand.getDefiningOp());
      }
  }

  const RowPlan &plan;
  const int64_t columns;
  const TargetDescription &target;
  llvm::SmallDenseSet<Value> kept;
  double unfilled = 0, ofRow = 0;
  int64_t reductions = 0, dearScalars = 0, begun = 0;
  bool walksAlong = false;
};

/// Whether the rows of `value` lie in memory directly one behind the other, in the order in which lanes take
/// them.
bool areRowsDense(Value value, const Buffer &memory, const RowPlan &plan) {
  auto shape = tk::tensorType(value).getShape();
  const size_t inner = innerSuffix(plan, value);
  if (memory.position || memory.layout.isBlocked() || inner != plan.innerAxes(value).size())
    return false;
  auto next = plan.outer.begin();
  auto skipUnits = [&] {
    while (next != plan.outer.end() && plan.classes->extent(*next) == 1)
      ++next;
  };
  for (size_t axis = 0; axis + inner < shape.size(); ++axis) {
    skipUnits();
    if (next == plan.outer.end() || plan.classes->classOf(value, axis) != *next ||
        shape[axis] != plan.classes->extent(*next))
      return false;
    ++next;
  }
  skipUnits();
  return next == plan.outer.end();
}

/// A square takes the logarithm of its side in steps for each of its vectors.
int64_t stepsOfSquare(int64_t lanes) { return lanes * llvm::Log2_64(static_cast<uint64_t>(lanes)); }

/// Elements of a row where whole vectors of rows are loaded, else 0. Only of floats: rows that do not exist
/// are zeros then, by which integers must not be divided.
int64_t denseWidth(Value value, const Buffer &memory, const RowPlan &plan, const TargetDescription &target) {
  const int64_t width = plan.innerElements(value);
  const bool pays =
      width > 1 && width < target.lanes() &&
      stepsOfInterleaving(width, target) + width < stepsOfSquare(target.lanes()) + target.lanes();
  return pays && isFloat(memory.type) && areRowsDense(value, memory, plan) ? width : 0;
}

/// Cycles a row of transposing one operand.
double cyclesOfTransposing(Value value, const Buffer &memory, const RowPlan &plan,
                           const TargetDescription &target) {
  const int64_t lanes = target.lanes();
  // Besides steps, a load and a store for each vector.
  constexpr double ofStep = 0.48;
  if (int64_t width = denseWidth(value, memory, plan, target))
    return ofStep * static_cast<double>(stepsOfInterleaving(width, target) + 2 * width) /
           static_cast<double>(lanes);
  const double ofElement = ofStep * (std::log2(static_cast<double>(lanes)) + 2) / static_cast<double>(lanes);
  SmallVector<int64_t> extents = plan.innerExtents(value);
  const size_t suffix = innerSuffix(plan, value);
  const int64_t trailing = product(ArrayRef<int64_t>(extents).take_back(suffix)),
                lines = product(ArrayRef<int64_t>(extents).drop_back(suffix));
  return ofElement * static_cast<double>(lines * llvm::divideCeil(trailing, lanes) * lanes);
}

} // namespace

std::optional<ShortRows> planShortRows(KernelBody &body, const KernelMemory &memory, const RowPlan &plan,
                                       ArrayRef<Value> stages, int64_t columns,
                                       const TargetDescription &target) {
  const int64_t lanes = target.lanes(), rows = plan.rows(), blocks = (rows + lanes - 1) / lanes;
  const bool areFull = 4 * rows >= 3 * blocks * lanes;
  const bool areEnough = blocks >= enoughBlocks || (areFull && !body.isWorthSharing());
  if (lanes == 1 || !areEnough)
    return std::nullopt;
  // Where lanes would be apart in memory when they run along rows.
  IndexSpace space;
  SmallVector<int64_t> extents;
  for (auto id : plan.outer)
    extents.push_back(plan.classes->extent(id));
  auto isApart = [&](Value value, const Buffer &buffer) {
    Index block = space.uniform(value, 0, blocks - 1); // an SSA value that is never emitted
    Index row = space.add(space.scale(block, lanes), space.lane(lanes));
    SmallVector<Index> inner(plan.innerAxes(value).size(), Index(0));
    SmallVector<Index> index = plan.rowIndex(value, delinearize(space, row, extents), inner);
    std::optional<int64_t> stride = space.laneStride(positionIn(buffer, space, index));
    return stride != 0 && stride != 1;
  };
  ShortRows shortRows;
  double cycles = 0;
  for (auto [value, buffer] : llvm::zip(body.arguments(), memory.arguments)) {
    if (value.use_empty() || !isApart(value, buffer))
      continue;
    if (!canTranspose(value, buffer, plan) || !readsOwnRow(value, plan))
      return std::nullopt;
    shortRows.arguments.push_back(value);
    cycles += cyclesOfTransposing(value, buffer, plan, target);
  }
  for (auto [value, buffer] : llvm::zip(body.results(), memory.outputs)) {
    if (!isApart(value, buffer))
      continue;
    if (!canTranspose(value, buffer, plan))
      return std::nullopt;
    shortRows.results.push_back(value);
    cycles += cyclesOfTransposing(value, buffer, plan, target);
  }
  if (cycles > RowCost(body, plan, stages, columns, target).avoidable())
    return std::nullopt;
  return shortRows;
}

void RowTranspose::forSquares(Value value, function_ref<void(Columns, int64_t)> body) {
  const int64_t lanes = e.lanes();
  SmallVector<int64_t> extents = plan.innerExtents(value);
  size_t suffix = innerSuffix(plan, value);
  ArrayRef<int64_t> leading = ArrayRef<int64_t>(extents).drop_back(suffix),
                    trailing = ArrayRef<int64_t>(extents).take_back(suffix);
  SmallVector<Index> outer;
  auto square = [&](const Index &first, int64_t columns) {
    body(
        [&](const Index &column) {
          SmallVector<Index> inner(outer);
          llvm::append_range(inner, delinearize(e.space(), e.space().add(first, column), trailing));
          return inner;
        },
        columns);
  };
  std::function<void()> level = [&] {
    if (outer.size() < leading.size()) {
      e.loop(leading[outer.size()], {}, [&](const Index &i, ValueRange) {
        outer.push_back(i);
        level();
        outer.pop_back();
        return SmallVector<Value>();
      });
      return;
    }
    int64_t length = product(trailing);
    if (int64_t whole = length / lanes)
      e.loop(whole, {}, [&](const Index &i, ValueRange) {
        square(e.space().scale(i, lanes), lanes);
        return SmallVector<Value>();
      });
    if (int64_t rest = length % lanes)
      square(Index(length - rest), rest);
  };
  level();
}

SmallVector<Index> RowTranspose::scratchIndex(Value value, int64_t column) const {
  return plan.rowIndex(value, outerIndex[0], delinearize(e.space(), Index(column), plan.innerExtents(value)));
}

void RowTranspose::forDense(Value value, const Buffer &memory, int64_t width, DenseVector body) {
  const int64_t lanes = e.lanes();
  IndexSpace &space = e.space();
  Buffer list = memory;
  list.shape = {tk::tensorType(value).getNumElements()};
  const Index first = positionIn(memory, space, scratchIndex(value, 0));
  const std::optional<int64_t> known = rowCount ? getConstantIntValue(rowCount) : std::nullopt;
  Value mask = e.mask();
  for (int64_t number = 0; number < width; ++number) {
    e.setMask(nullptr);
    if (known) {
      const int64_t valid = *known * width - number * lanes;
      if (valid <= 0)
        break;
      if (valid < lanes)
        e.setMask(firstLanes(e, valid));
    } else if (rowCount) {
      OpBuilder &b = e.builder();
      Value left = b.create<arith::MulIOp>(e.location(), rowCount, e.indexConstant(width));
      left = b.create<arith::SubIOp>(e.location(), left, e.indexConstant(number * lanes));
      e.setMask(b.create<vector::CreateMaskOp>(e.location(), VectorType::get({lanes}, b.getI1Type()), left));
    }
    body(number, list, {space.add(space.add(first, Index(number * lanes)), e.laneIndex())});
  }
  e.setMask(mask);
}

void RowTranspose::loadDense(Value value, const Buffer &memory, const Buffer &scratch, int64_t width) {
  LoopBuilder loops(e.builder(), e.location(), e.lanes());
  LoopBuilder::Values vectors(static_cast<size_t>(width), loops.zero());
  forDense(value, memory, width, [&](int64_t number, const Buffer &list, ArrayRef<Index> index) {
    vectors[static_cast<size_t>(number)] = e.load(list, index);
  });
  const LoopBuilder::Values columns = columnsOf(loops, vectors);
  Value mask = e.mask();
  e.setMask(nullptr);
  for (int64_t column = 0; column < width; ++column)
    e.store(columns[static_cast<size_t>(column)], scratch, scratchIndex(value, column));
  e.setMask(mask);
}

void RowTranspose::storeDense(Value value, const Buffer &scratch, const Buffer &memory, int64_t width) {
  LoopBuilder loops(e.builder(), e.location(), e.lanes());
  LoopBuilder::Values columns;
  Value mask = e.mask();
  e.setMask(nullptr);
  for (int64_t column = 0; column < width; ++column)
    columns.push_back(e.load(scratch, scratchIndex(value, column)));
  e.setMask(mask);
  const LoopBuilder::Values vectors = rowsOf(loops, columns);
  forDense(value, memory, width, [&](int64_t number, const Buffer &list, ArrayRef<Index> index) {
    e.store(vectors[static_cast<size_t>(number)], list, index);
  });
}

void RowTranspose::load(Value value, const Buffer &memory, const Buffer &scratch) {
  if (int64_t width = denseWidth(value, memory, plan, target))
    return loadDense(value, memory, scratch, width);
  LoopBuilder loops(e.builder(), e.location(), e.lanes());
  Value mask = e.mask();
  forSquares(value, [&](Columns at, int64_t columns) {
    LoopBuilder::Values vectors;
    e.setMask(columns < e.lanes() ? firstLanes(e, columns) : Value());
    for (ArrayRef<Index> row : outerIndex)
      vectors.push_back(e.load(memory, plan.rowIndex(value, row, at(e.laneIndex()))));
    e.setMask(nullptr);
    transposeSquare(loops, vectors);
    for (int64_t column = 0; column < columns; ++column)
      e.store(vectors[static_cast<size_t>(column)], scratch, plan.rowIndex(value, outerIndex[0], at(column)));
  });
  e.setMask(mask);
}

void RowTranspose::store(Value value, const Buffer &scratch, const Buffer &memory) {
  if (int64_t width = denseWidth(value, memory, plan, target))
    return storeDense(value, scratch, memory, width);
  LoopBuilder loops(e.builder(), e.location(), e.lanes());
  OpBuilder &b = e.builder();
  Value mask = e.mask();
  forSquares(value, [&](Columns at, int64_t columns) {
    e.setMask(nullptr);
    LoopBuilder::Values vectors;
    for (int64_t column = 0; column < e.lanes(); ++column)
      vectors.push_back(column < columns ? e.load(scratch, plan.rowIndex(value, outerIndex[0], at(column)))
                                         : vectors.front());
    transposeSquare(loops, vectors);
    Value columnsOn = columns < e.lanes() ? firstLanes(e, columns) : Value();
    const std::optional<int64_t> known = rowCount ? getConstantIntValue(rowCount) : std::nullopt;
    for (auto [lane, row] : llvm::enumerate(outerIndex.take_front(known.value_or(e.lanes())))) {
      Value exists;
      if (rowCount && !known && lane > 0) {
        Value isRow = b.create<arith::CmpIOp>(e.location(), arith::CmpIPredicate::ult,
                                              e.indexConstant(static_cast<int64_t>(lane)), rowCount);
        exists = e.splat(isRow);
      }
      e.setMask(e.andMask(columnsOn, exists));
      e.store(vectors[lane], memory, plan.rowIndex(value, row, at(e.laneIndex())));
    }
  });
  e.setMask(mask);
}

} // namespace tokamak::codegen
