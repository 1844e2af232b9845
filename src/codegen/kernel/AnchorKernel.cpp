//===- AnchorKernel.cpp - convolutions and matrix products with their epilogue
//---------------------------===//
#include "codegen/anchors/Convolution.h"
#include "codegen/anchors/MatMul.h"
#include "codegen/kernel/IndexProbe.h"
#include "codegen/kernel/KernelContext.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tokamak::codegen {

using namespace mlir;

namespace {

/// The one convolution or matrix product of a group, if there is exactly one and no other heavy operator.
Operation *theAnchor(KernelBody &body) {
  auto heavy = body.heavyOperators();
  if (heavy.size() != 1 || !isa<tk::ConvOp, tk::ConvTransposeOp, tk::MatMulOp>(heavy[0]))
    return nullptr;
  return heavy[0];
}

/// The kernel argument whose memory holds `value` as it is: an argument, or a reshape of a row-major one.
std::optional<size_t> argumentOf(KernelBody &body, const KernelMemory &memory, Value value) {
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

/// Position p in the anchor's result is position p in the group's result, and the epilogue reads the anchor
/// there only.
bool epilogueStaysInPlace(KernelBody &body, Operation *anchor) {
  Value value = anchor->getResult(0);
  auto shape = tk::tensorType(value).getShape();
  for (Value result : body.results()) {
    if (result == value)
      continue;
    if (tk::tensorType(result).getNumElements() != tk::tensorType(value).getNumElements())
      return false;
    IndexProbe probe(result, [&](Value v) { return v == value; });
    SmallVector<Index> own;
    for (size_t i = 0; i < probe.rank(); ++i)
      own.push_back(probe.axis(i));
    Index position = linearize(probe.space(), own, tk::tensorType(result).getShape());
    for (const Access &access : probe.accesses())
      if (access.tensor == value && !(linearize(probe.space(), access.index, shape) == position))
        return false;
  }
  return true;
}

/// Where the anchor's plan needs what.
struct AnchorOperands {
  size_t input, weight;
  std::optional<Value> bias; ///< an operand of the convolution, in channels
  bool lanesInChannels;
};

void emitEpilogue(KernelContext &k, Operation *anchor, const AnchorOperands &operands, OpBuilder &builder,
                  Location loc, const AccumulatorPoint &point) {
  IndexSpace space;
  int64_t lanes = k.lanes();
  ElementBuilder e(builder, loc, space, lanes);
  k.bindArguments(e);
  auto shape = tk::tensorType(anchor->getResult(0)).getShape();
  SmallVector<Index> index;
  auto at = [&](const PointIndex &point, int64_t extent) {
    return space.add(space.uniform(point.base, 0, extent - 1 - point.offset), Index(point.offset));
  };
  for (const PointIndex &axis : point.before)
    index.push_back(at(axis, shape[index.size()]));
  int64_t vectorExtent = shape[index.size()], blocks = (vectorExtent + lanes - 1) / lanes;
  Index block = at(point.block, blocks);
  Index channel = space.add(space.scale(block, lanes), e.laneIndex());
  index.push_back(channel);
  for (const PointIndex &axis : point.after)
    index.push_back(at(axis, shape[index.size()]));
  if (point.validLanes < lanes) {
    SmallVector<bool> bits(static_cast<size_t>(lanes));
    std::fill_n(bits.begin(), point.validLanes, true);
    auto type = VectorType::get({lanes}, builder.getI1Type());
    e.setMask(builder.create<arith::ConstantOp>(loc, DenseElementsAttr::get(type, bits)));
  }
  Value accumulator = point.value;
  if (operands.bias)
    accumulator = builder.create<arith::AddFOp>(loc, accumulator, e.element(*operands.bias, {channel}));
  // The plan has shown that every request is for this very element.
  e.bindSource(anchor->getResult(0), [accumulator](ArrayRef<Index>) { return accumulator; });
  Index position = linearize(space, index, shape);
  for (auto [result, output] : llvm::zip(k.body.results(), k.outputs)) {
    auto resultShape = tk::tensorType(result).getShape();
    SmallVector<Index> own = resultShape == shape ? index : delinearize(space, position, resultShape);
    e.store(e.element(result, own), output, own);
  }
}

template <typename Plan>
KernelStrategy strategyFor(std::shared_ptr<Plan> plan, Operation *anchor, const AnchorOperands &operands,
                           std::string kind, bool packs) {
  KernelStrategy strategy;
  strategy.kind = std::move(kind);
  strategy.tasks = plan->taskCount();
  strategy.scratchBytes = plan->scratchBytes();
  strategy.packing.resize(std::max(operands.input, operands.weight) + 1);
  if (packs)
    strategy.packing[operands.weight] = [plan](const Tensor &weight) { return plan->pack(weight); };
  strategy.emit = [plan, anchor, operands](KernelContext &k) {
    plan->emit(k.builder, k.loc, k.arguments[operands.input].pointer, k.arguments[operands.weight].pointer,
               k.scratch, k.begin, k.end,
               [&](OpBuilder &builder, Location loc, const AccumulatorPoint &point) {
                 emitEpilogue(k, anchor, operands, builder, loc, point);
               });
  };
  return strategy;
}

/// The operand is used by the anchor alone, so that packing its memory disturbs nobody.
bool readOnlyBy(Value argument, Operation *anchor) {
  for (Operation *user : argument.getUsers())
    if (user != anchor && !(isa<tk::ReshapeOp>(user) && readOnlyBy(user->getResult(0), anchor)))
      return false;
  return !llvm::is_contained(anchor->getBlock()->getTerminator()->getOperands(), argument);
}

} // namespace

std::optional<KernelStrategy> planAnchorKernel(KernelBody &body, const KernelMemory &memory,
                                               const TargetDescription &target) {
  Operation *anchor = theAnchor(body);
  if (!anchor || !tk::tensorType(anchor->getResult(0)).getElementType().isF32() ||
      !epilogueStaysInPlace(body, anchor) || tk::tensorType(anchor->getResult(0)).getNumElements() == 0)
    return std::nullopt;
  auto input = argumentOf(body, memory, anchor->getOperand(0)),
       weight = argumentOf(body, memory, anchor->getOperand(1));
  if (!input || !weight || input == weight)
    return std::nullopt;
  AnchorOperands operands{*input, *weight, std::nullopt, true};
  Value weightValue = body.arguments()[*weight];
  bool constantWeight = memory.constantArgument[*weight] && readOnlyBy(weightValue, anchor);
  if (auto product = dyn_cast<tk::MatMulOp>(anchor)) {
    if (memory.arguments[*input].layout.isBlocked() || memory.arguments[*weight].layout.isBlocked())
      return std::nullopt;
    auto plan = MatMulPlan::create(product, constantWeight, target);
    if (!plan) {
      llvm::consumeError(plan.takeError());
      return std::nullopt;
    }
    std::shared_ptr<MatMulPlan> shared = std::move(*plan);
    bool packs = shared->packsRhs();
    return strategyFor(shared, anchor, operands, "matmul", packs);
  }
  if (!constantWeight)
    return std::nullopt;
  if (anchor->getNumOperands() > 2)
    operands.bias = anchor->getOperand(2);
  auto plan = ConvolutionPlan::create(anchor, memory.arguments[*input].layout, target);
  if (!plan) {
    llvm::consumeError(plan.takeError());
    return std::nullopt;
  }
  return strategyFor(std::shared_ptr<ConvolutionPlan>(std::move(*plan)), anchor, operands, "convolution",
                     true);
}

} // namespace tokamak::codegen
