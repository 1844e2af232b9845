//===- RowKernel.cpp - groups that reduce, one row at a time ----------------------------------===//
// Axes that every operator of the group keeps are the outer loops, one task an index ("row"). Inside a row
// the group runs stage by stage (RowStages.h): each reduction, and each value that is dear to compute again,
// is computed once and kept in the thread's scratch; everything else is an expression of what reads it.
#include "codegen/kernel/RowReductions.h"
#include "codegen/kernel/ShortRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tokamak::codegen {

using namespace mlir;

namespace {

/// The classes of all axes of `value` but the last, as far as there is anything to count.
SmallVector<AxisClasses::ClassId> leadingClasses(AxisClasses &classes, Value value) {
  SmallVector<AxisClasses::ClassId> ids;
  auto shape = tk::tensorType(value).getShape();
  for (size_t axis = 0; axis + 1 < shape.size(); ++axis)
    if (shape[axis] > 1)
      ids.push_back(classes.classOf(value, axis));
  return ids;
}

/// All elements of `value` in the task's rows, stored to `memory`; `isKept` says that this is scratch.
void emitLoops(RowTask &task, Value value, const Buffer &memory, bool isKept) {
  ElementBuilder &e = task.e;
  VectorNest nest;
  nest.extents = task.plan.innerExtents(value);
  nest.extents.insert(nest.extents.begin(), 1); // rows without inner axes are one element
  bool storesAll = isKept && task.plan.lanesAreRows();
  auto storeElement = [&](ArrayRef<Index> inner) {
    auto index = task.rowIndex(value, inner.drop_front());
    Value element = e.element(value, index);
    storesAll ? task.storeWhole(element, memory, index) : e.store(element, memory, index);
  };
  if (task.plan.lanesAreRows()) {
    task.forScalars(nest.extents,
                    [&](ArrayRef<Index> inner) { task.forVectors([&] { storeElement(inner); }); });
    return;
  }
  nest.lanes = task.k.lanes();
  task.chooseCollapse(nest, [&](ElementBuilder &probe, ArrayRef<Index> inner) {
    auto index = task.rowIndex(value, inner.drop_front());
    Buffer target = memory;
    target.pointer = probe.indexConstant(0);
    probe.store(probe.element(value, index), target, index);
  });
  storesAll = isKept && nest.innerExtent() == task.plan.innerElements(value);
  ElementBuilder::Scope scope(e);
  emitNest(e, nest, {}, [&](ArrayRef<Index> inner, ValueRange) {
    storeElement(inner);
    return SmallVector<Value>();
  });
  e.setLanes(1);
}

void emitStage(RowTask &task, Value value, const Buffer &memory) {
  auto reduce = value.getDefiningOp<tk::ReduceOp>();
  if (!reduce || !emitRowReduction(task, reduce, memory))
    emitLoops(task, value, memory, /*isKept=*/true);
}

void emitRows(KernelContext &k, const RowPlan &plan, Value number, RowVectors vectors) {
  RowTask task(k, plan, number, vectors);
  RowTranspose transpose(task.e, plan, k.target, task.laneRows, task.rowsLeft);
  for (const KeptValue &argument : plan.transposedArguments) {
    Buffer memory = task.scratch(argument);
    transpose.load(argument.value, *task.e.buffer(argument.value), memory);
    task.e.bindBuffer(argument.value, memory);
  }
  for (const KeptValue &stage : plan.stages) {
    Buffer memory = task.scratch(stage);
    emitStage(task, stage.value, memory);
    task.e.bindBuffer(stage.value, memory);
  }
  for (auto [result, buffer] : llvm::zip(k.body.results(), k.outputs)) {
    auto kept =
        llvm::find_if(plan.transposedResults, [&](const KeptValue &kept) { return kept.value == result; });
    if (kept == plan.transposedResults.end()) {
      emitLoops(task, result, buffer, /*isKept=*/false);
      continue;
    }
    Buffer memory = task.scratch(*kept);
    if (!plan.stageOf(result))
      emitLoops(task, result, memory, /*isKept=*/true);
    transpose.store(result, memory, buffer);
  }
}

/// Whether the vector of rows that `task` works on is the last one along them.
Value isLastVector(KernelContext &k, const RowPlan &plan, Value task) {
  IndexSpace space;
  ElementBuilder e(k.builder, k.loc, space, 1);
  int64_t inside = 1; // tasks of one vector
  for (auto id : llvm::reverse(plan.outer)) {
    if (plan.isTransposed || id == plan.laneClass)
      break;
    inside *= plan.extentOf(id, k.lanes());
  }
  const int64_t tasks = plan.tasks(k.lanes());
  const int64_t along = plan.isTransposed ? tasks : plan.extentOf(*plan.laneClass, k.lanes());
  Index vector = space.mod(space.floorDiv(space.uniform(task, 0, tasks - 1), inside), along);
  return k.builder.create<arith::CmpIOp>(k.loc, arith::CmpIPredicate::eq, e.materialize(vector),
                                         e.indexConstant(along - 1));
}

/// A vector that is not full has code of its own where each masked access costs as much as a dozen others.
void emitTask(KernelContext &k, const RowPlan &plan, Value task) {
  if (k.target.hasMaskRegisters || rowsOfLastVector(plan, k.lanes()) == 0) {
    emitRows(k, plan, task, RowVectors::any);
    return;
  }
  auto branch = k.builder.create<scf::IfOp>(k.loc, isLastVector(k, plan, task), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(k.builder);
  k.builder.setInsertionPointToStart(branch.thenBlock());
  emitRows(k, plan, task, RowVectors::last);
  k.builder.setInsertionPointToStart(branch.elseBlock());
  emitRows(k, plan, task, RowVectors::whole);
}

} // namespace

static KernelStrategy strategyOf(KernelBody &body, const RowPlan &plan, const TargetDescription &target) {
  KernelStrategy strategy;
  strategy.kind = "rows";
  strategy.tasks = plan.tasks(target.lanes());
  strategy.scratchBytes = plan.scratchBytes;
  strategy.nests = static_cast<int64_t>(plan.stages.size() + body.results().size());
  strategy.emit = [plan](KernelContext &k) {
    IndexSpace none;
    ElementBuilder loops(k.builder, k.loc, none, 1);
    loops.loop(k.begin, k.end, {0, 0}, {}, [&](const Index &, ValueRange) {
      emitTask(k, plan, k.builder.getInsertionBlock()->getArgument(0));
      return SmallVector<Value>();
    });
  };
  return strategy;
}

KernelStrategy planRowKernel(KernelBody &body, const KernelMemory &memory, const TargetDescription &target) {
  return strategyOf(body, planRows(body, memory, target), target);
}

std::optional<KernelStrategy> planRowsInScratch(KernelBody &body, const KernelMemory &memory,
                                                const TargetDescription &target, Value start) {
  RowPlan plan = planRows(body, memory, target, /*rowsInside=*/true);
  if (plan.outer != leadingClasses(*plan.classes, body.results().front()) ||
      (start && plan.outer != leadingClasses(*plan.classes, start)))
    return std::nullopt;
  return strategyOf(body, plan, target);
}

} // namespace tokamak::codegen
