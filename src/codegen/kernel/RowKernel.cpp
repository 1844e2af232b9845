//===- RowKernel.cpp - groups that reduce, one row at a time
//---------------------------------------------===//
// Axes that every operator of the group keeps are the outer loops, one task an index ("row"). Inside a row
// the group runs stage by stage (RowStages.h): each reduction, and each value that is dear to compute again,
// is computed once and kept in the thread's scratch; everything else is an expression of what reads it.
#include "codegen/expression/Combine.h"
#include "codegen/kernel/AxisClasses.h"
#include "codegen/kernel/IndexProbe.h"
#include "codegen/kernel/KernelContext.h"
#include "codegen/kernel/RowStages.h"
#include "codegen/kernel/VectorLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tokamak::codegen {

using namespace mlir;

namespace {

struct Stage {
  Value value;
  int64_t offset = 0; ///< bytes into the scratch
};

struct RowPlan {
  llvm::SmallVector<AxisClasses::ClassId> outer; ///< outer loops, outermost first
  std::optional<AxisClasses::ClassId> laneClass; ///< the outer class that lanes run along, if any
  std::vector<Stage> stages;
  int64_t scratchBytes = 0;
  std::shared_ptr<AxisClasses> classes;

  int64_t extentOf(AxisClasses::ClassId id, int64_t lanes) const {
    int64_t n = classes->extent(id);
    return laneClass == id ? (n + lanes - 1) / lanes : n;
  }
  bool isOuter(Value value, size_t axis) const {
    return tk::tensorType(value).getShape()[axis] > 1 &&
           llvm::is_contained(outer, classes->classOf(value, axis));
  }
  /// Axes of `value` that lie inside a row.
  SmallVector<size_t> innerAxes(Value value) const {
    SmallVector<size_t> axes;
    for (size_t axis = 0; axis < tk::tensorType(value).getShape().size(); ++axis)
      if (!isOuter(value, axis))
        axes.push_back(axis);
    return axes;
  }
  SmallVector<int64_t> innerExtents(Value value) const {
    SmallVector<int64_t> extents;
    for (size_t axis : innerAxes(value))
      extents.push_back(tk::tensorType(value).getShape()[axis]);
    return extents;
  }
};

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

/// `rowsInside`: lanes run inside rows, and the last axis of the first result as well.
RowPlan planRows(KernelBody &body, const KernelMemory &memory, const TargetDescription &target,
                 bool rowsInside = false) {
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
  for (auto [value, buffer] : llvm::zip(body.arguments(), memory.arguments)) {
    int64_t size = tk::tensorType(value).getNumElements();
    if (rowsInside || size <= largest || buffer.shape.empty())
      continue;
    largest = size;
    size_t axis = 1;
    if (!buffer.layout.isBlocked())
      for (axis = buffer.shape.size() - 1; axis > 0 && buffer.shape[axis] == 1;)
        --axis;
    plan.laneClass.reset();
    if (plan.isOuter(value, axis))
      plan.laneClass = classes.classOf(value, axis);
  }
  auto bytesOf = [&](Value value) {
    int64_t elements = plan.laneClass ? target.lanes() : 1;
    for (int64_t n : plan.innerExtents(value))
      elements *= n;
    return (elements * static_cast<int64_t>(byteSize(elementOf(value))) + 63) / 64 * 64;
  };
  int64_t needed = 0;
  for (Value value : stages.values())
    needed += bytesOf(value);
  // More stages where they leave the rows as they are; beyond L1 a load costs what it saves.
  stages.addWorthwhile(
      [&](Value value) -> std::optional<int64_t> {
        if (!llvm::all_of(plan.outer, [&](auto id) { return spansRow(value, id); }))
          return std::nullopt;
        return bytesOf(value);
      },
      target.l1Bytes - needed);
  for (Value value : stages.values()) {
    plan.stages.push_back({value, plan.scratchBytes});
    plan.scratchBytes += bytesOf(value);
  }
  return plan;
}

/// Emits one row.
class RowEmitter {
public:
  RowEmitter(KernelContext &k, const RowPlan &plan, Value task)
      : k(k), plan(plan), e(k.builder, k.loc, space, 1) {
    k.bindArguments(e);
    SmallVector<int64_t> extents;
    for (auto id : plan.outer)
      extents.push_back(plan.extentOf(id, k.lanes()));
    int64_t tasks = 1;
    for (int64_t n : extents)
      tasks *= n;
    auto indices = delinearize(space, space.uniform(task, 0, tasks - 1), extents);
    if (plan.laneClass)
      e.setLanes(k.lanes());
    for (auto [id, index, extent] : llvm::zip(plan.outer, indices, extents)) {
      Index at = space.uniform(e.materialize(index), 0, extent - 1);
      if (plan.laneClass == id)
        at = laneRow(at, plan.classes->extent(id));
      rows.push_back(at);
    }
  }

