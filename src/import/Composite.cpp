//===- Composite.cpp - one ONNX node as one tk.composite -----------------------------------===//
#include "import/NodeContext.h"
#include "llvm/ADT/DenseMap.h"

namespace tokamak::import {

using mlir::Block;
using mlir::Operation;

/// A builder in a block whose region has no parent yet, which could not tell the context.
static mlir::OpBuilder builderAt(mlir::MLIRContext *context, Block &block, Block::iterator point) {
  mlir::OpBuilder builder(context);
  builder.setInsertionPoint(&block, point);
  return builder;
}

static bool isConstant(Operation &op) { return llvm::isa<tk::ConstantOp>(op); }

/// Removes operations whose results nobody uses, from the end.
static void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.use_empty() && !op.hasTrait<mlir::OpTrait::IsTerminator>())
      op.erase();
}

/// True where the body may stand as a composite: several operations, at most one anchor, nothing opaque.
static bool isComposite(Block &block) {
  int64_t operations = 0, anchors = 0;
  for (Operation &op : block) {
    if (isConstant(op) || op.hasTrait<mlir::OpTrait::IsTerminator>())
      continue;
    ++operations;
    auto kinded = llvm::dyn_cast<tk::FusionKindInterface>(op);
    if (!kinded || op.getNumRegions() > 0 || kinded.getFusionKind() == FusionKind::Opaque)
      return false;
    anchors += kinded.getFusionKind() == FusionKind::Anchor;
  }
  return operations > 1 && anchors <= 1;
}

Result NodeContext::composite(ValueRange operands, llvm::function_ref<Values(Body &, ValueRange)> build) {
  mlir::OpBuilder &outer = graph.builder;
  auto region = std::make_unique<mlir::Region>();
  Block &block = region->emplaceBlock();

  // Constant operands move inside, so that the body folds over them; those of several elements move out again
  // below.
  llvm::SmallVector<Value> outside;         ///< the operand of each block argument
  llvm::DenseMap<Operation *, Value> moved; ///< constant inside -> the operand it stands for
  Values arguments;
  mlir::OpBuilder inner = builderAt(outer.getContext(), block, block.end());
  llvm::DenseMap<Value, Value> argumentOf;
  for (Value operand : operands) {
    Value &argument = argumentOf[operand];
    if (!argument) {
      if (Operation *constant = operand.getDefiningOp<tk::ConstantOp>()) {
        Operation *copy = inner.clone(*constant);
        moved[copy] = operand;
        argument = copy->getResult(0);
      } else {
        argument = block.addArgument(operand.getType(), graph.loc);
        outside.push_back(operand);
      }
    }
    arguments.push_back(argument);
  }

  Body body(inner, graph.loc, graph.budget);
  Values results = build(body, arguments);
  // Holds the results in the block while it is cleaned.
  Operation *yield = inner.create<tk::YieldOp>(graph.loc, ValueRange(results));
  eraseDead(block);

  if (!isComposite(block)) {
    for (auto [argument, operand] : llvm::zip(block.getArguments(), outside))
      argument.replaceAllUsesWith(operand);
    for (Operation &op : llvm::make_early_inc_range(block))
      if (Value operand = moved.lookup(&op)) {
        op.getResult(0).replaceAllUsesWith(operand);
        op.erase();
      }
    results.assign(yield->operand_begin(), yield->operand_end());
    yield->erase();
    outer.getInsertionBlock()->getOperations().splice(outer.getInsertionPoint(), block.getOperations());
    return results;
  }

  // What the body took from outside without naming it becomes an operand (a scalar constant: a copy inside).
  for (Operation &op : block)
    for (mlir::OpOperand &use : op.getOpOperands()) {
      if (use.get().getParentBlock() == &block)
        continue;
      Value &argument = argumentOf[use.get()];
      Operation *definition = use.get().getDefiningOp();
      if (!argument && definition && isConstant(*definition)) {
        argument = builderAt(outer.getContext(), block, block.begin()).clone(*definition)->getResult(0);
        moved[argument.getDefiningOp()] = use.get();
      } else if (!argument) {
        argument = block.addArgument(use.get().getType(), graph.loc);
        outside.push_back(use.get());
      }
      use.set(argument);
    }

  // Constants of several elements become operands.
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!isConstant(op) || tk::tensorType(op.getResult(0)).getNumElements() == 1)
      continue;
    Value operand = moved.lookup(&op);
    if (!operand)
      operand = outer.clone(op)->getResult(0);
    op.getResult(0).replaceAllUsesWith(block.addArgument(operand.getType(), graph.loc));
    outside.push_back(operand);
    op.erase();
  }

  // Results that the body only passes through do not belong to it.
  Values yielded, known(results.size());
  results.assign(yield->operand_begin(), yield->operand_end());
  for (auto [result, value] : llvm::zip(results, known)) {
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(result))
      value = outside[argument.getArgNumber()];
    else if (isConstant(*result.getDefiningOp()))
      value = outer.clone(*result.getDefiningOp())->getResult(0);
    else
      yielded.push_back(result);
  }
  yield->setOperands(yielded);
  eraseDead(block);
  for (int64_t i = static_cast<int64_t>(outside.size()) - 1; i >= 0; --i)
    if (block.getArgument(i).use_empty()) {
      block.eraseArgument(i);
      outside.erase(outside.begin() + i);
    }

  mlir::OperationState state(graph.loc, tk::CompositeOp::getOperationName());
  state.addOperands(outside);
  state.addTypes(llvm::to_vector(ValueRange(yielded).getTypes()));
  state.addAttribute("name", outer.getStringAttr(opType()));
  state.addRegion(std::move(region));
  Operation *op = outer.create(state);
  int64_t next = 0;
  for (Value &value : known)
    if (!value)
      value = op->getResult(next++);
  return known;
}

} // namespace tokamak::import
