//===- MatMulKernel.cpp - matrix products with prologue and epilogue --------------------------------===//
#include "codegen/kernel/MatMulKernel.h"
#include "codegen/anchors/LoopBuilder.h"

namespace tokamak::codegen {

using namespace mlir;

std::optional<ProductPlan> ProductPlan::create(KernelBody &body, tk::MatMulOp product,
                                               const KernelMemory &memory,
                                               const std::optional<MatMulRows> &rows,
                                               const TargetDescription &target) {
  ProductPlan result;
  result.product = product;
  AnchorOperands &operands = result.operands = operandsOf(memory, product);
  if (operands.input && operands.input == operands.weight)
    return std::nullopt;
  const bool constantWeight = mayPack(body, memory, operands.weight, product);
  // What does not lie in memory as the plan reads it is computed.
  for (auto *operand : {&operands.input, &operands.weight})
    if (*operand && memory.arguments[**operand].layout.isBlocked())
      operand->reset();
  if (hasHeavySource(body, product.getRhs()))
    return std::nullopt;
  const bool isChain = hasHeavySource(body, product.getLhs());
  MatMulInputs computed{!operands.input, !operands.weight, isChain, rows};
  auto plan = MatMulPlan::create(product, constantWeight, computed, target);
  if (!plan) {
    llvm::consumeError(plan.takeError());
    return std::nullopt;
  }
  result.plan = std::move(*plan);
  const MatMulPlan &shared = *result.plan;
  result.repeats = std::max(computed.lhs ? shared.lhsRepeats() : 1, computed.rhs ? shared.rhsRepeats() : 1);
  if (isChain) {
    if (shared.lhsRepeats() > 1)
      return std::nullopt;
    result.chain = planMatrixChain(body, memory, product, shared.rows(), target);
    if (!result.chain)
      return std::nullopt;
    result.accesses += result.chain->accesses();
  } else if (computed.lhs) {
    result.lhs = planMatrixInput(body, memory, product.getLhs(), product.getTransposeLhs(), /*isWhole=*/false,
                                 target.lanes());
    result.accesses += result.lhs.loads * vectorsComputed(result.lhs.operand, shared.lhsRepeats(), target);
  }
  if (computed.rhs) {
    result.rhs = planMatrixInput(body, memory, product.getRhs(), product.getTransposeRhs(), /*isWhole=*/true,
                                 target.lanes());
    result.accesses += result.rhs.loads * vectorsComputed(result.rhs.operand, shared.rhsRepeats(), target);
  }
  return result;
}

int64_t ProductPlan::ownScratch() const {
  constexpr int64_t alignment = 64;
  return (plan->scratchBytes() + alignment - 1) / alignment * alignment;
}

int64_t ProductPlan::scratchBytes() const {
  return chain ? ownScratch() + chain->scratchBytes() : plan->scratchBytes();
}

void ProductPlan::addAnchors(std::vector<ChainedAnchor> &anchors) const {
  if (chain)
    chain->addAnchors(anchors);
  anchors.push_back({1, 1, plan->rhsRepeats()});
}

void ProductPlan::addPacking(std::vector<std::function<Tensor(const Tensor &)>> &packing) const {
  if (chain)
    chain->addPacking(packing);
  if (!plan->packsRhs())
    return;
  packing.resize(std::max(packing.size(), *operands.weight + 1));
  packing[*operands.weight] = [shared = plan](const Tensor &weight) { return shared->pack(weight); };
}

MatMulInputFns ProductPlan::inputs(KernelContext &k, Value scratch) const {
  MatMulInputFns compute;
  if (chain) {
    LoopBuilder loops(k.builder, k.loc, k.lanes());
    compute.lhs = chain->compute(k, loops.at(scratch, ownScratch() / static_cast<int64_t>(sizeof(float))));
  } else if (lhs.operand) {
    compute.lhs = computeMatrix(k, lhs);
  }
  if (rhs.operand)
    compute.rhs = computeMatrix(k, rhs);
  return compute;
}

void ProductPlan::emit(KernelContext &k, Value scratch, const EpilogueFn &epilogue) const {
  plan->emit(k.builder, k.loc, pointerTo(k, operands.input), pointerTo(k, operands.weight), scratch, k.begin,
             k.end, epilogue, inputs(k, scratch));
}

void ProductPlan::emitBand(KernelContext &k, Value scratch, const MatMulBand &band,
                           const EpilogueFn &epilogue) const {
  plan->emitBand(k.builder, k.loc, pointerTo(k, operands.input), pointerTo(k, operands.weight), scratch, band,
                 epilogue, inputs(k, scratch));
}

std::optional<KernelStrategy> planMatMulKernel(KernelBody &body, tk::MatMulOp product,
                                               const KernelMemory &memory, const TargetDescription &target) {
  auto created = ProductPlan::create(body, product, memory, std::nullopt, target);
  if (!created)
    return std::nullopt;
  auto shared = std::make_shared<ProductPlan>(std::move(*created));
  KernelStrategy strategy;
  strategy.kind = "matmul";
  strategy.tasks = shared->plan->taskCount();
  strategy.scratchBytes = shared->scratchBytes();
  strategy.repeats = shared->repeats;
  strategy.accesses = shared->accesses;
  shared->addPacking(strategy.packing);
  if (shared->isChain())
    shared->addAnchors(strategy.anchors);
  strategy.emit = [shared](KernelContext &k) {
    shared->emit(k, k.scratch, epilogueFor(k, shared->product, {}));
  };
  return strategy;
}

} // namespace tokamak::codegen
