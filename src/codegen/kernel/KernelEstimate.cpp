//===- KernelEstimate.cpp - what kernel a group would become ----------------------------------------===//
#include "codegen/kernel/KernelEstimate.h"
#include "codegen/kernel/BandEstimate.h"
#include "codegen/kernel/ConvolutionChain.h"
#include "codegen/kernel/KernelContext.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tokamak::codegen {

using namespace mlir;

namespace {

KernelMemory memoryOf(KernelBody &body, tk::FusionOp group, llvm::function_ref<Layout(Value)> layoutOf) {
  KernelMemory memory;
  for (size_t i = 0; i < body.arguments().size(); ++i) {
    Operation *definition =
        i < body.operandCount() ? group.getInputs()[static_cast<unsigned>(i)].getDefiningOp() : nullptr;
    bool isConstant = i >= body.operandCount() || isa_and_nonnull<tk::ConstantOp>(definition);
    Value argument = body.arguments()[static_cast<unsigned>(i)];
    memory.addArgument(argument, isConstant ? Layout() : layoutOf(argument), isConstant);
  }
  for (auto [result, outside] : llvm::zip(body.results(), group.getResults()))
    memory.addOutput(result, outside.getType(), layoutOf(outside));
  return memory;
}

} // namespace

KernelEstimate estimateKernel(tk::FusionOp group, const TargetDescription &target) {
  // Accesses are counted on code that is emitted and thrown away.
  group.getContext()
      ->loadDialect<arith::ArithDialect, LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect,
                    vector::VectorDialect>();
  KernelBody body(group);
  auto rowMajor = [](Value) { return Layout(); };
  auto blocked = [&](Value value) { return blockedWherePossible(value, target.lanes()); };
  auto strategy = planAnchorKernel(body, memoryOf(body, group, blocked), target);
  KernelMemory memory = memoryOf(body, group, rowMajor);
  if (!strategy)
    strategy = planAnchorKernel(body, memory, target);
  if (!strategy)
    strategy = planPointwiseKernel(body, memory, target);
  if (!strategy)
    strategy = planRowKernel(body, memory, target);
  KernelEstimate estimate;
  estimate.kind = strategy->kind;
  estimate.tasks = strategy->tasks;
  estimate.scratchBytes = strategy->scratchBytes;
  estimate.nests = strategy->nests;
  estimate.accesses = strategy->accesses;
  estimate.computesInput = strategy->computesInput;
  estimate.repeats = strategy->repeats;
  estimate.anchors = strategy->anchors;
  return estimate;
}

std::optional<int64_t> bandRowsOf(tk::FusionOp group, const TargetDescription &target) {
  KernelBody body(group);
  auto rows = bandRowsOf(
      body, memoryOf(body, group, [&](Value value) { return blockedWherePossible(value, target.lanes()); }),
      target);
  return rows ? rows : bandRowsOf(body, memoryOf(body, group, [](Value) { return Layout(); }), target);
}

} // namespace tokamak::codegen
