//===- KernelBody.cpp - a group's operators, flattened for emission --------------------------===//
#include "codegen/kernel/KernelBody.h"
#include "codegen/kernel/RefineAxes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"

namespace tokamak::codegen {

using namespace mlir;

Block *KernelBody::makeFunction(Location loc, TypeRange arguments) {
  OpBuilder builder(loc.getContext());
  builder.getContext()->loadDialect<func::FuncDialect>();
  module = ModuleOp::create(loc).getOperation();
  builder.setInsertionPointToStart(cast<ModuleOp>(*module).getBody());
  function = builder.create<func::FuncOp>(loc, "body", builder.getFunctionType(arguments, {}));
  groupOperands = arguments.size();
  return function.addEntryBlock();
}

KernelBody::KernelBody(KernelBody &whole, Value result, Value start) {
  llvm::DenseSet<Operation *> members;
  SmallVector<Value> pending{result};
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (value == start || !op) {
      if (!llvm::is_contained(sources, value))
        sources.push_back(value);
    } else if (members.insert(op).second) {
      pending.append(op->operand_begin(), op->operand_end());
    }
  }
  Location loc = whole.function.getLoc();
  Block *entry = makeFunction(loc, ValueRange(sources).getTypes());
  OpBuilder builder = OpBuilder::atBlockBegin(entry);
  IRMapping mapping;
  mapping.map(sources, entry->getArguments());
  for (Operation &op : whole.block().without_terminator())
    if (members.contains(&op))
      builder.clone(op, mapping);
  builder.create<tk::YieldOp>(loc, mapping.lookup(result));
}

/// Yields what the last reshapes read: in row-major memory they are the same, and loops over the result's
/// shape would work out for each element where it comes from.
static void dropLastReshapes(Block &body, llvm::function_ref<bool(size_t)> keepsShape) {
  for (OpOperand &result : body.getTerminator()->getOpOperands()) {
    if (keepsShape && keepsShape(result.getOperandNumber()))
      continue;
    while (auto reshape = result.get().getDefiningOp<tk::ReshapeOp>()) {
      Operation *source = reshape.getInput().getDefiningOp();
      if (!source || isa<tk::ConstantOp>(source))
        break;
      result.set(reshape.getInput());
      if (reshape.use_empty())
        reshape.erase();
    }
  }
}

KernelBody::KernelBody(tk::FusionOp group, llvm::function_ref<bool(size_t)> keepsShape) {
  Location loc = group.getLoc();
  Block *entry = makeFunction(loc, group.getOperandTypes());
  OpBuilder builder = OpBuilder::atBlockBegin(entry);
  IRMapping mapping;
  mapping.map(group.getBody().front().getArguments(), entry->getArguments());
  append(builder, group.getBody().front(), mapping);
  SmallVector<Value> results;
  for (Value result : group.getBody().front().getTerminator()->getOperands())
    results.push_back(mapping.lookup(result));
  builder.create<tk::YieldOp>(loc, results);
  dropLastReshapes(*entry, keepsShape);
  refineAxes(*entry);
}

void KernelBody::append(OpBuilder &builder, Block &source, IRMapping &mapping) {
  for (Operation &op : source.without_terminator()) {
    if (auto composite = dyn_cast<tk::CompositeOp>(op)) {
      Block &body = composite.getBody().front();
      for (auto [argument, operand] : llvm::zip(body.getArguments(), composite.getInputs()))
        mapping.map(argument, mapping.lookup(operand));
      append(builder, body, mapping);
      for (auto [result, value] : llvm::zip(composite.getResults(), body.getTerminator()->getOperands()))
        mapping.map(result, mapping.lookup(value));
      continue;
    }
    if (auto constant = dyn_cast<tk::ConstantOp>(op)) {
      Tensor value = Tensor::fromAttr(constant.getValue());
      if (!value.isSplat()) { // an immediate cannot hold it (nor nothing at all)
        mapping.map(constant.getResult(),
                    builder.getInsertionBlock()->addArgument(constant.getType(), op.getLoc()));
        hoisted.push_back(std::move(value));
        continue;
      }
    }
    builder.clone(op, mapping);
  }
}

SmallVector<Operation *> KernelBody::heavyOperators() {
  SmallVector<Operation *> result;
  for (Operation &op : block().without_terminator()) {
    auto kind = dyn_cast<tk::FusionKindInterface>(op);
    if (kind &&
        (kind.getFusionKind() == FusionKind::Reduction || kind.getFusionKind() == FusionKind::Anchor) &&
        !op.use_empty())
      result.push_back(&op);
  }
  return result;
}

bool KernelBody::isWorthSharing() {
  constexpr int64_t enoughOperations = 100'000; // some 20 microseconds
  int64_t operations = 0;
  for (Operation &op : block().without_terminator())
    if (auto traffic = dyn_cast<tk::TrafficInterface>(op))
      operations += traffic.getFlops();
  for (Value result : results())
    operations += tk::tensorType(result).getNumElements();
  return operations >= enoughOperations;
}

} // namespace tokamak::codegen
