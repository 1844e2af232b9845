//===- Evaluate.cpp - operations and functions on values ---------------------------------===//
#include "reference/Evaluate.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "reference/Block.h"
#include "reference/Register.h"

namespace tokamak::reference {

void registerReferenceModels(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](mlir::MLIRContext *context, tk::TkDialect *) {
    attachUnary(context);
    attachElementwise(context);
    attachMovement(context);
    attachGather(context);
    attachReduction(context);
    attachLinear(context);
    attachLibrary(context);
    attachSampling(context);
    attachRegions(context);
  });
}

namespace {

/// What the regions of `op` use from outside, appended to its operands as the models expect it.
mlir::LogicalResult appendCaptured(mlir::Operation *op,
                                   llvm::function_ref<std::optional<Tensor>(mlir::Value)> lookup,
                                   Tensors &operands) {
  for (mlir::Value value : capturedValues(op)) {
    std::optional<Tensor> tensor = lookup ? lookup(value) : std::nullopt;
    if (!tensor)
      tensor = tk::constantValue(value);
    if (!tensor)
      return op->emitOpError("uses a value from outside its region that is not known here");
    operands.push_back(*tensor);
  }
  return mlir::success();
}

bool hasType(const Tensor &tensor, mlir::Type type) {
  auto ranked = llvm::dyn_cast<mlir::RankedTensorType>(type);
  return ranked && ranked.getShape() == tensor.shape() && fromMlir(ranked.getElementType()) == tensor.type();
}

} // namespace

Result evaluate(mlir::Operation *op, Operands operands,
                llvm::function_ref<std::optional<Tensor>(mlir::Value)> lookup) {
  auto model = llvm::dyn_cast<tk::ReferenceInterface>(op);
  if (!model)
    return op->emitError("'") << op->getName() << "' has no reference definition";
  Tensors values(operands);
  if (op->getNumRegions() != 0 && !op->hasTrait<mlir::OpTrait::IsIsolatedFromAbove>() &&
      mlir::failed(appendCaptured(op, lookup, values)))
    return mlir::failure();
  Result results = model.evaluate(values);
  assert((mlir::failed(results) || llvm::all_of_zip(*results, op->getResultTypes(), hasType)) &&
         "a definition returns tensors of the result types");
  return results;
}

/// With `lookup` for what its regions use from outside.
static Result evaluateRevised(mlir::Operation *op, Operands operands, Revise revise,
                              llvm::function_ref<std::optional<Tensor>(mlir::Value)> lookup) {
  if (!revise)
    return evaluate(op, operands, lookup);
  Result results = mlir::failure();
  if (llvm::isa<tk::FusionOp, tk::CompositeOp>(op)) {
    mlir::Block &body = op->getRegion(0).front();
    Values values;
    for (auto [argument, tensor] : llvm::zip_equal(body.getArguments(), operands))
      values[argument] = tensor;
    results = evaluateBlock(body, values, nullptr, revise);
  } else {
    results = evaluate(op, operands, lookup);
  }
  if (mlir::succeeded(results))
    revise(op, operands, *results);
  return results;
}

Result evaluateRevised(mlir::Operation *op, Operands operands, Revise revise) {
  return evaluateRevised(op, operands, revise, nullptr);
}

Result evaluateBlock(mlir::Block &block, Values &values,
                     llvm::function_ref<void(mlir::Operation *, Operands)> done, Revise revise) {
  auto lookup = [&](mlir::Value value) -> std::optional<Tensor> {
    auto found = values.find(value);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
  for (mlir::Operation &op : block.without_terminator()) {
    Tensors operands;
    for (mlir::Value operand : op.getOperands())
      operands.push_back(values.at(operand));
    Result results = evaluateRevised(&op, operands, revise, lookup);
    if (mlir::failed(results))
      return mlir::failure();
    for (auto [value, tensor] : llvm::zip_equal(op.getResults(), *results))
      values[value] = tensor;
    if (done)
      done(&op, *results);
  }
  Tensors results;
  for (mlir::Value value : block.getTerminator()->getOperands())
    results.push_back(values.at(value));
  return results;
}

llvm::SmallVector<mlir::Value> capturedValues(mlir::Operation *op) {
  llvm::SetVector<mlir::Value> captured;
  mlir::getUsedValuesDefinedAbove(op->getRegions(), captured);
  return captured.takeVector();
}

Result evaluateFunction(mlir::Operation *func, Operands arguments,
                        llvm::function_ref<void(mlir::Operation *, Operands)> observe, Revise revise) {
  if (func->getNumRegions() != 1 || !func->getRegion(0).hasOneBlock())
    return func->emitError("only a function of one block can be evaluated");
  mlir::Block &block = func->getRegion(0).front();
  if (arguments.size() != block.getNumArguments())
    return func->emitError("the function takes ")
           << block.getNumArguments() << " arguments, not " << arguments.size();
  Values values;
  for (auto [argument, tensor] : llvm::zip_equal(block.getArguments(), arguments)) {
    if (!hasType(tensor, argument.getType()))
      return func->emitError("argument ") << argument.getArgNumber() << " has type " << argument.getType()
                                          << ", not " << tensor.mlirType(func->getContext());
    values[argument] = tensor;
  }
  // A network's activations together are many times what is alive at once, so each value goes after its last
  // user.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> lastUses;
  for (mlir::Operation &op : block.without_terminator())
    for (mlir::Value result : op.getResults()) {
      mlir::Operation *last = &op;
      for (mlir::Operation *user : result.getUsers())
        if (mlir::Operation *inBlock = block.findAncestorOpInBlock(*user); last->isBeforeInBlock(inBlock))
          last = inBlock;
      lastUses[last].push_back(result);
    }
  auto done = [&](mlir::Operation *op, Operands results) {
    if (observe)
      observe(op, results);
    for (mlir::Value value : lastUses.lookup(op))
      values.erase(value);
  };
  return evaluateBlock(block, values, done, revise);
}

} // namespace tokamak::reference
