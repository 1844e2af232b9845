//===- KernelEmitter.cpp - one group becomes one kernel
//----------------------------------------------------===//
#include "codegen/kernel/KernelEmitter.h"
#include "codegen/kernel/KernelContext.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tokamak::codegen {

using namespace mlir;

namespace {

/// Places, in a walk through `group`, of the operators in whose name the kernel stores to `fault`.
std::vector<size_t> reportingOperators(tk::FusionOp group, Value fault) {
  llvm::DenseSet<Location> locations;
  for (Operation *user : fault.getUsers())
    locations.insert(user->getLoc());
  std::vector<size_t> result;
  size_t place = 0;
  group.getBody().walk([&](Operation *op) {
    if (locations.contains(op->getLoc()))
      result.push_back(place);
    ++place;
  });
  return result;
}

} // namespace

llvm::Expected<EmittedKernel> emitKernel(tk::FusionOp group, const KernelSignature &signature,
                                         const TargetDescription &target, ModuleOp module,
                                         const std::string &symbol) {
  KernelBody body(group, [&](size_t result) { return signature.outputs[result].isBlocked(); });
  KernelMemory memory;
  for (size_t i = 0; i < body.arguments().size(); ++i) {
    bool isOperand = i < body.operandCount();
    memory.addArgument(body.arguments()[i], isOperand ? signature.inputs[i] : Layout(),
                       !isOperand || signature.constantInput[i]);
  }
  for (auto [result, type, layout] : llvm::zip(body.results(), group.getResultTypes(), signature.outputs))
    memory.addOutput(result, type, layout);

  auto strategy = planAnchorKernel(body, memory, target);
  const bool isAnchor = strategy.has_value();
  if (!strategy)
    strategy = planPointwiseKernel(body, memory, target);
  if (!strategy)
    strategy = planRowKernel(body, memory, target);

  OpBuilder builder(group.getContext());
  builder.setInsertionPointToEnd(module.getBody());
  Location loc = group.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext()), i64 = builder.getI64Type();
  auto function =
      builder.create<func::FuncOp>(loc, symbol, builder.getFunctionType({pointer, i64, i64, pointer}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  auto toIndex = [&](Value v) { return builder.create<arith::IndexCastOp>(loc, builder.getIndexType(), v); };
  KernelContext k{builder,
                  loc,
                  target,
                  body,
                  {},
                  {},
                  toIndex(function.getArgument(1)),
                  toIndex(function.getArgument(2)),
                  function.getArgument(3)};
  int32_t slot = 0;
  auto bind = [&](Buffer buffer) {
    Value address = builder.create<LLVM::GEPOp>(loc, pointer, pointer, function.getArgument(0),
                                                ArrayRef<LLVM::GEPArg>{slot++});
    buffer.pointer = builder.create<LLVM::LoadOp>(loc, pointer, address);
    return buffer;
  };
  for (Buffer buffer : memory.arguments) {
    // No result lies where an argument does. What does not depend on a loop, as a value for each row, then
    // leaves it. From the loops around an anchor's register tiles it must not, which need all registers.
    buffer.staysAsIs = !isAnchor;
    k.arguments.push_back(bind(buffer));
  }
  for (const Buffer &buffer : memory.outputs)
    k.outputs.push_back(bind(buffer));
  k.fault = bind({}).pointer;
  strategy->emit(k);
  builder.setInsertionPointToEnd(&function.getBody().back());
  builder.create<func::ReturnOp>(loc);

  EmittedKernel result;
  result.reportsIndices = !k.fault.use_empty();
  result.reporting = reportingOperators(group, k.fault);
  if (!result.reportsIndices)
    k.fault.getDefiningOp()->erase();
  result.symbol = symbol;
  result.kind = strategy->kind;
  result.tasks = strategy->tasks;
  result.scratchBytes = strategy->scratchBytes;
  result.parallel = strategy->tasks > 1 && body.isWorthSharing();
  result.constants.assign(body.constants().begin(), body.constants().end());
  result.packing = std::move(strategy->packing);
  result.packing.resize(body.arguments().size());
  for (size_t i = body.operandCount(); i < body.arguments().size(); ++i)
    if (result.packing[i])
      result.constants[i - body.operandCount()] =
          result.packing[i](result.constants[i - body.operandCount()]);
  return result;
}

} // namespace tokamak::codegen