  void run() {
    for (const Stage &stage : plan.stages) {
      Buffer memory = scratch(stage);
      emitStage(stage.value, memory);
      e.bindBuffer(stage.value, memory);
    }
    for (auto [result, buffer] : llvm::zip(k.body.results(), k.outputs))
      emitLoops(result, buffer);
  }

private:
  /// Index block * lanes + lane along the lane class; lanes beyond its extent go under the mask.
  Index laneRow(const Index &block, int64_t extent) {
    Index at = space.add(space.scale(block, k.lanes()), e.laneIndex());
    if (extent % k.lanes() != 0) {
      auto type = VectorType::get({k.lanes()}, k.builder.getI1Type());
      Value remaining = e.materialize(space.sub(Index(extent), space.scale(block, k.lanes())));
      e.setMask(k.builder.create<vector::CreateMaskOp>(k.loc, type, remaining));
    }
    return at;
  }

  Buffer scratch(const Stage &stage) {
    Buffer buffer;
    buffer.type = elementOf(stage.value);
    auto shape = tk::tensorType(stage.value).getShape();
    buffer.shape.assign(shape.begin(), shape.end());
    Type pointer = LLVM::LLVMPointerType::get(k.builder.getContext());
    buffer.pointer =
        k.builder.create<LLVM::GEPOp>(k.loc, pointer, k.builder.getI8Type(), k.scratch,
                                      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(stage.offset)});
    auto axes = plan.innerAxes(stage.value);
    auto extents = plan.innerExtents(stage.value);
    bool laned = plan.laneClass.has_value();
    int64_t lanes = k.lanes();
    buffer.position = [axes, extents, laned, lanes](IndexSpace &indices, ArrayRef<Index> index) {
      SmallVector<Index> inner;
      for (size_t axis : axes)
        inner.push_back(index[axis]);
      Index position = linearize(indices, inner, extents);
      return laned ? indices.add(indices.scale(position, lanes), indices.lane(lanes)) : position;
    };
    return buffer;
  }

  /// The index of `value` in this row from indices of its inner axes.
  SmallVector<Index> rowIndex(Value value, ArrayRef<Index> inner) {
    SmallVector<Index> index(tk::tensorType(value).getShape().size(), Index(0));
    for (auto [id, at] : llvm::zip(plan.outer, rows))
      if (int axis = plan.classes->axisOf(value, id); axis >= 0)
        index[static_cast<size_t>(axis)] = at;
    for (auto [axis, at] : llvm::zip(plan.innerAxes(value), inner))
      index[axis] = at;
    return index;
  }

