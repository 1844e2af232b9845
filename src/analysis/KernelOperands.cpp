//===- KernelOperands.cpp - the memory that a kernel reads and writes ---------------------===//
#include "analysis/KernelOperands.h"
#include "analysis/Traffic.h"
#include "ir/Tk.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::analysis;

bool analysis::isWeight(Value buffer) {
  Operation *definition = buffer.getDefiningOp();
  return definition && definition->hasTrait<OpTrait::ConstantLike>();
}

namespace {

/// Reads by buffer, in order, with the operands that read it.
using Readers = llvm::MapVector<Value, llvm::SmallVector<OpOperand *>>;

KernelOperands collect(const Readers &readers, llvm::ArrayRef<Value> results) {
  KernelOperands operands;
  for (const auto &[buffer, uses] : readers)
    operands.reads.push_back({buffer, bytesReadThrough(buffer, uses)});
  for (Value result : results)
    operands.writes.push_back({result, tensorBytes(result)});
  return operands;
}

} // namespace

KernelOperands analysis::operandsOf(Operation *kernel) {
  Readers readers;
  auto group = llvm::dyn_cast<tk::FusionOp>(kernel);
  for (OpOperand &operand : kernel->getOpOperands()) {
    auto &uses = readers[bufferOf(operand.get())];
    if (!group) {
      uses.push_back(&operand);
      continue;
    }
    for (OpOperand &inner : group.getBody().getArgument(operand.getOperandNumber()).getUses())
      uses.push_back(&inner);
  }
  return collect(readers, llvm::SmallVector<Value>(kernel->getResults()));
}

KernelOperands analysis::operandsOf(llvm::ArrayRef<Operation *> members) {
  Readers readers;
  llvm::SmallVector<Value> results;
  llvm::SmallPtrSet<Operation *, 16> inside(members.begin(), members.end());
  for (Operation *op : members) {
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      Operation *definition = value.getDefiningOp();
      const bool isNumber = isWeight(value) && tk::tensorType(value).getNumElements() == 1;
      if (!isNumber && !(definition && inside.contains(definition)))
        readers[bufferOf(value)].push_back(&operand);
    }
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !inside.contains(user); }))
        results.push_back(result);
  }
  return collect(readers, results);
}
