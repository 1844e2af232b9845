//===- PointwiseKernel.cpp - groups whose result elements are computed on their own --------------------===//
#include "codegen/kernel/IndexBoxes.h"
#include "codegen/kernel/IndexProbe.h"
#include "codegen/kernel/KernelContext.h"
#include "codegen/kernel/RowPlan.h"
#include "codegen/kernel/VectorLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/SmallVectorExtras.h"

namespace tokamak::codegen {

using namespace mlir;

namespace {

/// Elements a task should have at least, so that handing it out costs nothing beside it.
constexpr int64_t taskElements = 4096;

/// The loops over a box of a result, the innermost axes by vectors. A task takes some turns of one of them,
/// and all of those inside it.
struct BoxLoops {
  IndexBox box;          ///< in memory order
  VectorNest nest;       ///< over the box
  double cost = 0;       ///< of all its elements, in cycles
  size_t shared = 0;     ///< the loop that tasks share: an axis, or the one by vectors behind the others
  int64_t outer = 1;     ///< product of the axes in front of it
  int64_t turns = 1;     ///< of the shared loop
  int64_t taskTurns = 1; ///< at most, of one task
  int64_t firstTask = 0; ///< within the kernel

  size_t scalarAxes() const { return nest.extents.size() - nest.collapsed; }
  int64_t chunks() const { return (turns + taskTurns - 1) / taskTurns; }
  int64_t tasks() const { return outer * chunks(); }
};

/// The loops over one result, or over several of one shape, so that what they share is computed once: the
/// memory order of the first.
struct ResultLoops {
  SmallVector<size_t> results;
  std::vector<BoxLoops> boxes;
  double cost = 0; ///< of all boxes
};

/// The lanes of the block `physical` is in that are channels, where the last block has fewer.
Value channelLanes(ElementBuilder &e, const Buffer &output, ArrayRef<Index> physical) {
  if (!output.layout.isBlocked() || output.shape[1] % output.layout.block == 0)
    return nullptr;
  assert(e.lanes() == output.layout.block && "lanes run over the channels of a block");
  Index firstChannel = e.space().scale(physical[1], output.layout.block);
  Value remaining = e.materialize(e.space().sub(Index(output.shape[1]), firstChannel));
  auto type = VectorType::get({e.lanes()}, e.builder().getI1Type());
  return e.builder().create<vector::CreateMaskOp>(e.location(), type, remaining);
}

/// One element of each of `values`; `physical` is the index in memory order of the first.
void emitElements(ElementBuilder &e, ArrayRef<Value> values, ArrayRef<Buffer> outputs,
                  ArrayRef<Index> physical) {
  const Buffer &first = outputs.front();
  if (first.shape.empty())
    physical = {}; // rank 0 is one element
  SmallVector<Index> index = logicalIndex(e.space(), first.layout, physical);
  e.setChannelLanes(channelLanes(e, first, physical));
  for (auto [value, output] : llvm::zip(values, outputs))
    e.store(e.element(value, index), output, index);
}

/// Whether the second result may be stored in the loops over the first.
bool canShareLoops(const Buffer &first, const Buffer &second) {
  // The loops over a ragged last block run over lanes that only a block has room for.
  bool isRagged = first.layout.isBlocked() && first.shape[1] % first.layout.block != 0;
  return first.shape == second.shape && (first.layout == second.layout || !isRagged);
}

template <typename T>
SmallVector<T> select(ArrayRef<size_t> numbers, llvm::function_ref<T(size_t)> at) {
  return llvm::map_to_vector(numbers, at);
}

/// The loops over `box` that cost least; `emit` emits one vector of elements.
BoxLoops planBox(const IndexBox &box, MLIRContext *context, Location loc, const TargetDescription &target,
                 llvm::function_ref<void(ElementBuilder &, ArrayRef<Index>)> emit) {
  BoxLoops loops;
  loops.box = box;
  loops.nest.extents = box.extents;
  loops.nest.lanes = target.lanes();
  size_t bestCollapsed = 1;
  double least = 0;
  for (size_t collapsed : collapses(box.extents)) {
    VectorNest candidate = loops.nest;
    candidate.collapsed = collapsed;
    double cost = nestCost(context, loc, candidate, target, [&](ElementBuilder &e, ArrayRef<Index> physical) {
      emit(e, box.absolute(e.space(), physical));
    });
    if (collapsed == 1 || cost < least)
      least = cost, bestCollapsed = collapsed;
  }
  loops.nest.collapsed = bestCollapsed;
  loops.cost = least * static_cast<double>(box.elements());
  // The innermost loop that makes tasks large enough.
  loops.shared = loops.scalarAxes();
  loops.turns = loops.nest.vectors();
  int64_t elementsOfTurn = target.lanes();
  while (loops.shared > 0 && loops.turns * elementsOfTurn < taskElements) {
    elementsOfTurn *= loops.turns;
    loops.turns = box.extents[--loops.shared];
  }
  for (int64_t n : ArrayRef<int64_t>(box.extents).take_front(loops.shared))
    loops.outer *= n;
  loops.taskTurns =
      std::max<int64_t>(1, std::min(loops.turns, taskElements / std::max<int64_t>(elementsOfTurn, 1)));
  return loops;
}

ResultLoops planLoops(KernelBody &body, const KernelMemory &memory, ArrayRef<size_t> numbers,
                      const TargetDescription &target) {
  auto values = select<Value>(numbers, [&](size_t i) { return body.results()[i]; });
  const Buffer &output = memory.outputs[numbers.front()];
  MLIRContext *context = values.front().getContext();
  Location loc = values.front().getLoc();
  auto somewhere = [](Buffer buffer, Value unknown) {
    buffer.pointer = unknown;
    return buffer;
  };
  auto bindArguments = [&](ElementBuilder &e) {
    Value unknown = e.indexConstant(0); // code that is never lowered
    for (auto [value, buffer] : llvm::zip(body.arguments(), memory.arguments))
      e.bindBuffer(value, somewhere(buffer, unknown));
    return unknown;
  };
  auto emit = [&](ElementBuilder &e, ArrayRef<Index> physical) {
    Value unknown = bindArguments(e);
    auto targets = select<Buffer>(numbers, [&](size_t i) { return somewhere(memory.outputs[i], unknown); });
    emitElements(e, values, targets, physical);
  };
  auto probe = [&](ElementBuilder &e, ArrayRef<Index> physical) {
    bindArguments(e);
    for (Value value : values)
      e.element(value, output.shape.empty() ? SmallVector<Index>()
                                            : logicalIndex(e.space(), output.layout, physical));
  };
  SmallVector<int64_t> extents = output.layout.physicalShape(output.shape);
  if (extents.empty())
    extents.push_back(1);
  ResultLoops loops;
  loops.results.assign(numbers.begin(), numbers.end());
  std::map<IndexBox, BoxLoops> planned;
  auto costOf = [&](const IndexBox &box) {
    return (planned[box] = planBox(box, context, loc, target, emit)).cost;
  };
  for (const IndexBox &box : cutWherePays(extents, findCuts(context, loc, extents, probe), costOf)) {
    loops.boxes.push_back(std::move(planned[box]));
    loops.cost += loops.boxes.back().cost;
  }
  return loops;
}

/// Loops for all results, as few as pay.
std::vector<ResultLoops> planAllLoops(KernelBody &body, const KernelMemory &memory,
                                      const TargetDescription &target) {
  std::vector<ResultLoops> all;
  for (size_t i = 0; i < body.results().size(); ++i) {
    ResultLoops alone = planLoops(body, memory, {i}, target);
    bool isShared = false;
    for (ResultLoops &loops : all) {
      if (!canShareLoops(memory.outputs[loops.results.front()], memory.outputs[i]))
        continue;
      SmallVector<size_t> numbers = loops.results;
      numbers.push_back(i);
      ResultLoops together = planLoops(body, memory, numbers, target);
      if (together.cost > loops.cost + alone.cost)
        continue;
      loops = std::move(together);
      isShared = true;
      break;
    }
    if (!isShared)
      all.push_back(std::move(alone));
  }
  return all;
}

void emitTask(KernelContext &k, ArrayRef<size_t> results, const BoxLoops &loops, Value task) {
  IndexSpace space;
  ElementBuilder e(k.builder, k.loc, space, k.lanes());
  k.bindArguments(e);
  auto outputs = select<Buffer>(results, [&](size_t i) { return k.outputs[i]; });
  auto values = select<Value>(results, [&](size_t i) { return k.body.results()[i]; });
  Index number = space.uniform(task, 0, loops.tasks() - 1);
  Index chunk = space.mod(number, loops.chunks());
  ArrayRef<int64_t> extents = loops.nest.extents;
  SmallVector<Index> outer =
      delinearize(space, space.floorDiv(number, loops.chunks()), extents.take_front(loops.shared));
  // One SSA value an axis, so that the division happens once a task.
  for (auto [index, extent] : llvm::zip(outer, extents))
    index = space.uniform(e.materialize(index), 0, extent - 1);
  Value from = e.materialize(space.scale(chunk, loops.taskTurns));
  Value to = k.builder.create<arith::AddIOp>(k.loc, from, e.indexConstant(loops.taskTurns));
  if (loops.turns % loops.taskTurns != 0)
    to = k.builder.create<arith::MinSIOp>(k.loc, to, e.indexConstant(loops.turns));
  auto emit = [&](ArrayRef<Index> inBox, ValueRange) {
    emitElements(e, values, outputs, loops.box.absolute(space, inBox));
    return SmallVector<Value>();
  };
  if (loops.shared == loops.scalarAxes())
    return emitVectors(e, loops.nest, outer, from, to, emit);
  VectorNest inside = loops.nest;
  inside.extents.erase(inside.extents.begin(),
                       inside.extents.begin() + static_cast<ptrdiff_t>(loops.shared) + 1);
  e.loop(from, to, {0, loops.turns - 1}, {}, [&](const Index &turn, ValueRange none) {
    SmallVector<Index> around(outer);
    around.push_back(turn);
    return emitNest(e, inside, none, [&](ArrayRef<Index> inner, ValueRange carried) {
      SmallVector<Index> inBox(around);
      llvm::append_range(inBox, inner);
      return emit(inBox, carried);
    });
  });
}

/// Numbers the tasks of all boxes; small boxes that follow each other have one in common. Returns how many
/// there are.
int64_t numberTasks(std::vector<ResultLoops> &all) {
  int64_t next = 0, elementsOfLast = taskElements;
  for (ResultLoops &loops : all)
    for (BoxLoops &box : loops.boxes) {
      const int64_t elements = box.box.elements();
      const bool joins = box.tasks() == 1 && elementsOfLast + elements <= taskElements;
      box.firstTask = joins ? next - 1 : next;
      elementsOfLast = box.tasks() == 1 ? elements + (joins ? elementsOfLast : 0) : taskElements;
      next = box.firstTask + box.tasks();
    }
  return next;
}

/// True if each heavy operator's element is asked for once a result element, at the result's own index.
bool reductionsStayInPlace(KernelBody &body, ArrayRef<Operation *> heavy) {
  if (heavy.empty())
    return true;
  auto isHeavy = [&](Value v) { return llvm::is_contained(heavy, v.getDefiningOp()); };
  for (Value result : body.results()) {
    if (isHeavy(result))
      continue;
    IndexProbe probe(result, isHeavy);
    for (const Access &access : probe.accesses())
      if (isHeavy(access.tensor) &&
          (tk::tensorType(access.tensor).getShape() != tk::tensorType(result).getShape() ||
           !probe.isIdentity(access.index)))
        return false;
  }
  // No heavy operator may feed another, nor be computed for two results.
  for (Operation *op : heavy) {
    IndexProbe probe(op->getResult(0), isHeavy);
    for (const Access &access : probe.accesses())
      if (isHeavy(access.tensor))
        return false;
  }
  return body.results().size() == 1;
}

/// True if a reduction runs along the axis that lies contiguous in memory: lanes belong there then.
bool reducesAcrossMemory(KernelBody &body, const KernelMemory &memory, ArrayRef<Operation *> heavy) {
  for (Operation *op : heavy) {
    if (cast<tk::FusionKindInterface>(op).getFusionKind() != FusionKind::Reduction)
      continue;
    IndexProbe probe(op->getResult(0), [](Value) { return false; });
    for (const Access &access : probe.accesses()) {
      auto it = llvm::find(body.arguments(), access.tensor);
      const Buffer &buffer = memory.arguments[static_cast<size_t>(it - body.arguments().begin())];
      auto shape = buffer.shape;
      size_t axis = buffer.layout.isBlocked() ? 1 : shape.size();
      while (!buffer.layout.isBlocked() && axis > 0 && shape[axis - 1] == 1)
        --axis;
      if (!buffer.layout.isBlocked() && axis-- == 0)
        continue;
      bool alongResult = false;
      for (size_t i = 0; i < probe.rank(); ++i)
        alongResult |= !probe.axis(i).isConstant() && access.index[axis] == probe.axis(i);
      if (!alongResult && shape[axis] > 1)
        return true;
    }
  }
  return false;
}

/// True if reductions combine lines of memory: rows do that for many neighbours at once.
bool combinesLines(KernelBody &body, const KernelMemory &memory, const TargetDescription &target,
                   ArrayRef<Operation *> heavy) {
  return !heavy.empty() && llvm::all_of(heavy, llvm::IsaPred<tk::ReduceOp>) &&
         planRows(body, memory, target).vectorsAtOnce > 1;
}

} // namespace

std::optional<KernelStrategy> planPointwiseKernel(KernelBody &body, const KernelMemory &memory,
                                                  const TargetDescription &target) {
  auto heavy = body.heavyOperators();
  if (!reductionsStayInPlace(body, heavy) || reducesAcrossMemory(body, memory, heavy) ||
      combinesLines(body, memory, target, heavy))
    return std::nullopt;
  KernelStrategy strategy;
  strategy.kind = heavy.empty() ? "pointwise" : "reduction";
  std::vector<ResultLoops> all = planAllLoops(body, memory, target);
  strategy.nests = static_cast<int64_t>(all.size());
  strategy.tasks = numberTasks(all);
  for (const ResultLoops &loops : all)
    strategy.accesses += loops.cost;
  strategy.emit = [all](KernelContext &k) {
    OpBuilder &b = k.builder;
    IndexSpace none;
    ElementBuilder loops(b, k.loc, none, 1);
    for (const ResultLoops &result : all)
      for (const BoxLoops &box : result.boxes) {
        if (box.tasks() == 0)
          continue;
        Value first = loops.indexConstant(box.firstTask),
              last = loops.indexConstant(box.firstTask + box.tasks());
        Value from = b.create<arith::MaxSIOp>(k.loc, k.begin, first),
              to = b.create<arith::MinSIOp>(k.loc, k.end, last);
        loops.loop(from, to, {box.firstTask, box.firstTask + box.tasks() - 1}, {},
                   [&](const Index &task, ValueRange) {
                     Value number = loops.materialize(none.sub(task, Index(box.firstTask)));
                     emitTask(k, result.results, box, number);
                     return SmallVector<Value>();
                   });
      }
  };
  return strategy;
}

} // namespace tokamak::codegen