  /// All elements of `value` in this row, stored to `memory`.
  void emitLoops(Value value, const Buffer &memory) {
    VectorNest nest;
    nest.extents = plan.innerExtents(value);
    nest.extents.insert(nest.extents.begin(), 1); // rows without inner axes are one element
    auto body = [&](ArrayRef<Index> inner, ValueRange) {
      auto index = rowIndex(value, inner.drop_front());
      e.store(e.element(value, index), memory, index);
      return SmallVector<Value>();
    };
    if (plan.laneClass) {
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

  /// A tk.reduce whose lanes run along the reduced axes: partial results a lane, combined at the end.
  void emitReduction(tk::ReduceOp reduce, const Buffer &memory) {
    Value value = reduce.getResult(), input = reduce.getInput();
    auto shape = tk::tensorType(input).getShape();
    DataType type = elementOf(input);
    ElementBuilder::Scope outerScope(e);
    std::function<void(SmallVector<Index> &)> overResults = [&](SmallVector<Index> &inner) {
      auto extents = plan.innerExtents(value);
      if (inner.size() < extents.size()) {
        e.loop(extents[inner.size()], {}, [&](const Index &i, ValueRange) {
          inner.push_back(i);
          overResults(inner);
          inner.pop_back();
          return SmallVector<Value>();
        });
        return;
      }
      auto index = rowIndex(value, inner);
      VectorNest nest;
      nest.lanes = k.lanes();
      for (int64_t axis : reduce.getAxes())
        nest.extents.push_back(shape[static_cast<size_t>(axis)]);
      auto source = [&](ArrayRef<Index> reduced) {
        SmallVector<Index> at(shape.size());
        size_t next = 0, r = 0;
        for (size_t axis = 0; axis < shape.size(); ++axis) {
          bool isReduced = llvm::is_contained(reduce.getAxes(), static_cast<int64_t>(axis));
          at[axis] = isReduced ? reduced[r++] : index[next];
          next += !isReduced || reduce.getKeepDims();
        }
        return at;
      };
      chooseCollapse(nest, [&](ElementBuilder &probe, ArrayRef<Index> reduced) {
        probe.element(input, source(reduced));
      });
      e.setLanes(nest.lanes);
      Value neutral = identity(e, reduce.getKind(), type);
      auto sums = emitNest(e, nest, {neutral}, [&](ArrayRef<Index> reduced, ValueRange sum) {
        Value element = e.element(input, source(reduced));
        Value combined = combine(e, reduce.getKind(), type, sum[0], element);
        if (e.mask())
          combined = k.builder.create<arith::SelectOp>(k.loc, e.mask(), combined, sum[0]);
        return SmallVector<Value>{combined};
      });
      Value total = combineLanes(e, reduce.getKind(), type, sums[0]);
      e.setLanes(1);
      e.store(e.round(total, type), memory, index);
    };
    SmallVector<Index> inner;
    overResults(inner);
  }

  void emitStage(Value value, const Buffer &memory) {
    auto reduce = value.getDefiningOp<tk::ReduceOp>();
    bool overLanes = reduce && !plan.laneClass && !reduce.getAxes().empty() && reducesContiguously(reduce);
    if (overLanes)
      emitReduction(reduce, memory);
    else
      emitLoops(value, memory);
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
        k.builder.getContext(), k.loc, nest,
        [&](ElementBuilder &probe, ArrayRef<Index> inner) {
          for (auto [value, buffer] : llvm::zip(k.body.arguments(), k.arguments))
            probe.bindBuffer(value, buffer);
          for (const Stage &stage : plan.stages)
            if (const Buffer *memory = e.buffer(stage.value))
              probe.bindBuffer(stage.value, *memory);
          emit(probe, inner);
        },
        &space);
  }

  KernelContext &k;
  const RowPlan &plan;
  IndexSpace space;
  ElementBuilder e;
  SmallVector<Index> rows; ///< one an outer class
};

} // namespace

static KernelStrategy strategyOf(KernelBody &body, const RowPlan &plan, const TargetDescription &target) {
  KernelStrategy strategy;
  strategy.kind = "rows";
  strategy.tasks = 1;
  for (auto id : plan.outer)
    strategy.tasks *= plan.extentOf(id, target.lanes());
  strategy.scratchBytes = plan.scratchBytes;
  strategy.nests = static_cast<int64_t>(plan.stages.size() + body.results().size());
  strategy.emit = [plan](KernelContext &k) {
    IndexSpace none;
    ElementBuilder loops(k.builder, k.loc, none, 1);
    loops.loop(k.begin, k.end, {0, 0}, {}, [&](const Index &, ValueRange) {
      Value task = k.builder.getInsertionBlock()->getArgument(0);
      RowEmitter(k, plan, task).run();
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
