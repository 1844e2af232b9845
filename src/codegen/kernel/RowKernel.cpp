//===- RowKernel.cpp - groups that reduce, one row at a time
//---------------------------------------------===//
// Axes that every operator of the group keeps are the outer loops, one task an index ("row"). Inside a row
// the group runs stage by stage (RowStages.h): each reduction, and each value that is dear to compute again,
// is computed once and kept in the thread's scratch; everything else is an expression of what reads it.
#include "codegen/expression/Combine.h"
#include "codegen/kernel/RowPlan.h"
#include "codegen/kernel/ShortRows.h"
#include "codegen/kernel/VectorLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <algorithm>

namespace tokamak::codegen {

using namespace mlir;

namespace {

DataType elementOf(Value tensor) { return *fromMlir(tk::tensorType(tensor).getElementType()); }

/// The classes of all axes of `value` but the last, as far as there is anything to count.
SmallVector<AxisClasses::ClassId> leadingClasses(AxisClasses &classes, Value value) {
  SmallVector<AxisClasses::ClassId> ids;
  auto shape = tk::tensorType(value).getShape();
  for (size_t axis = 0; axis + 1 < shape.size(); ++axis)
    if (shape[axis] > 1)
      ids.push_back(classes.classOf(value, axis));
  return ids;
}

/// Independent chains that a reduction over loops is: an addition's result is late by as many cycles.
constexpr int64_t chains = 4;

/// Which vectors of rows a task's code is for: lanes of the last one may have no row.
enum class Vectors { any, whole, last };

/// Rows that the last vector along them has, where it is not full; else 0.
int64_t rowsOfLastVector(const RowPlan &plan, int64_t lanes) {
  if (plan.isTransposed)
    return plan.rows() % lanes;
  // Several vectors at once: their loop ends in one of its own.
  return plan.laneClass && plan.vectorsAtOnce == 1 ? plan.classes->extent(*plan.laneClass) % lanes : 0;
}

/// Emits one task: a row, or as many as there are lanes.
class RowEmitter {
public:
  RowEmitter(KernelContext &k, const RowPlan &plan, Value task, Vectors vectors = Vectors::any)
      : k(k), plan(plan), vectors(vectors), e(k.builder, k.loc, space, 1) {
    k.bindArguments(e);
    if (plan.isTransposed) {
      bindBlock(space.uniform(task, 0, plan.tasks(k.lanes()) - 1));
      return;
    }
    SmallVector<int64_t> extents;
    for (auto id : plan.outer)
      extents.push_back(plan.extentOf(id, k.lanes()));
    int64_t tasks = 1;
    for (int64_t n : extents)
      tasks *= n;
    auto indices = delinearize(space, space.uniform(task, 0, tasks - 1), extents);
    if (plan.laneClass)
      e.setLanes(k.lanes());
    for (auto [id, index, extent] : llvm::zip(plan.outer, indices, extents))
      rows.push_back(space.uniform(e.materialize(index), 0, extent - 1));
    if (plan.laneClass)
      bindColumns();
  }

