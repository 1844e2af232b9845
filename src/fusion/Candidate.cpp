//===- Candidate.cpp - operators as the group that they would be ------------------------------------===//
#include "fusion/Candidate.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::fusion;

Candidate::Candidate(llvm::ArrayRef<Operation *> members,
                     const llvm::SmallPtrSetImpl<Operation *> *internal) {
  Location loc = members.front()->getLoc();
  module = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  llvm::SmallPtrSet<Operation *, 16> inside(members.begin(), members.end());
  llvm::SetVector<Value> inputs, outputs, scalars;
  for (Operation *op : members) {
    for (Value operand : op->getOperands()) {
      Operation *definition = operand.getDefiningOp();
      if (isa_and_nonnull<tk::ConstantOp>(definition) && tk::tensorType(operand).getNumElements() == 1)
        scalars.insert(operand);
      else if (!inside.contains(definition))
        inputs.insert(operand);
    }
    if (internal && internal->contains(op))
      continue;
    for (Value result : op->getResults())
      if (result.use_empty() ||
          llvm::any_of(result.getUsers(), [&](Operation *user) { return !inside.contains(user); }))
        outputs.insert(result);
  }

  llvm::SmallVector<Value> operands;
  for (Value input : inputs) {
    Operation *definition = input.getDefiningOp();
    if (definition && definition->hasTrait<OpTrait::ConstantLike>())
      operands.push_back(builder.clone(*definition)->getResult(0));
    else
      operands.push_back(
          builder.create<UnrealizedConversionCastOp>(loc, input.getType(), ValueRange()).getResult(0));
  }
  read.assign(inputs.begin(), inputs.end());
  yielded.assign(outputs.begin(), outputs.end());
  fusion = builder.create<tk::FusionOp>(loc, ValueRange(outputs.getArrayRef()).getTypes(), operands,
                                        builder.getStringAttr("candidate"));
  Block &body = fusion.getBody().emplaceBlock();
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, body.addArgument(input.getType(), loc));
  builder.setInsertionPointToStart(&body);
  for (Value scalar : scalars)
    builder.clone(*scalar.getDefiningOp(), mapping);
  for (Operation *op : members)
    builder.clone(*op, mapping);
  llvm::SmallVector<Value> inner;
  for (Value output : outputs)
    inner.push_back(mapping.lookup(output));
  builder.create<tk::YieldOp>(loc, inner);
}
