//===- CandidateGroup.cpp - operations as the group that they would be ---------------------===//
#include "fusion/CandidateGroup.h"
#include "ir/Tk.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace tokamak;

OwningOpRef<ModuleOp> fusion::copyAsGroup(llvm::ArrayRef<Operation *> members) {
  Location loc = members.front()->getLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
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
    for (Value result : op->getResults())
      if (result.use_empty() ||
          llvm::any_of(result.getUsers(), [&](Operation *user) { return !inside.contains(user); }))
        outputs.insert(result);
  }
  auto types = llvm::to_vector(llvm::map_range(inputs, [](Value v) { return v.getType(); }));
  auto unknown = builder.create<UnrealizedConversionCastOp>(loc, types, ValueRange());
  auto group = builder.create<tk::FusionOp>(loc, ValueRange(outputs.getArrayRef()).getTypes(),
                                            unknown.getResults(), builder.getStringAttr("candidate"));
  Block &body = group.getBody().emplaceBlock();
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, body.addArgument(input.getType(), loc));
  builder.setInsertionPointToStart(&body);
  for (Value scalar : scalars)
    builder.clone(*scalar.getDefiningOp(), mapping);
  for (Operation *op : members)
    builder.clone(*op, mapping);
  llvm::SmallVector<Value> yielded;
  for (Value output : outputs)
    yielded.push_back(mapping.lookup(output));
  builder.create<tk::YieldOp>(loc, yielded);
  return module;
}