  void run() {
    RowTranspose transpose(e, plan, laneRows, rowsLeft);
    for (const KeptValue &argument : plan.transposedArguments) {
      Buffer memory = scratch(argument);
      transpose.load(argument.value, *e.buffer(argument.value), memory);
      e.bindBuffer(argument.value, memory);
    }
    for (const KeptValue &stage : plan.stages) {
      Buffer memory = scratch(stage);
      emitStage(stage.value, memory);
      e.bindBuffer(stage.value, memory);
    }
    for (auto [result, buffer] : llvm::zip(k.body.results(), k.outputs)) {
      auto kept =
          llvm::find_if(plan.transposedResults, [&](const KeptValue &kept) { return kept.value == result; });
      if (kept == plan.transposedResults.end()) {
        emitLoops(result, buffer, /*isKept=*/false);
        continue;
      }
      Buffer memory = scratch(*kept);
      if (!plan.stageOf(result))
        emitLoops(result, memory, /*isKept=*/true);
      transpose.store(result, memory, buffer);
    }
  }

private:
  /// Row block * lanes + lane in each lane.
  void bindBlock(const Index &block) {
    SmallVector<int64_t> extents;
    for (auto id : plan.outer)
      extents.push_back(plan.classes->extent(id));
    e.setLanes(k.lanes());
    Index first = space.scale(block, k.lanes());
    rows = delinearize(space, space.add(first, e.laneIndex()), extents);
    const int64_t all = plan.rows();
    const bool isRagged = rowsOfLastVector(plan, k.lanes()) != 0 && vectors != Vectors::whole;
    if (isRagged) {
      rowsLeft = vectors == Vectors::last ? e.indexConstant(rowsOfLastVector(plan, k.lanes()))
                                          : e.materialize(space.sub(Index(all), first));
      maskRows(rowsLeft);
    }
    for (int64_t lane = 0; lane < k.lanes(); ++lane) {
      Index row = space.add(first, Index(lane));
      if (isRagged)
        row = space.uniform(
            k.builder.create<arith::MinSIOp>(k.loc, e.materialize(row), e.indexConstant(all - 1)), 0,
            all - 1);
      laneRows.push_back(delinearize(space, row, extents));
    }
  }

  /// Which elements along the lane class are the task's. Of one vector, those beyond the extent go under a
  /// mask.
  void bindColumns() {
    laneAxis = static_cast<size_t>(llvm::find(plan.outer, *plan.laneClass) - plan.outer.begin());
    columns.extents = {plan.classes->extent(*plan.laneClass)};
    columns.lanes = k.lanes();
    const Index from = space.scale(rows[laneAxis], plan.vectorsAtOnce);
    firstColumn = space.scale(from, k.lanes());
    if (plan.vectorsAtOnce > 1) {
      firstVector = e.materialize(from);
      lastVector = e.materialize(space.add(from, Index(plan.vectorsAtOnce)));
      if (columns.vectors() % plan.vectorsAtOnce != 0)
        lastVector = k.builder.create<arith::MinSIOp>(k.loc, lastVector, e.indexConstant(columns.vectors()));
      return;
    }
    rows[laneAxis] = space.add(firstColumn, e.laneIndex());
    if (rowsOfLastVector(plan, k.lanes()) != 0)
      maskRows(e.materialize(space.sub(Index(columns.innerExtent()), firstColumn)));
  }

  void maskRows(Value remaining) {
    if (vectors == Vectors::last)
      e.setMask(firstLanes(e, rowsOfLastVector(plan, k.lanes())));
    else if (vectors == Vectors::any)
      e.setMask(k.builder.create<vector::CreateMaskOp>(
          k.loc, VectorType::get({k.lanes()}, k.builder.getI1Type()), remaining));
  }

  /// Calls `body` for each of the vectors that the task works on side by side, in a loop where they are
  /// several.
  void forVectors(llvm::function_ref<void()> body) {
    if (plan.vectorsAtOnce == 1)
      return body();
    emitVectors(e, columns, {}, firstVector, lastVector, [&](ArrayRef<Index> column, ValueRange) {
      rows[laneAxis] = column.front();
      body();
      return SmallVector<Value>();
    });
  }

  Buffer scratch(const KeptValue &kept) {
    Buffer buffer;
    buffer.type = elementOf(kept.value);
    auto shape = tk::tensorType(kept.value).getShape();
    buffer.shape.assign(shape.begin(), shape.end());
    Type pointer = LLVM::LLVMPointerType::get(k.builder.getContext());
    buffer.pointer = k.builder.create<LLVM::GEPOp>(k.loc, pointer, k.builder.getI8Type(), k.scratch,
                                                   ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(kept.offset)});
    auto axes = plan.innerAxes(kept.value);
    auto extents = plan.innerExtents(kept.value);
    bool laned = plan.lanesAreRows();
    buffer.position = [this, axes, extents, laned](IndexSpace &indices, ArrayRef<Index> index) {
      SmallVector<Index> inner;
      for (size_t axis : axes)
        inner.push_back(index[axis]);
      Index position = linearize(indices, inner, extents);
      if (!laned)
        return position;
      Index lane = plan.laneClass ? indices.sub(rows[laneAxis], firstColumn) : indices.lane(k.lanes());
      return indices.add(indices.scale(position, plan.vectorsAtOnce * k.lanes()), lane);
    };
    return buffer;
  }

