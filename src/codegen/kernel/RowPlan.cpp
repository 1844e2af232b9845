//===- RowPlan.cpp - what is a row of a group, and what it keeps --------------------------------===//
#include "codegen/kernel/RowPlan.h"
#include "codegen/expression/ElementType.h"
#include "codegen/kernel/RowStages.h"
#include "codegen/kernel/ShortRows.h"

namespace tokamak::codegen {

using namespace mlir;

int64_t RowPlan::rows() const {
  int64_t count = 1;
  for (auto id : outer)
    count *= classes->extent(id);
  return count;
}

int64_t RowPlan::extentOf(AxisClasses::ClassId id, int64_t lanes) const {
  int64_t n = classes->extent(id);
  return laneClass == id ? llvm::divideCeil(n, lanes * vectorsAtOnce) : n;
}

int64_t RowPlan::tasks(int64_t lanes) const {
  if (isTransposed)
    return (rows() + lanes - 1) / lanes;
  int64_t count = 1;
  for (auto id : outer)
    count *= extentOf(id, lanes);
  return count;
}

bool RowPlan::isOuter(Value value, size_t axis) const {
  return tk::tensorType(value).getShape()[axis] > 1 &&
         llvm::is_contained(outer, classes->classOf(value, axis));
}

SmallVector<size_t> RowPlan::innerAxes(Value value) const {
  SmallVector<size_t> axes;
  for (size_t axis = 0; axis < tk::tensorType(value).getShape().size(); ++axis)
    if (!isOuter(value, axis))
      axes.push_back(axis);
  return axes;
}

SmallVector<int64_t> RowPlan::innerExtents(Value value) const {
  SmallVector<int64_t> extents;
  for (size_t axis : innerAxes(value))
    extents.push_back(tk::tensorType(value).getShape()[axis]);
  return extents;
}

int64_t RowPlan::innerElements(Value value) const {
  int64_t elements = 1;
  for (int64_t n : innerExtents(value))
    elements *= n;
  return elements;
}

SmallVector<Index> RowPlan::rowIndex(Value value, ArrayRef<Index> outerIndex, ArrayRef<Index> inner) const {
  SmallVector<Index> index(tk::tensorType(value).getShape().size(), Index(0));
  for (auto [id, at] : llvm::zip(outer, outerIndex))
    if (int axis = classes->axisOf(value, id); axis >= 0)
      index[static_cast<size_t>(axis)] = at;
  for (auto [axis, at] : llvm::zip(innerAxes(value), inner))
    index[axis] = at;
  return index;
}

const KeptValue *RowPlan::stageOf(Value value) const {
  auto stage = llvm::find_if(stages, [&](const KeptValue &stage) { return stage.value == value; });
  return stage == stages.end() ? nullptr : &*stage;
}

namespace {

int64_t bytesOfElement(Value value) { return static_cast<int64_t>(byteSize(elementOf(value))); }

/// Loops that go through all lines of a task: reductions, and results that are no sums.
int64_t passesOf(KernelBody &body, const RowPlan &plan) {
  return static_cast<int64_t>(body.heavyOperators().size()) +
         llvm::count_if(body.results(), [&](Value result) { return plan.innerElements(result) > 1; });
}

/// Values of one element a column that there is room for beside what a task keeps of lines: they would be
/// computed again for each line.
constexpr int64_t valuesOfAColumn = 4;

/// How many neighbouring vectors of a row-major line tasks had best work on at once, where `bytes` for each
/// of them shall stay in the cache. A column's elements lie a line apart: each vector of them by itself meets
/// cache lines and pages that its neighbours meet again, and none that the hardware has fetched ahead.
int64_t vectorsSideBySide(KernelBody &body, const RowPlan &plan, const TargetDescription &target,
                          int64_t bytes) {
  constexpr int64_t most = 64, enoughTasks = 8, fewest = 4;
  // Sums side by side are kept in memory, where halves would be rounded each time.
  if (llvm::any_of(body.heavyOperators(), [](Operation *op) { return bytesOfElement(op->getResult(0)) < 4; }))
    return 1;
  const int64_t inLine = plan.extentOf(*plan.laneClass, target.lanes());
  const int64_t tasks = plan.tasks(target.lanes()), wanted = body.isWorthSharing() ? enoughTasks : 1;
  const int64_t fitting = target.l2Bytes / 4 / (bytes + valuesOfAColumn * target.vectorBytes);
  const int64_t vectors = std::min({most, inLine, tasks / wanted, fitting});
  if (vectors < fewest) // sums had better stay in registers
    return 1;
  return llvm::divideCeil(inLine, llvm::divideCeil(inLine, vectors)); // tasks of one size
}

/// Chooses `plan.vectorsAtOnce` and what is kept. `lines` is the largest operand.
void planColumns(KernelBody &body, RowPlan &plan, RowStages &stages, Value lines,
                 const TargetDescription &target, llvm::function_ref<int64_t()> bytesOfStages) {
  const int64_t bytes = tk::tensorType(lines).getNumElements() * bytesOfElement(lines);
  const int64_t again =
      passesOf(body, plan) > 1 ? plan.innerElements(lines) * target.lanes() * bytesOfElement(lines) : 0;
  auto choose = [&](int64_t bytesOfVector) {
    plan.vectorsAtOnce = vectorsSideBySide(body, plan, target, bytesOfVector);
    return plan.vectorsAtOnce > 1;
  };
  if (choose(bytesOfStages() + again) || again == 0 || bytes <= target.l2Bytes)
    return;
  // Lines are gone before they are read again. What would be kept of them takes room from wider tasks, and
  // computing it again costs less than walking through memory by columns.
  plan.rereadsMemory = true;
  if (choose(bytesOfStages()))
    return;
  stages.dropExpensive();
  if (!choose(bytesOfStages()))
    stages.addExpensive();
}

} // namespace

RowPlan planRows(KernelBody &body, const KernelMemory &memory, const TargetDescription &target,
                 bool rowsInside) {
  RowPlan plan;
  plan.classes = std::make_shared<AxisClasses>(body);
  AxisClasses &classes = *plan.classes;
  RowStages stages(body);
  stages.addExpensive();

  auto spansRow = [&](Value v, AxisClasses::ClassId id) {
    int a = classes.axisOf(v, id);
    return a >= 0 && tk::tensorType(v).getShape()[static_cast<size_t>(a)] == classes.extent(id);
  };
  std::vector<Value> inAll = stages.values();
  llvm::append_range(inAll, body.results());
  Value first = body.results().front();
  size_t axes = tk::tensorType(first).getShape().size();
  for (size_t axis = 0; axis < axes - (rowsInside ? 1 : 0); ++axis) {
    if (tk::tensorType(first).getShape()[axis] < 2)
      continue;
    auto id = classes.classOf(first, axis);
    bool everywhere = llvm::all_of(inAll, [&](Value v) { return spansRow(v, id); });
    if (everywhere && !classes.isBroken(id))
      plan.outer.push_back(id);
  }
  // Lanes along an outer axis where that is the contiguous one of the largest operand.
  int64_t largest = 0;
  Value lines; ///< the largest operand, where it is row-major
  for (auto [value, buffer] : llvm::zip(body.arguments(), memory.arguments)) {
    int64_t size = tk::tensorType(value).getNumElements();
    if (rowsInside || size <= largest || buffer.shape.empty())
      continue;
    largest = size;
    size_t axis = 1;
    lines = buffer.layout.isBlocked() ? Value() : value;
    if (lines)
      for (axis = buffer.shape.size() - 1; axis > 0 && buffer.shape[axis] == 1;)
        --axis;
    plan.laneClass.reset();
    if (plan.isOuter(value, axis))
      plan.laneClass = classes.classOf(value, axis);
  }
  // Whole vectors are stored, also of a ragged row.
  auto bytesOf = [&](Value value) {
    const int64_t elements = plan.innerElements(value), lanes = target.lanes();
    const int64_t stored =
        plan.lanesAreRows() ? elements * lanes * plan.vectorsAtOnce : (elements + lanes - 1) / lanes * lanes;
    return (stored * bytesOfElement(value) + 63) / 64 * 64;
  };
  auto keep = [&](Value value) {
    int64_t offset = plan.scratchBytes;
    plan.scratchBytes += bytesOf(value);
    return KeptValue{value, offset};
  };
  int64_t needed = 0;
  auto count = [&](ArrayRef<Value> values) {
    for (Value value : values)
      needed += bytesOf(value);
  };
  std::optional<ShortRows> shortRows;
  const RowPlan ofColumns = plan;
  int64_t columns = 0;
  if (plan.laneClass) { // columns that leave lanes idle are better parts of short rows
    columns = classes.extent(*plan.laneClass);
    llvm::erase(plan.outer, *plan.laneClass);
    plan.laneClass.reset();
  }
  if (!rowsInside && (columns == 0 || columns % target.lanes() != 0))
    shortRows = planShortRows(body, memory, plan, stages.values(), columns, target);
  if (shortRows) {
    plan.isTransposed = true;
    count(shortRows->arguments);
    count(shortRows->results);
    count(stages.values());
    plan.isTransposed = needed <= target.l1Bytes;
  }
  if (!plan.isTransposed)
    plan = ofColumns;
  auto bytesOfStages = [&] {
    needed = 0;
    count(stages.values());
    return needed;
  };
  if (plan.laneClass && lines)
    planColumns(body, plan, stages, lines, target, bytesOfStages);
  if (!plan.isTransposed)
    bytesOfStages();
  // More stages where they leave the rows as they are; beyond L1 a load costs what it saves.
  const int64_t besideLines =
      plan.vectorsAtOnce > 1 ? valuesOfAColumn * target.vectorBytes * plan.vectorsAtOnce : 0;
  stages.addWorthwhile(
      [&](Value value) -> std::optional<int64_t> {
        if (!llvm::all_of(plan.outer, [&](auto id) { return spansRow(value, id); }))
          return std::nullopt;
        return bytesOf(value);
      },
      std::max(target.l1Bytes - needed, besideLines));
  for (Value value : stages.values())
    plan.stages.push_back(keep(value));
  if (plan.isTransposed) {
    for (Value value : shortRows->arguments)
      plan.transposedArguments.push_back(keep(value));
    for (Value value : shortRows->results) {
      const KeptValue *stage = plan.stageOf(value);
      plan.transposedResults.push_back(stage ? *stage : keep(value));
    }
  }
  return plan;
}

} // namespace tokamak::codegen
