//===- AnchorKernel.cpp - convolutions and matrix products with their epilogue
//---------------------------===//
#include "codegen/anchors/Convolution.h"
#include "codegen/anchors/MatMul.h"
#include "codegen/kernel/IndexProbe.h"
#include "codegen/kernel/KernelContext.h"
#include "codegen/kernel/Prologue.h"
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

/// Where the anchor's plan finds its operands.
struct AnchorOperands {
  std::optional<size_t> input, weight; ///< kernel arguments; nothing: computed task by task
  std::optional<Value> bias;           ///< an operand of the convolution, in channels
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

Value pointerTo(KernelContext &k, std::optional<size_t> argument) {
  return argument ? k.arguments[*argument].pointer : Value();
}

EpilogueFn epilogueFor(KernelContext &k, Operation *anchor, const AnchorOperands &operands) {
  return [&k, anchor, &operands](OpBuilder &builder, Location loc, const AccumulatorPoint &point) {
    emitEpilogue(k, anchor, operands, builder, loc, point);
  };
}

template <typename Plan>
KernelStrategy strategyFor(std::shared_ptr<Plan> plan, const AnchorOperands &operands, std::string kind,
                           bool packs) {
  KernelStrategy strategy;
  strategy.kind = std::move(kind);
  strategy.tasks = plan->taskCount();
  strategy.scratchBytes = plan->scratchBytes();
  if (packs) {
    strategy.packing.resize(*operands.weight + 1);
    strategy.packing[*operands.weight] = [plan](const Tensor &weight) { return plan->pack(weight); };
  }
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

/// How many vectors of an operand are computed in all tasks.
static double vectorsComputed(Value operand, double repeats, const TargetDescription &target) {
  return static_cast<double>(tk::tensorType(operand).getNumElements()) / static_cast<double>(target.lanes()) *
         repeats;
}

/// The plan of a matrix product. An operand that does not lie in memory as the plan reads it is computed.
static std::optional<KernelStrategy> planMatMul(KernelBody &body, tk::MatMulOp product,
                                                AnchorOperands operands, const KernelMemory &memory,
                                                bool constantWeight, const TargetDescription &target) {
  for (auto *operand : {&operands.input, &operands.weight})
    if (*operand && memory.arguments[**operand].layout.isBlocked())
      operand->reset();
  MatMulInputs computed{!operands.input, !operands.weight};
  auto plan = MatMulPlan::create(product, constantWeight, computed, target);
  if (!plan) {
    llvm::consumeError(plan.takeError());
    return std::nullopt;
  }
  std::shared_ptr<MatMulPlan> shared = std::move(*plan);
  KernelStrategy strategy = strategyFor(shared, operands, "matmul", shared->packsRhs());
  strategy.repeats =
      std::max(computed.lhs ? shared->lhsRepeats() : 1, computed.rhs ? shared->rhsRepeats() : 1);
  MatrixInput lhs, rhs;
  if (computed.lhs) {
    lhs = planMatrixInput(body, memory, product.getLhs(), product.getTransposeLhs(), /*isWhole=*/false,
                          target.lanes());
    strategy.accesses += lhs.loads * vectorsComputed(lhs.operand, shared->lhsRepeats(), target);
  }
  if (computed.rhs) {
    rhs = planMatrixInput(body, memory, product.getRhs(), product.getTransposeRhs(), /*isWhole=*/true,
                          target.lanes());
    strategy.accesses += rhs.loads * vectorsComputed(rhs.operand, shared->rhsRepeats(), target);
  }
  strategy.emit = [shared, product, operands, lhs, rhs](KernelContext &k) {
    MatMulInputFns compute;
    if (lhs.operand)
      compute.lhs = computeMatrix(k, lhs);
    if (rhs.operand)
      compute.rhs = computeMatrix(k, rhs);
    shared->emit(k.builder, k.loc, pointerTo(k, operands.input), pointerTo(k, operands.weight), k.scratch,
                 k.begin, k.end, epilogueFor(k, product, operands), compute);
  };
  return strategy;
}

static std::optional<KernelStrategy> planConvolution(KernelBody &body, Operation *anchor,
                                                     AnchorOperands operands, const KernelMemory &memory,
                                                     const TargetDescription &target) {
  if (anchor->getNumOperands() > 2)
    operands.bias = anchor->getOperand(2);
  std::optional<Layout> layout;
  if (operands.input)
    layout = memory.arguments[*operands.input].layout;
  auto plan = ConvolutionPlan::create(anchor, layout, target);
  if (!plan) {
    llvm::consumeError(plan.takeError());
    return std::nullopt;
  }
  std::shared_ptr<ConvolutionPlan> shared = std::move(*plan);
  KernelStrategy strategy = strategyFor(shared, operands, "convolution", true);
  strategy.repeats = shared->inputRepeats();
  if (!operands.input)
    strategy.accesses = vectorsComputed(anchor->getOperand(0), strategy.repeats, target) *
                        loadsOfVector(body, memory, anchor->getOperand(0), 1, target.lanes());
  strategy.emit = [shared, anchor, operands](KernelContext &k) {
    ConvolutionInputFn compute;
    if (!operands.input)
      compute = computeConvolutionInput(k, anchor->getOperand(0));
    shared->emit(k.builder, k.loc, pointerTo(k, operands.input), pointerTo(k, operands.weight), k.scratch,
                 k.begin, k.end, epilogueFor(k, anchor, operands), compute);
  };
  return strategy;
}

std::optional<KernelStrategy> planAnchorKernel(KernelBody &body, const KernelMemory &memory,
                                               const TargetDescription &target) {
  Operation *anchor = theAnchor(body);
  if (!anchor || !tk::tensorType(anchor->getResult(0)).getElementType().isF32() ||
      !epilogueStaysInPlace(body, anchor) || tk::tensorType(anchor->getResult(0)).getNumElements() == 0)
    return std::nullopt;
  AnchorOperands operands{argumentOf(body, memory, anchor->getOperand(0)),
                          argumentOf(body, memory, anchor->getOperand(1)), std::nullopt};
  if (operands.input && operands.input == operands.weight)
    return std::nullopt;
  bool constantWeight = operands.weight && memory.constantArgument[*operands.weight] &&
                        readOnlyBy(body.arguments()[*operands.weight], anchor);
  if (auto product = dyn_cast<tk::MatMulOp>(anchor))
    return planMatMul(body, product, operands, memory, constantWeight, target);
  if (!constantWeight)
    return std::nullopt;
  return planConvolution(body, anchor, operands, memory, target);
}

} // namespace tokamak::codegen
