//===- PointwiseKernel.cpp - groups whose result elements are computed on their own --------------------===//
#include "codegen/kernel/IndexProbe.h"
#include "codegen/kernel/KernelContext.h"
#include "codegen/kernel/VectorLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tokamak::codegen {

using namespace mlir;

namespace {

/// Elements a task should have at least, so that handing it out costs nothing beside it.
constexpr int64_t taskElements = 4096;

/// The loops over one result: its memory order, the innermost axes by vectors, the others split into tasks.
struct ResultLoops {
  size_t result = 0;
  VectorNest nest;    ///< extents in memory order
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

void emitElement(ElementBuilder &e, Value result, const Buffer &output, ArrayRef<Index> physical) {
  SmallVector<Index> index = logicalIndex(e.space(), output, physical);
  e.setChannelLanes(channelLanes(e, output, physical));
  e.store(e.element(result, index), output, index);
}

ResultLoops planLoops(KernelBody &body, const KernelMemory &memory, size_t number,
                      const TargetDescription &target) {
  Value result = body.results()[number];
  const Buffer &output = memory.outputs[number];
  ResultLoops loops;
  loops.result = number;
  loops.nest.extents = output.layout.physicalShape(output.shape);
  if (loops.nest.extents.empty())
    loops.nest.extents.push_back(1); // rank 0 is one element
  loops.nest.lanes = target.lanes();
  double best = 0;
  size_t bestCollapsed = 1;
  auto emit = [&](ElementBuilder &e, ArrayRef<Index> physical) {
    for (auto [value, buffer] : llvm::zip(body.arguments(), memory.arguments)) {
      Buffer unknown = buffer;
      unknown.pointer = e.indexConstant(0); // code that is never lowered
      e.bindBuffer(value, unknown);
    }
    Buffer target = output;
    target.pointer = e.indexConstant(0);
    emitElement(e, result, target, output.shape.empty() ? ArrayRef<Index>() : physical);
  };
  for (size_t collapsed = 1; collapsed <= loops.nest.extents.size(); ++collapsed) {
    VectorNest candidate = loops.nest;
    candidate.collapsed = collapsed;
    double cost = nestCost(result.getContext(), result.getLoc(), candidate, emit);
    if (collapsed == 1 || cost < best)
      best = cost, bestCollapsed = collapsed;
  }
  loops.nest.collapsed = bestCollapsed;
  for (int64_t n : ArrayRef<int64_t>(loops.nest.extents).drop_back(bestCollapsed))
    loops.outer *= n;
  loops.chunkVectors = std::max<int64_t>(1, std::min(loops.nest.vectors(), taskElements / loops.nest.lanes));
  loops.chunks = (loops.nest.vectors() + loops.chunkVectors - 1) / loops.chunkVectors;
  return loops;
}

void emitResult(KernelContext &k, const ResultLoops &loops, Value task) {
  IndexSpace space;
  ElementBuilder e(k.builder, k.loc, space, k.lanes());
  k.bindArguments(e);
  const Buffer &output = k.outputs[loops.result];
  Value result = k.body.results()[loops.result];
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
    emitElement(e, result, output, output.shape.empty() ? ArrayRef<Index>() : physical);
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

} // namespace

std::optional<KernelStrategy> planPointwiseKernel(KernelBody &body, const KernelMemory &memory,
                                                  const TargetDescription &target) {
  auto heavy = body.heavyOperators();
  if (!reductionsStayInPlace(body, heavy) || reducesAcrossMemory(body, memory, heavy))
    return std::nullopt;
  KernelStrategy strategy;
  strategy.kind = heavy.empty() ? "pointwise" : "reduction";
  std::vector<ResultLoops> all;
  for (size_t i = 0; i < body.results().size(); ++i) {
    all.push_back(planLoops(body, memory, i, target));
    strategy.tasks += all.back().tasks();
  }
  strategy.emit = [all](KernelContext &k) {
    OpBuilder &b = k.builder;
    IndexSpace none;
    ElementBuilder loops(b, k.loc, none, 1);
    int64_t firstTask = 0;
    for (const ResultLoops &result : all) {
      // This result's tasks are [firstTask, firstTask + tasks).
      Value first = loops.indexConstant(firstTask), last = loops.indexConstant(firstTask + result.tasks());
      Value from = b.create<arith::MaxSIOp>(k.loc, k.begin, first),
            to = b.create<arith::MinSIOp>(k.loc, k.end, last);
      if (result.tasks() > 0)
        loops.loop(from, to, {firstTask, firstTask + result.tasks() - 1}, {}, [&](Index task, ValueRange) {
          Value number = loops.materialize(none.sub(task, Index(firstTask)));
          emitResult(k, result, number);
          return SmallVector<Value>();
        });
      firstTask += result.tasks();
    }
  };
  return strategy;
}

} // namespace tokamak::codegen
