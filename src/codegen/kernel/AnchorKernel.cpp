//===- AnchorKernel.cpp - convolutions and matrix products with their epilogue ----------------------===//
#include "codegen/anchors/Convolution.h"
#include "codegen/kernel/AnchorOperands.h"
#include "codegen/kernel/ConvolutionChain.h"
#include "codegen/kernel/JoinedProducts.h"
#include "codegen/kernel/MatMulKernel.h"
#include "codegen/kernel/Prologue.h"

namespace tokamak::codegen {

using namespace mlir;

namespace {

/// The convolution or matrix product of a group whose accumulators become the results, if there is no other
/// heavy operator, or all others feed it.
Operation *theAnchor(KernelBody &body) {
  auto heavy = body.heavyOperators();
  if (heavy.empty() || !isa<tk::ConvOp, tk::ConvTransposeOp, tk::MatMulOp>(heavy.back()))
    return nullptr;
  Operation *anchor = heavy.back();
  if (heavy.size() > 1)
    for (Value result : body.results()) {
      auto epilogue = sourcesOf(result, anchor->getResult(0));
      if (llvm::any_of(heavy, [&](Operation *op) { return epilogue.contains(op); }))
        return nullptr;
    }
  return anchor;
}

} // namespace

static std::optional<KernelStrategy> planConvolution(KernelBody &body, Operation *anchor,
                                                     const KernelMemory &memory,
                                                     const TargetDescription &target) {
  AnchorOperands operands = operandsOf(memory, anchor);
  if (operands.input == operands.weight || !mayPack(body, memory, operands.weight, anchor))
    return std::nullopt;
  std::optional<Layout> layout;
  if (operands.input)
    layout = memory.arguments[*operands.input].layout;
  auto plan = ConvolutionPlan::create(anchor, layout, target);
  if (!plan) {
    llvm::consumeError(plan.takeError());
    return std::nullopt;
  }
  std::shared_ptr<ConvolutionPlan> shared = std::move(*plan);
  KernelStrategy strategy;
  strategy.kind = "convolution";
  strategy.tasks = shared->taskCount();
  strategy.scratchBytes = shared->scratchBytes();
  strategy.packing.resize(*operands.weight + 1);
  strategy.packing[*operands.weight] = [shared](const Tensor &weight) { return shared->pack(weight); };
  strategy.computesInput = !operands.input;
  strategy.repeats = shared->inputRepeats();
  ConvolutionInput input;
  if (!operands.input) {
    input = planConvolutionInput(body, memory, anchor->getOperand(0), target.lanes());
    strategy.accesses = vectorsComputed(input.value, strategy.repeats, target) * input.loads;
  }
  strategy.emit = [shared, anchor, operands, input](KernelContext &k) {
    ConvolutionInputFn compute;
    if (!operands.input)
      compute = computeConvolutionInput(k, input);
    shared->emit(k.builder, k.loc, pointerTo(k, operands.input), pointerTo(k, operands.weight), k.scratch,
                 k.begin, k.end, epilogueFor(k, anchor, operands), compute);
  };
  return strategy;
}

/// A kernel whose results come out of the accumulators of one anchor; others feed it, if there are any.
static std::optional<KernelStrategy> planOneAnchor(KernelBody &body, const KernelMemory &memory,
                                                   const TargetDescription &target) {
  auto heavy = body.heavyOperators();
  if (heavy.size() > 1 && isa<tk::ConvOp, tk::ConvTransposeOp, tk::WindowOp>(heavy.back()))
    return planConvolutionChain(body, memory, target);
  Operation *anchor = theAnchor(body);
  if (!anchor || !tk::tensorType(anchor->getResult(0)).getElementType().isF32() ||
      tk::tensorType(anchor->getResult(0)).getNumElements() == 0)
    return std::nullopt;
  auto product = dyn_cast<tk::MatMulOp>(anchor);
  if (!readInPlace(body.results(), anchor) && !(product && keepsVectors(body.results(), anchor)))
    return std::nullopt;
  if (product)
    return planMatMulKernel(body, product, memory, target);
  return planConvolution(body, anchor, memory, target);
}

std::optional<KernelStrategy> planAnchorKernel(KernelBody &body, const KernelMemory &memory,
                                               const TargetDescription &target) {
  auto strategy = planOneAnchor(body, memory, target);
  return strategy ? std::move(strategy) : planJoinedProducts(body, memory, target);
}

} // namespace tokamak::codegen
