//===- VectorLoops.cpp - loops over index spaces, the innermost by vectors ---------------------------===//
#include "codegen/kernel/VectorLoops.h"
#include "codegen/kernel/ExpressionCost.h"
#include "codegen/kernel/ScratchFunction.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tokamak::codegen {

using namespace mlir;

int64_t VectorNest::innerExtent() const {
  int64_t extent = 1;
  for (int64_t n : ArrayRef<int64_t>(extents).take_back(collapsed))
    extent *= n;
  return extent;
}

Value firstLanes(ElementBuilder &e, int64_t valid) {
  SmallVector<bool> bits(static_cast<size_t>(e.lanes()));
  std::fill_n(bits.begin(), valid, true);
  auto type = VectorType::get({e.lanes()}, e.builder().getI1Type());
  return e.builder().create<arith::ConstantOp>(e.location(), DenseElementsAttr::get(type, bits));
}

namespace {

/// The indices of one vector that starts at position `first * lanes` of the collapsed axes.
SmallVector<Index> indicesAt(ElementBuilder &e, const VectorNest &nest, ArrayRef<Index> outer,
                             const Index &vector) {
  SmallVector<Index> indices(outer);
  Index position = e.space().add(e.space().scale(vector, e.lanes()), e.laneIndex());
  llvm::append_range(
      indices, delinearize(e.space(), position, ArrayRef<int64_t>(nest.extents).take_back(nest.collapsed)));
  return indices;
}

SmallVector<Value> tail(ElementBuilder &e, const VectorNest &nest, ArrayRef<Index> outer, ValueRange carried,
                        const NestBody &body) {
  ElementBuilder::Scope scope(e);
  Value saved = e.mask();
  e.setMask(e.andMask(saved, firstLanes(e, nest.innerExtent() % nest.lanes)));
  auto result = body(indicesAt(e, nest, outer, Index(nest.innerExtent() / nest.lanes)), carried);
  e.setMask(saved);
  return result;
}

} // namespace

SmallVector<Value> emitNest(ElementBuilder &e, const VectorNest &nest, ValueRange init,
                            const NestBody &body) {
  e.setLanes(nest.lanes);
  size_t scalarAxes = nest.extents.size() - nest.collapsed;
  SmallVector<Index> outer;
  std::function<SmallVector<Value>(ValueRange)> level = [&](ValueRange carried) -> SmallVector<Value> {
    if (outer.size() < scalarAxes) {
      return e.loop(nest.extents[outer.size()], carried, [&](const Index &i, ValueRange inner) {
        outer.push_back(i);
        auto result = level(inner);
        outer.pop_back();
        return result;
      });
    }
    SmallVector<Value> values(carried);
    if (int64_t full = nest.innerExtent() / nest.lanes)
      values = e.loop(full, values, [&](const Index &v, ValueRange inner) {
        return body(indicesAt(e, nest, outer, v), inner);
      });
    if (nest.innerExtent() % nest.lanes)
      values = tail(e, nest, outer, values, body);
    return values;
  };
  if (llvm::is_contained(nest.extents, 0))
    return SmallVector<Value>(init);
  return level(init);
}

void emitVectors(ElementBuilder &e, const VectorNest &nest, ArrayRef<Index> outer, Value from, Value to,
                 const NestBody &body) {
  e.setLanes(nest.lanes);
  OpBuilder &b = e.builder();
  Location loc = e.location();
  int64_t full = nest.innerExtent() / nest.lanes;
  bool ragged = nest.innerExtent() % nest.lanes != 0;
  if (full > 0) {
    Value last = ragged ? b.create<arith::MinSIOp>(loc, to, e.indexConstant(full)) : to;
    e.loop(from, last, {0, full - 1}, {},
           [&](const Index &v, ValueRange none) { return body(indicesAt(e, nest, outer, v), none); });
  }
  if (!ragged)
    return;
  if (full == 0) {
    tail(e, nest, outer, {}, body);
    return;
  }
  Value isLast = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sgt, to, e.indexConstant(full));
  auto branch = b.create<scf::IfOp>(loc, isLast, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  tail(e, nest, outer, {}, body);
}

double nestCost(MLIRContext *context, Location loc, const VectorNest &nest, const TargetDescription &target,
                const std::function<void(ElementBuilder &, ArrayRef<Index>)> &emit, IndexSpace *given) {
  context->loadDialect<arith::ArithDialect, math::MathDialect>();
  ScratchFunction scratch(context, loc);
  IndexSpace own;
  IndexSpace &space = given ? *given : own;
  ElementBuilder e(scratch.builder, loc, space, nest.lanes);
  Value unknown = e.indexConstant(0);
  // Not a constant, so that what is computed from it can be told from what is not.
  Value vector =
      scratch.builder.create<UnrealizedConversionCastOp>(loc, scratch.builder.getIndexType(), ValueRange())
          .getResult(0);
  SmallVector<Index> outer;
  for (int64_t extent : ArrayRef<int64_t>(nest.extents).drop_back(nest.collapsed))
    outer.push_back(space.uniform(unknown, 0, std::max<int64_t>(extent - 1, 0)));
  int64_t vectors = nest.vectors();
  emit(e, indicesAt(e, nest, outer, space.uniform(vector, 0, std::max<int64_t>(vectors - 1, 0))));
  auto [regular, irregular] = e.accessCounts();
  auto lanes = static_cast<double>(nest.lanes);
  double perVector = 1.0 + static_cast<double>(regular) + lanes * static_cast<double>(irregular);
  // A new row costs about as much as a vector: indices are worked out again.
  double perRow = nest.extents.size() > nest.collapsed ? 2.0 : 0.0;
  llvm::SetVector<Operation *> varying;
  getForwardSlice(vector, &varying);
  scratch.module->walk([&](Operation *emitted) {
    (varying.contains(emitted) ? perVector : perRow) += arithmeticCycles(emitted, target);
  });
  return (perVector * static_cast<double>(vectors) + perRow) /
         static_cast<double>(std::max<int64_t>(nest.innerExtent(), 1));
}

} // namespace tokamak::codegen