  SmallVector<Index> rowIndex(Value value, ArrayRef<Index> inner) {
    return plan.rowIndex(value, rows, inner);
  }

  /// All elements of `value` in this row, stored to `memory`; `isKept` says that this is scratch.
  void emitLoops(Value value, const Buffer &memory, bool isKept) {
    VectorNest nest;
    nest.extents = plan.innerExtents(value);
    nest.extents.insert(nest.extents.begin(), 1); // rows without inner axes are one element
    int64_t elements = 1;
    for (int64_t n : nest.extents)
      elements *= n;
    bool storesAll = isKept && plan.lanesAreRows();
    auto storeElement = [&](ArrayRef<Index> inner) {
      auto index = rowIndex(value, inner.drop_front());
      Value element = e.element(value, index);
      storesAll ? storeWhole(element, memory, index) : e.store(element, memory, index);
    };
    auto body = [&](ArrayRef<Index> inner, ValueRange) {
      forVectors([&] { storeElement(inner); });
      return SmallVector<Value>();
    };
    if (plan.lanesAreRows()) {
      emitScalarLoops(nest.extents, body);
      return;
    }
    nest.lanes = k.lanes();
    chooseCollapse(nest, [&](ElementBuilder &probe, ArrayRef<Index> inner) {
      auto index = rowIndex(value, inner.drop_front());
      Buffer target = memory;
      target.pointer = probe.indexConstant(0);
      probe.store(probe.element(value, index), target, index);
    });
    storesAll = isKept && nest.innerExtent() == elements;
    ElementBuilder::Scope scope(e);
    emitNest(e, nest, {}, body);
    e.setLanes(1);
  }

  /// Lanes run over rows: plain loops inside.
  void emitScalarLoops(ArrayRef<int64_t> extents, const NestBody &body) {
    SmallVector<Index> indices;
    std::function<void()> level = [&] {
      if (indices.size() == extents.size()) {
        body(indices, {});
        return;
      }
      e.loop(extents[indices.size()], {}, [&](const Index &i, ValueRange) {
        indices.push_back(i);
        level();
        indices.pop_back();
        return SmallVector<Value>();
      });
    };
    level();
  }

  /// Calls `body` for each element of `value` in this row.
  void forElements(Value value, llvm::function_ref<void(ArrayRef<Index>)> body) {
    emitScalarLoops(plan.innerExtents(value), [&](ArrayRef<Index> inner, ValueRange) {
      body(rowIndex(value, inner));
      return SmallVector<Value>();
    });
  }

  /// The element of the input that `reduced` names among those that make up `index` of the result.
  static SmallVector<Index> sourceOf(tk::ReduceOp reduce, ArrayRef<Index> index, ArrayRef<Index> reduced) {
    SmallVector<Index> at(tk::tensorType(reduce.getInput()).getShape().size());
    size_t next = 0, r = 0;
    for (size_t axis = 0; axis < at.size(); ++axis) {
      bool isReduced = llvm::is_contained(reduce.getAxes(), static_cast<int64_t>(axis));
      at[axis] = isReduced ? reduced[r++] : index[next];
      next += !isReduced || reduce.getKeepDims();
    }
    return at;
  }

  /// The extents of the reduced axes, in order.
  static SmallVector<int64_t> reducedExtents(tk::ReduceOp reduce) {
    SmallVector<int64_t> extents;
    for (int64_t axis : reduce.getAxes())
      extents.push_back(tk::tensorType(reduce.getInput()).getShape()[static_cast<size_t>(axis)]);
    return extents;
  }

