//===- AnchorOperands.cpp - what surrounds an anchor in its group -----------------------------------===//
#include "codegen/kernel/AnchorOperands.h"
#include "codegen/kernel/IndexProbe.h"
#include "codegen/kernel/TileStore.h"
#include "codegen/kernel/VectorLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tokamak::codegen {

using namespace mlir;

std::optional<size_t> argumentOf(const KernelMemory &memory, Value value) {
  bool reshaped = false;
  while (auto reshape = value.getDefiningOp<tk::ReshapeOp>()) {
    value = reshape.getInput();
    reshaped = true;
  }
  if (value.getDefiningOp())
    return std::nullopt;
  size_t number = cast<BlockArgument>(value).getArgNumber();
  if (reshaped && memory.arguments[number].layout.isBlocked())
    return std::nullopt;
  return number;
}

AnchorOperands operandsOf(const KernelMemory &memory, Operation *anchor) {
  AnchorOperands operands{argumentOf(memory, anchor->getOperand(0)), std::nullopt, std::nullopt};
  if (anchor->getNumOperands() > 1)
    operands.weight = argumentOf(memory, anchor->getOperand(1));
  if (!isa<tk::MatMulOp>(anchor) && anchor->getNumOperands() > 2)
    operands.bias = anchor->getOperand(2);
  return operands;
}

/// The operand is used by the anchor alone, so that packing its memory disturbs nobody.
static bool readOnlyBy(Value argument, Operation *anchor) {
  for (Operation *user : argument.getUsers())
    if (user != anchor && !(isa<tk::ReshapeOp>(user) && readOnlyBy(user->getResult(0), anchor)))
      return false;
  return !llvm::is_contained(anchor->getBlock()->getTerminator()->getOperands(), argument);
}

bool mayPack(KernelBody &body, const KernelMemory &memory, std::optional<size_t> argument,
             Operation *anchor) {
  return argument && memory.constantArgument[*argument] && readOnlyBy(body.arguments()[*argument], anchor);
}

bool readInPlace(ValueRange values, Operation *anchor) {
  Value value = anchor->getResult(0);
  auto shape = tk::tensorType(value).getShape();
  for (Value result : values) {
    if (result == value)
      continue;
    if (tk::tensorType(result).getNumElements() != tk::tensorType(value).getNumElements())
      return false;
    IndexProbe probe(result, [&](Value v) { return v == value; });
    Index position = linearize(probe.space(), probe.ownIndex(), tk::tensorType(result).getShape());
    for (const Access &access : probe.accesses())
      if (access.tensor == value && !(linearize(probe.space(), access.index, shape) == position))
        return false;
  }
  return true;
}

std::optional<SmallVector<Index>> indexBehind(IndexSpace &space, Value from, ArrayRef<Index> index,
                                              Value to) {
  llvm::DenseSet<Value> deadEnds;
  std::function<std::optional<SmallVector<Index>>(Value)> at =
      [&](Value value) -> std::optional<SmallVector<Index>> {
    if (value == from)
      return SmallVector<Index>(index);
    Operation *op = value.getDefiningOp();
    if (!op || !deadEnds.insert(value).second)
      return std::nullopt;
    auto shape = tk::tensorType(value).getShape();
    for (Value operand : op->getOperands()) {
      auto before = at(operand);
      if (!before)
        continue;
      auto operandShape = tk::tensorType(operand).getShape();
      if (isa<tk::ReshapeOp>(op))
        return delinearize(space, linearize(space, *before, operandShape), shape);
      if (auto transpose = dyn_cast<tk::TransposeOp>(op)) {
        SmallVector<Index> moved;
        for (int64_t axis : transpose.getPermutation())
          moved.push_back((*before)[static_cast<size_t>(axis)]);
        return moved;
      }
      auto kind = dyn_cast<tk::FusionKindInterface>(op);
      if (kind && kind.getFusionKind() <= FusionKind::Broadcast && operandShape == shape)
        return before;
      return std::nullopt;
    }
    return std::nullopt;
  };
  return at(to);
}

