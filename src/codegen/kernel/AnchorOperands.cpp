//===- AnchorOperands.cpp - what surrounds an anchor in its group -----------------------------------===//
#include "codegen/kernel/AnchorOperands.h"
#include "codegen/kernel/IndexProbe.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tokamak::codegen {

using namespace mlir;

/// The kernel argument whose memory holds `value` as it is: an argument, or a reshape of a row-major one.
static std::optional<size_t> argumentOf(const KernelMemory &memory, Value value) {
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

void atPoint(KernelContext &k, Operation *anchor, const AnchorOperands &operands, OpBuilder &builder,
             Location loc, const AccumulatorPoint &point,
             llvm::function_ref<void(ElementBuilder &, const PointPlace &)> use) {
  IndexSpace space;
  int64_t lanes = k.lanes();
  ElementBuilder e(builder, loc, space, lanes);
  k.bindArguments(e);
  auto shape = tk::tensorType(anchor->getResult(0)).getShape();
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
  if (point.validLanes < lanes) {
    SmallVector<bool> bits(static_cast<size_t>(lanes));
    std::fill_n(bits.begin(), point.validLanes, true);
    auto type = VectorType::get({lanes}, builder.getI1Type());
    e.setMask(builder.create<arith::ConstantOp>(loc, DenseElementsAttr::get(type, bits)));
  }
  Value accumulator = point.value;
  if (operands.bias)
    accumulator =
        builder.create<arith::AddFOp>(loc, accumulator, e.element(*operands.bias, {place.index[1]}));
  // The plan has shown that every request is for this very element.
  e.bindSource(anchor->getResult(0), [accumulator](ArrayRef<Index>) { return accumulator; });
  use(e, place);
}

void storeBehind(ElementBuilder &e, Value source, ArrayRef<Index> index, Value result, const Buffer &buffer) {
  auto behind = indexBehind(e.space(), source, index, result);
  if (!behind) {
    Index position = linearize(e.space(), index, tk::tensorType(source).getShape());
    behind = delinearize(e.space(), position, tk::tensorType(result).getShape());
  }
  e.store(e.element(result, *behind), buffer, *behind);
}

EpilogueFn epilogueInto(KernelContext &k, Operation *anchor, const AnchorOperands &operands,
                        SmallVector<Value> results, std::vector<Buffer> buffers) {
  return [=, &k](OpBuilder &builder, Location loc, const AccumulatorPoint &point) {
    atPoint(k, anchor, operands, builder, loc, point, [&](ElementBuilder &e, const PointPlace &place) {
      for (auto [result, buffer] : llvm::zip(results, buffers))
        storeBehind(e, anchor->getResult(0), place.index, result, buffer);
    });
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