  /// Lanes run along the reduced axes: partial results a lane, combined at the end.
  void emitReduction(tk::ReduceOp reduce, const Buffer &memory) {
    DataType type = elementOf(reduce.getInput());
    ElementBuilder::Scope outerScope(e);
    forElements(reduce.getResult(), [&](ArrayRef<Index> index) {
      VectorNest nest;
      nest.lanes = k.lanes();
      nest.extents = reducedExtents(reduce);
      chooseCollapse(nest, [&](ElementBuilder &probe, ArrayRef<Index> reduced) {
        probe.element(reduce.getInput(), sourceOf(reduce, index, reduced));
      });
      e.setLanes(nest.lanes);
      Value neutral = identity(e, reduce.getKind(), type);
      auto sums = emitNest(e, nest, {neutral}, [&](ArrayRef<Index> reduced, ValueRange sum) {
        Value element = e.element(reduce.getInput(), sourceOf(reduce, index, reduced));
        Value combined = combine(e, reduce.getKind(), type, sum[0], element);
        if (e.mask())
          combined = k.builder.create<arith::SelectOp>(k.loc, e.mask(), combined, sum[0]);
        return SmallVector<Value>{combined};
      });
      Value total = combineLanes(e, reduce.getKind(), type, sums[0]);
      e.setLanes(1);
      e.store(e.round(total, type), memory, index);
    });
  }

  /// Loops over the reduced axes but the last, whose elements `add(first, count, sums)` takes several at
  /// once.
  using AddElements = llvm::function_ref<SmallVector<Value>(const Index &, int64_t, ValueRange)>;
  SmallVector<Value> forReduced(ArrayRef<int64_t> extents, int64_t width, SmallVector<Index> &reduced,
                                ValueRange carried, AddElements add) {
    const int64_t extent = extents[reduced.size()];
    if (reduced.size() + 1 < extents.size())
      return e.loop(extent, carried, [&](const Index &i, ValueRange inner) {
        reduced.push_back(i);
        auto sums = forReduced(extents, width, reduced, inner, add);
        reduced.pop_back();
        return sums;
      });
    SmallVector<Value> sums(carried);
    if (int64_t whole = extent / width)
      sums = e.loop(whole, sums, [&](const Index &i, ValueRange inner) {
        return add(space.scale(i, width), width, inner);
      });
    ElementBuilder::Scope scope(e);
    int64_t rest = extent % width;
    return rest ? add(Index(extent - rest), rest, sums) : sums;
  }

  /// Two by two.
  Value combineAll(tk::ReduceOp reduce, SmallVector<Value> values) {
    while (values.size() > 1) {
      size_t half = (values.size() + 1) / 2;
      for (size_t i = 0; half + i < values.size(); ++i)
        values[i] = combine(e, reduce.getKind(), elementOf(reduce.getInput()), values[i], values[half + i]);
      values.truncate(half);
    }
    return values.front();
  }

  /// To scratch, which has room for whole vectors: what a masked store leaves has to reach the cache before
  /// it can be loaded.
  void storeWhole(Value value, const Buffer &memory, ArrayRef<Index> index) {
    Value mask = e.mask();
    e.setMask(nullptr);
    e.store(value, memory, index);
    e.setMask(mask);
  }

