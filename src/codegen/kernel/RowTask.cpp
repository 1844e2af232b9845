//===- RowTask.cpp - one task of a row kernel: its rows, its scratch, loops inside a row ------------===//
#include "codegen/kernel/RowTask.h"
#include "codegen/expression/ElementType.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tokamak::codegen {

using namespace mlir;

int64_t rowsOfLastVector(const RowPlan &plan, int64_t lanes) {
  if (plan.isTransposed)
    return plan.rows() % lanes;
  // Several vectors at once: their loop ends in one of its own.
  return plan.laneClass && plan.vectorsAtOnce == 1 ? plan.classes->extent(*plan.laneClass) % lanes : 0;
}

RowTask::RowTask(KernelContext &kernel, const RowPlan &plan, Value number, RowVectors vectors)
    : k(kernel), plan(plan), e(k.builder, k.loc, space, 1), vectors(vectors) {
  k.bindArguments(e);
  if (plan.isTransposed) {
    bindBlock(space.uniform(number, 0, plan.tasks(k.lanes()) - 1));
    return;
  }
  SmallVector<int64_t> extents;
  for (auto id : plan.outer)
    extents.push_back(plan.extentOf(id, k.lanes()));
  auto indices = delinearize(space, space.uniform(number, 0, plan.tasks(k.lanes()) - 1), extents);
  if (plan.laneClass)
    e.setLanes(k.lanes());
  for (auto [id, index, extent] : llvm::zip(plan.outer, indices, extents))
    rows.push_back(space.uniform(e.materialize(index), 0, extent - 1));
  if (plan.laneClass)
    bindColumns();
}

/// Row block * lanes + lane in each lane.
void RowTask::bindBlock(const Index &block) {
  SmallVector<int64_t> extents;
  for (auto id : plan.outer)
    extents.push_back(plan.classes->extent(id));
  e.setLanes(k.lanes());
  Index first = space.scale(block, k.lanes());
  rows = delinearize(space, space.add(first, e.laneIndex()), extents);
  const int64_t all = plan.rows();
  rowsLeft = maskRows(space.sub(Index(all), first));
  for (int64_t lane = 0; lane < k.lanes(); ++lane) {
    Index row = space.add(first, Index(lane));
    if (rowsLeft)
      row = space.uniform(
          k.builder.create<arith::MinSIOp>(k.loc, e.materialize(row), e.indexConstant(all - 1)), 0, all - 1);
    laneRows.push_back(delinearize(space, row, extents));
  }
}

/// Which elements along the lane class are the task's. Of one vector, those beyond the extent go under a
/// mask.
void RowTask::bindColumns() {
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
  maskRows(space.sub(Index(columns.innerExtent()), firstColumn));
}

Value RowTask::maskRows(const Index &remaining) {
  const int64_t last = rowsOfLastVector(plan, k.lanes());
  if (last == 0 || vectors == RowVectors::whole)
    return nullptr;
  if (vectors == RowVectors::last) {
    e.setMask(firstLanes(e, last));
    return e.indexConstant(last);
  }
  Value count = e.materialize(remaining);
  auto type = VectorType::get({k.lanes()}, k.builder.getI1Type());
  e.setMask(k.builder.create<vector::CreateMaskOp>(k.loc, type, count));
  return count;
}

void RowTask::forVectors(function_ref<void()> body) {
  if (plan.vectorsAtOnce == 1)
    return body();
  emitVectors(e, columns, {}, firstVector, lastVector, [&](ArrayRef<Index> column, ValueRange) {
    rows[laneAxis] = column.front();
    body();
    return SmallVector<Value>();
  });
}

Buffer RowTask::scratch(const KeptValue &kept) {
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

void RowTask::forScalars(ArrayRef<int64_t> extents, function_ref<void(ArrayRef<Index>)> body) {
  SmallVector<Index> indices;
  std::function<void()> level = [&] {
    if (indices.size() == extents.size()) {
      body(indices);
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

void RowTask::forElements(Value value, function_ref<void(ArrayRef<Index>)> body) {
  forScalars(plan.innerExtents(value), [&](ArrayRef<Index> inner) { body(rowIndex(value, inner)); });
}

void RowTask::storeWhole(Value value, const Buffer &memory, ArrayRef<Index> index) {
  Value mask = e.mask();
  e.setMask(nullptr);
  e.store(value, memory, index);
  e.setMask(mask);
}

void RowTask::chooseCollapse(VectorNest &nest, const Probe &emit) {
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

double RowTask::probeCost(const VectorNest &nest, const Probe &emit) {
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

} // namespace tokamak::codegen