bool keepsVectors(ValueRange values, Operation *anchor) {
  Value value = anchor->getResult(0);
  for (Value result : values) {
    if (tk::tensorType(result).getNumElements() != tk::tensorType(value).getNumElements())
      return false;
    IndexProbe probe(result, [&](Value v) { return v == value; });
    for (const Access &access : probe.accesses())
      if (access.tensor == value &&
          indexBehind(probe.space(), value, access.index, result) != SmallVector<Index>(probe.ownIndex()))
        return false;
    SmallVector<Index> vector(tk::tensorType(value).getRank(), Index(0));
    constexpr int64_t anyLanes = 2;
    if (tk::tensorType(value).getShape().back() >= anyLanes)
      vector.back() = probe.space().lane(anyLanes);
    auto place = indexBehind(probe.space(), value, vector, result);
    if (!place)
      return false;
    Index position = linearize(probe.space(), *place, tk::tensorType(result).getShape());
    if (!vector.back().isConstant() && probe.space().laneStride(position) != 1)
      return false;
  }
  return true;
}

Value pointerTo(const KernelContext &k, std::optional<size_t> argument) {
  return argument ? k.arguments[*argument].pointer : Value();
}

PointPlace placeOf(ElementBuilder &e, ArrayRef<int64_t> shape, const AccumulatorPoint &point) {
  IndexSpace &space = e.space();
  int64_t lanes = e.lanes();
  PointPlace place;
  auto at = [&](const PointIndex &point, int64_t extent) {
    return space.add(space.uniform(point.base, 0, extent - 1 - point.offset), Index(point.offset));
  };
  for (const PointIndex &axis : point.before)
    place.index.push_back(at(axis, shape[place.index.size()]));
  int64_t vectorExtent = shape[place.index.size()], blocks = (vectorExtent + lanes - 1) / lanes;
  place.block = at(point.block, blocks);
  place.index.push_back(space.add(space.scale(place.block, lanes), e.laneIndex()));
  for (const PointIndex &axis : point.after)
    place.index.push_back(at(axis, shape[place.index.size()]));
  return place;
}

void atPoint(KernelContext &k, Operation *anchor, const AnchorOperands &operands, OpBuilder &builder,
             Location loc, const AccumulatorPoint &point,
             llvm::function_ref<void(ElementBuilder &, const PointPlace &)> use) {
  IndexSpace space;
  ElementBuilder e(builder, loc, space, k.lanes());
  k.bindArguments(e);
  PointPlace place = placeOf(e, tk::tensorType(anchor->getResult(0)).getShape(), point);
  if (point.validLanes < k.lanes())
    e.setMask(firstLanes(e, point.validLanes));
  Value accumulator = point.value;
  if (operands.bias)
    accumulator =
        builder.create<arith::AddFOp>(loc, accumulator, e.element(*operands.bias, {place.index[1]}));
  // The plan has shown that every request is for this very element.
  e.bindSource(anchor->getResult(0), [accumulator](ArrayRef<Index>) { return accumulator; });
  use(e, place);
}

SmallVector<Index> indexInResult(IndexSpace &space, Value anchored, ArrayRef<Index> index, Value result) {
  if (auto behind = indexBehind(space, anchored, index, result))
    return *behind;
  Index position = linearize(space, index, tk::tensorType(anchored).getShape());
  return delinearize(space, position, tk::tensorType(result).getShape());
}

void storeBehind(ElementBuilder &e, Value source, ArrayRef<Index> index, Value result, const Buffer &buffer) {
  SmallVector<Index> own = indexInResult(e.space(), source, index, result);
  e.store(e.element(result, own), buffer, own);
}

EpilogueFn epilogueInto(KernelContext &k, Operation *anchor, const AnchorOperands &operands,
                        SmallVector<Value> results, std::vector<Buffer> buffers) {
  Value value = anchor->getResult(0);
  auto tile = std::make_shared<TileStore>(value, results, buffers, k.lanes());
  return [=, &k](OpBuilder &builder, Location loc, const AccumulatorPoint &point) {
    atPoint(k, anchor, operands, builder, loc, point, [&](ElementBuilder &e, const PointPlace &place) {
      for (auto [i, result] : llvm::enumerate(results)) {
        SmallVector<Index> own = indexInResult(e.space(), value, place.index, result);
        Value element = e.element(result, own);
        if (!tile->takes(e, point, i, element))
          e.store(element, buffers[i], own);
      }
    });
    if (point.endsTile)
      tile->storeAll(builder, loc);
  };
}

EpilogueFn epilogueFor(KernelContext &k, Operation *anchor, const AnchorOperands &operands) {
  return epilogueInto(k, anchor, operands, llvm::to_vector(k.body.results()), k.outputs);
}

double vectorsComputed(Value operand, double repeats, const TargetDescription &target) {
  return static_cast<double>(tk::tensorType(operand).getNumElements()) / static_cast<double>(target.lanes()) *
         repeats;
}

} // namespace tokamak::codegen