  /// Lanes are rows: several elements of the last reduced axis at once, each added to a sum of its own.
  void emitChains(tk::ReduceOp reduce, const Buffer &memory) {
    DataType type = elementOf(reduce.getInput());
    SmallVector<int64_t> extents = reducedExtents(reduce);
    const int64_t width = std::clamp<int64_t>(extents.back(), 1, chains);
    forElements(reduce.getResult(), [&](ArrayRef<Index> index) {
      SmallVector<Index> reduced;
      SmallVector<Value> none(static_cast<size_t>(width), identity(e, reduce.getKind(), type));
      auto sums = forReduced(
          extents, width, reduced, none, [&](const Index &first, int64_t count, ValueRange before) {
            SmallVector<Value> sums(before);
            for (int64_t i = 0; i < count; ++i) {
              reduced.push_back(space.add(first, Index(i)));
              Value element = e.element(reduce.getInput(), sourceOf(reduce, index, reduced));
              auto &sum = sums[static_cast<size_t>(i)];
              sum = combine(e, reduce.getKind(), type, sum, element);
              reduced.pop_back();
            }
            return sums;
          });
      storeWhole(e.round(combineAll(reduce, sums), type), memory, index);
    });
  }

  using SumBody = llvm::function_ref<void(ArrayRef<Index>)>;
  /// Vectors side by side, too many for registers: their sums are in scratch. Several lines at once, so that
  /// these are loaded and stored less often. `forSums(body)` calls `body` with the index of each vector of
  /// them; `hasRoom` says that behind a ragged one there is nothing that it must not touch.
  void emitLineByLine(tk::ReduceOp reduce, const Buffer &memory, bool hasRoom,
                      llvm::function_ref<void(SumBody)> forSums) {
    auto store = [&](Value sum, ArrayRef<Index> at) {
      hasRoom ? storeWhole(sum, memory, at) : e.store(sum, memory, at);
    };
    DataType type = elementOf(reduce.getInput());
    SmallVector<int64_t> extents = reducedExtents(reduce);
    const int64_t width = std::clamp<int64_t>(extents.back(), 1, chains);
    forSums([&](ArrayRef<Index> at) { store(identity(e, reduce.getKind(), type), at); });
    SmallVector<Index> reduced;
    forReduced(extents, width, reduced, {}, [&](const Index &first, int64_t count, ValueRange) {
      forSums([&](ArrayRef<Index> at) {
        SmallVector<Value> elements;
        for (int64_t i = 0; i < count; ++i) {
          reduced.push_back(space.add(first, Index(i)));
          elements.push_back(e.element(reduce.getInput(), sourceOf(reduce, at, reduced)));
          reduced.pop_back();
        }
        Value sum = combineAll(reduce, elements);
        store(combine(e, reduce.getKind(), type, e.load(memory, at), sum), at);
      });
      return SmallVector<Value>();
    });
  }

  /// Lanes are columns, a task's in a row.
  void emitColumns(tk::ReduceOp reduce, const Buffer &memory) {
    emitScalarLoops(plan.innerExtents(reduce.getResult()), [&](ArrayRef<Index> inner, ValueRange) {
      emitLineByLine(reduce, memory, /*hasRoom=*/true,
                     [&](SumBody body) { forVectors([&] { body(rowIndex(reduce.getResult(), inner)); }); });
      return SmallVector<Value>();
    });
  }

  /// Lanes run along the sums, which are contiguous inside a row.
  void emitSums(tk::ReduceOp reduce, const Buffer &memory) {
    VectorNest nest;
    nest.extents = plan.innerExtents(reduce.getResult());
    nest.lanes = k.lanes();
    ElementBuilder::Scope scope(e);
    const bool hasRoom = nest.innerExtent() == plan.innerElements(reduce.getResult());
    emitLineByLine(reduce, memory, hasRoom, [&](SumBody body) {
      emitNest(e, nest, {}, [&](ArrayRef<Index> inner, ValueRange) {
        body(rowIndex(reduce.getResult(), inner));
        return SmallVector<Value>();
      });
    });
    e.setLanes(1);
  }

  /// Whether the sums had better be in memory: a loop for each of them would walk through the lines by
  /// columns.
  bool isSumOfLines(tk::ReduceOp reduce) {
    constexpr int64_t fewestLines = 4, fewestVectors = 4;
    int64_t lines = 1;
    for (int64_t extent : reducedExtents(reduce))
      lines *= extent;
    SmallVector<int64_t> sums = plan.innerExtents(reduce.getResult());
    while (!sums.empty() && sums.back() == 1)
      sums.pop_back();
    return lines >= fewestLines && !sums.empty() &&
           sums.size() == plan.innerExtents(reduce.getResult()).size() &&
           sums.back() >= fewestVectors * k.lanes() && byteSize(elementOf(reduce.getResult())) >= 4;
  }

