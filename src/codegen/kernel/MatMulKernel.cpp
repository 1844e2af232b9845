//===- MatMulKernel.cpp - matrix products with prologue and epilogue --------------------------------===//
#include "codegen/kernel/MatMulKernel.h"
#include "codegen/anchors/LoopBuilder.h"
#include "codegen/kernel/OperandProduct.h"
#include "codegen/kernel/StreamedProducts.h"

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
  if (hasHeavySource(body, memory, product.getRhs()))
    return std::nullopt;
  const bool isChain = hasHeavySource(body, memory, product.getLhs());
  MatMulInputs computed{!operands.input, !operands.weight, isChain, !memory.computed.empty(), rows};
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
  anchors.push_back({1, 1, plan->rhsRepeats(), plan->rhsRepeats()});
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

void ProductPlan::emit(KernelContext &k, Value scratch, const EpilogueFn &epilogue,
                       const std::function<void(ArrayRef<RegionAxis>)> &prepare) const {
  MatMulInputFns compute = inputs(k, scratch);
  if (prepare)
    compute.lhs = [prepare, rows = compute.lhs](OpBuilder &builder, Location loc,
                                                const MatrixRegion &region) {
      prepare(region.batch);
      rows(builder, loc, region);
    };
  plan->emit(k.builder, k.loc, pointerTo(k, operands.input), pointerTo(k, operands.weight), scratch, k.begin,
             k.end, epilogue, compute);
}

void ProductPlan::emitBand(KernelContext &k, Value scratch, const MatMulBand &band,
                           const EpilogueFn &epilogue) const {
  plan->emitBand(k.builder, k.loc, pointerTo(k, operands.input), pointerTo(k, operands.weight), scratch, band,
                 epilogue, inputs(k, scratch));
}

static KernelStrategy strategyOf(const std::shared_ptr<ProductPlan> &plan) {
  KernelStrategy strategy;
  strategy.kind = "matmul";
  strategy.tasks = plan->plan->taskCount();
  strategy.scratchBytes = plan->scratchBytes();
  strategy.repeats = plan->repeats;
  strategy.accesses = plan->accesses;
  plan->addPacking(strategy.packing);
  if (plan->isChain())
    plan->addAnchors(strategy.anchors);
  return strategy;
}

/// The operands of `product` and of those that compute its left one which another product computes, matrix by
/// matrix.
static std::vector<OperandProduct> operandProducts(KernelBody &body, tk::MatMulOp product,
                                                   const KernelMemory &memory,
                                                   const TargetDescription &target) {
  std::vector<OperandProduct> result;
  auto batch = product.getType().getShape().drop_back(2);
  auto sources = sourcesOf(product.getResult());
  for (Operation *op : body.heavyOperators()) {
    auto reader = dyn_cast<tk::MatMulOp>(op);
    if (!reader || !sources.contains(op) || reader.getType().getShape().drop_back(2) != batch)
      continue;
    for (Value operand : {reader.getLhs(), reader.getRhs()}) {
      auto known = [&](const OperandProduct &other) { return other.value() == operand; };
      if (llvm::none_of(result, known))
        if (auto created = OperandProduct::create(body, memory, operand, batch, target))
          result.push_back(std::move(*created));
    }
  }
  // Operands of one source share its weights, which are cut one way.
  for (const OperandProduct &a : result)
    for (const OperandProduct &b : result)
      if (a.source() == b.source() && a.columnsOfMatrix() != b.columnsOfMatrix())
        return {};
  return result;
}

/// Each task has whole rows of what the product reads.
static std::optional<KernelStrategy> planWholeRows(KernelBody &body, tk::MatMulOp product,
                                                   const KernelMemory &memory,
                                                   const TargetDescription &target) {
  // Rows that do not fit the second level are better off in memory, where nobody waits for them.
  auto fits = [&](const ProductPlan &plan, int64_t more) {
    return !plan.isChain() || plan.scratchBytes() + more <= target.l2Bytes;
  };
  if (auto plan = ProductPlan::create(body, product, memory, std::nullopt, target)) {
    if (!fits(*plan, 0))
      return std::nullopt;
    auto shared = std::make_shared<ProductPlan>(std::move(*plan));
    KernelStrategy strategy = strategyOf(shared);
    strategy.emit = [shared](KernelContext &k) {
      shared->emit(k, k.scratch, epilogueFor(k, shared->product, {}));
    };
    return strategy;
  }
  auto operands =
      std::make_shared<std::vector<OperandProduct>>(operandProducts(body, product, memory, target));
  KernelMemory prepared = memory;
  int64_t bytes = 0;
  for (const OperandProduct &operand : *operands) {
    prepared.computed.emplace_back(operand.value(), operand.buffer());
    bytes += operand.scratchBytes();
  }
  if (operands->empty())
    return std::nullopt;
  auto plan = ProductPlan::create(body, product, prepared, std::nullopt, target);
  if (!plan || !plan->isChain() || !fits(*plan, bytes))
    return std::nullopt;
  auto shared = std::make_shared<ProductPlan>(std::move(*plan));
  KernelStrategy strategy = strategyOf(shared);
  strategy.scratchBytes += bytes;
  llvm::SmallPtrSet<Operation *, 4> sources;
  for (const OperandProduct &operand : *operands) {
    operand.addPacking(strategy.packing);
    if (sources.insert(operand.source()).second)
      strategy.anchors.insert(strategy.anchors.begin(), ChainedAnchor{1, 1, operand.weightPasses()});
  }
  strategy.emit = [shared, operands](KernelContext &k) {
    LoopBuilder loops(k.builder, k.loc, k.lanes());
    int64_t place = 0; // in elements
    for (const OperandProduct &operand : *operands)
      place += operand.scratchBytes() / static_cast<int64_t>(sizeof(float));
    auto prepare = [&k, operands](ArrayRef<RegionAxis> batch) {
      LoopBuilder loops(k.builder, k.loc, k.lanes());
      int64_t place = 0;
      k.computed.clear();
      for (const OperandProduct &operand : *operands) {
        Buffer buffer = operand.emit(k, loops.at(k.scratch, place), batch);
        k.computed.emplace_back(operand.value(), buffer);
        place += operand.scratchBytes() / static_cast<int64_t>(sizeof(float));
      }
    };
    shared->emit(k, loops.at(k.scratch, place), epilogueFor(k, shared->product, {}), prepare);
  };
  return strategy;
}

std::optional<KernelStrategy> planMatMulKernel(KernelBody &body, tk::MatMulOp product,
                                               const KernelMemory &memory, const TargetDescription &target) {
  // Streaming was faster wherever both can be had, from 64 keys on: 1.06 times at 128 and 256, 1.3 at 8192.
  if (hasHeavySource(body, memory, product.getLhs())) {
    if (auto streamed = planStreamedProducts(body, product, memory, target))
      return std::move(*streamed);
    else
      llvm::consumeError(streamed.takeError());
  }
  return planWholeRows(body, product, memory, target);
}

} // namespace tokamak::codegen
