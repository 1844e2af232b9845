//===- PointwiseKernel.cpp - groups whose result elements are computed on their own --------------------===//
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

/// The loops over one result, or over several of one shape, so that what they share is computed once: the
/// memory order of the first, the innermost axes by vectors, the others split into tasks.
struct ResultLoops {
  SmallVector<size_t> results;
  VectorNest nest;    ///< extents in memory order
  double cost = 0;    ///< of one vector nest over all, as of nestCost
  int64_t outer = 1;  ///< product of the axes in front of the collapsed ones
  int64_t chunks = 1; ///< pieces of the collapsed axes
  int64_t chunkVectors = 1;
  int64_t tasks() const { return outer * chunks; }
};

/// Logical index from an index in memory order.
SmallVector<Index> logicalIndex(IndexSpace &space, const Buffer &output, ArrayRef<Index> physical) {
  if (!output.layout.isBlocked())
    return SmallVector<Index>(physical);
  SmallVector<Index> index(physical.drop_back());
  index[1] = space.add(space.scale(physical[1], output.layout.block), physical.back());
  return index;
}

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
  SmallVector<Index> index = logicalIndex(e.space(), first, physical);
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

ResultLoops planLoops(KernelBody &body, const KernelMemory &memory, ArrayRef<size_t> numbers,
                      const TargetDescription &target) {
  auto values = select<Value>(numbers, [&](size_t i) { return body.results()[i]; });
  const Buffer &output = memory.outputs[numbers.front()];
  ResultLoops loops;
  loops.results.assign(numbers.begin(), numbers.end());
  loops.nest.extents = output.layout.physicalShape(output.shape);
  if (loops.nest.extents.empty())
    loops.nest.extents.push_back(1);
  loops.nest.lanes = target.lanes();
  size_t bestCollapsed = 1;
  auto emit = [&](ElementBuilder &e, ArrayRef<Index> physical) {
    Value unknown = e.indexConstant(0); // code that is never lowered
    auto somewhere = [&](Buffer buffer) {
      buffer.pointer = unknown;
      return buffer;
    };
    for (auto [value, buffer] : llvm::zip(body.arguments(), memory.arguments))
      e.bindBuffer(value, somewhere(buffer));
    auto targets = select<Buffer>(numbers, [&](size_t i) { return somewhere(memory.outputs[i]); });
    emitElements(e, values, targets, physical);
  };
  for (size_t collapsed = 1; collapsed <= loops.nest.extents.size(); ++collapsed) {
    VectorNest candidate = loops.nest;
    candidate.collapsed = collapsed;
    double cost = nestCost(values.front().getContext(), values.front().getLoc(), candidate, target, emit);
    if (collapsed == 1 || cost < loops.cost)
      loops.cost = cost, bestCollapsed = collapsed;
  }
  loops.nest.collapsed = bestCollapsed;
  for (int64_t n : ArrayRef<int64_t>(loops.nest.extents).drop_back(bestCollapsed))
    loops.outer *= n;
  loops.chunkVectors = std::max<int64_t>(1, std::min(loops.nest.vectors(), taskElements / loops.nest.lanes));
  loops.chunks = (loops.nest.vectors() + loops.chunkVectors - 1) / loops.chunkVectors;
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

void emitTask(KernelContext &k, const ResultLoops &loops, Value task) {
  IndexSpace space;
  ElementBuilder e(k.builder, k.loc, space, k.lanes());
  k.bindArguments(e);
  auto outputs = select<Buffer>(loops.results, [&](size_t i) { return k.outputs[i]; });
  auto values = select<Value>(loops.results, [&](size_t i) { return k.body.results()[i]; });
  Index number = space.uniform(task, 0, loops.tasks() - 1);
  Index chunk = space.mod(number, loops.chunks);
  SmallVector<Index> outer =
      delinearize(space, space.floorDiv(number, loops.chunks),
                  ArrayRef<int64_t>(loops.nest.extents).drop_back(loops.nest.collapsed));
  // One SSA value an axis, so that the division happens once a task.
  for (auto [index, extent] : llvm::zip(outer, loops.nest.extents))
    index = space.uniform(e.materialize(index), 0, extent - 1);
  Value from = e.materialize(space.scale(chunk, loops.chunkVectors));
  Value to = k.builder.create<arith::AddIOp>(k.loc, from, e.indexConstant(loops.chunkVectors));
  if (loops.nest.vectors() % loops.chunkVectors != 0)
    to = k.builder.create<arith::MinSIOp>(k.loc, to, e.indexConstant(loops.nest.vectors()));
  emitVectors(e, loops.nest, outer, from, to, [&](ArrayRef<Index> physical, ValueRange) {
    emitElements(e, values, outputs, physical);
    return SmallVector<Value>();
  });
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
  for (const ResultLoops &loops : all) {
    strategy.tasks += loops.tasks();
    strategy.accesses += loops.cost * static_cast<double>(loops.outer * loops.nest.innerExtent());
  }
  strategy.emit = [all](KernelContext &k) {
    OpBuilder &b = k.builder;
    IndexSpace none;
    ElementBuilder loops(b, k.loc, none, 1);
    int64_t firstTask = 0;
    for (const ResultLoops &result : all) {
      // The tasks of these loops are [firstTask, firstTask + tasks).
      Value first = loops.indexConstant(firstTask), last = loops.indexConstant(firstTask + result.tasks());
      Value from = b.create<arith::MaxSIOp>(k.loc, k.begin, first),
            to = b.create<arith::MinSIOp>(k.loc, k.end, last);
      if (result.tasks() > 0)
        loops.loop(from, to, {firstTask, firstTask + result.tasks() - 1}, {},
                   [&](const Index &task, ValueRange) {
                     Value number = loops.materialize(none.sub(task, Index(firstTask)));
                     emitTask(k, result, number);
                     return SmallVector<Value>();
                   });
      firstTask += result.tasks();
    }
  };
  return strategy;
}

} // namespace tokamak::codegen