  void emitStage(Value value, const Buffer &memory) {
    auto reduce = value.getDefiningOp<tk::ReduceOp>();
    if (reduce && !reduce.getAxes().empty() && plan.lanesAreRows())
      plan.vectorsAtOnce > 1 ? emitColumns(reduce, memory) : emitChains(reduce, memory);
    else if (reduce && !reduce.getAxes().empty() && reducesContiguously(reduce))
      emitReduction(reduce, memory);
    else if (reduce && !reduce.getAxes().empty() && isSumOfLines(reduce))
      emitSums(reduce, memory);
    else
      emitLoops(value, memory, /*isKept=*/true);
  }

  /// Lanes along the reduced axes pay where the result's own inner axes are not the contiguous ones.
  bool reducesContiguously(tk::ReduceOp reduce) {
    auto shape = tk::tensorType(reduce.getInput()).getShape();
    int64_t last = static_cast<int64_t>(shape.size()) - 1;
    while (last > 0 && shape[static_cast<size_t>(last)] == 1)
      --last;
    return llvm::is_contained(reduce.getAxes(), last);
  }

  /// Picks how many axes run as one vector loop. The probe sees this row's buffers.
  void chooseCollapse(VectorNest &nest, const std::function<void(ElementBuilder &, ArrayRef<Index>)> &emit) {
    double best = 0;
    size_t bestCollapsed = 1;
    for (size_t collapsed = 1; collapsed <= nest.extents.size(); ++collapsed) {
      VectorNest candidate = nest;
      candidate.collapsed = collapsed;
      double cost = probeCost(candidate, emit);
      if (collapsed == 1 || cost < best)
        best = cost, bestCollapsed = collapsed;
    }
    nest.collapsed = bestCollapsed;
  }

  double probeCost(const VectorNest &nest,
                   const std::function<void(ElementBuilder &, ArrayRef<Index>)> &emit) {
    // Rows are indices of this builder's space: the probe works in the same space, on code that is thrown
    // away.
    return nestCost(
        k.builder.getContext(), k.loc, nest, k.target,
        [&](ElementBuilder &probe, ArrayRef<Index> inner) {
          for (auto [value, buffer] : llvm::zip(k.body.arguments(), k.arguments))
            probe.bindBuffer(value, buffer);
          for (const KeptValue &stage : plan.stages)
            if (const Buffer *memory = e.buffer(stage.value))
              probe.bindBuffer(stage.value, *memory);
          emit(probe, inner);
        },
        &space);
  }

  KernelContext &k;
  const RowPlan &plan;
  Vectors vectors;
  IndexSpace space;
  ElementBuilder e;
  SmallVector<Index> rows; ///< one an outer class
  // Of the lane class: its place in `rows`; all its elements, by vectors; which of these are the task's.
  size_t laneAxis = 0;
  VectorNest columns;
  Index firstColumn;
  Value firstVector, lastVector; ///< [first, last), where they are several
  // Of a block of rows: the same lane by lane, and how many of them there are, where that is not certain.
  SmallVector<SmallVector<Index>> laneRows;
  Value rowsLeft;
};

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
    RowEmitter(k, plan, task).run();
    return;
  }
  auto branch = k.builder.create<scf::IfOp>(k.loc, isLastVector(k, plan, task), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(k.builder);
  k.builder.setInsertionPointToStart(branch.thenBlock());
  RowEmitter(k, plan, task, Vectors::last).run();
  k.builder.setInsertionPointToStart(branch.elseBlock());
  RowEmitter(k, plan, task, Vectors::whole).run();
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
