//===- WeightedAnchor.cpp - convolutions and matrix products with constant weights, seen alike -===//
#include "rewrite/WeightedAnchor.h"
#include "analysis/PostDominatorTree.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rewrite;

std::optional<WeightedAnchor> rewrite::weightedAnchor(Operation *op) {
  std::optional<WeightedAnchor> anchor;
  if (auto conv = dyn_cast<tk::ConvOp>(op)) {
    if (conv.getGroup() == 1)
      anchor = {op, conv.getInput(), conv.getWeight(), conv.getBias(), 1, 1, 1, 0};
  } else if (auto product = dyn_cast<tk::MatMulOp>(op)) {
    const int64_t columns = tk::tensorType(product.getRhs()).getRank() - 1,
                  last = tk::tensorType(product.getLhs()).getRank() - 1;
    anchor = {op,
              product.getLhs(),
              product.getRhs(),
              Value(),
              product.getTransposeLhs() ? last - 1 : last,
              product.getType().getRank() - 1,
              product.getTransposeRhs() ? columns : columns - 1,
              product.getTransposeRhs() ? columns - 1 : columns};
  }
  if (!anchor || !isConstantExpression(anchor->weight) || isConstantExpression(anchor->input) ||
      (anchor->bias && !isConstantExpression(anchor->bias)) ||
      tk::tensorType(anchor->weight).getNumElements() == 0 ||
      tk::tensorType(op->getResult(0)).getNumElements() == 0)
    return std::nullopt;
  return anchor;
}

bool rewrite::haveSameGeometry(const WeightedAnchor &a, const WeightedAnchor &b, int64_t freeAxis) {
  auto first = tk::tensorType(a.weight), second = tk::tensorType(b.weight);
  if (a.op->getName() != b.op->getName() || a.op->getAttrDictionary() != b.op->getAttrDictionary() ||
      first.getElementType() != second.getElementType() || first.getRank() != second.getRank())
    return false;
  for (int64_t axis = 0; axis < first.getRank(); ++axis)
    if (axis != freeAxis && first.getDimSize(axis) != second.getDimSize(axis))
      return false;
  return true;
}

/// Operators whose types have been checked by their matchers: inference cannot fail.
static Value create(OpBuilder &builder, Location loc, llvm::StringRef name, ValueRange operands,
                    llvm::ArrayRef<NamedAttribute> attributes) {
  FailureOr<Operation *> op = tk::createChecked(builder, loc, name, operands, attributes);
  assert(succeeded(op) && "the matcher has checked the types");
  return (*op)->getResult(0);
}

Value rewrite::rebuildAnchor(OpBuilder &builder, Location loc, const WeightedAnchor &like, Value input,
                             Value weight, Value bias) {
  llvm::SmallVector<Value> operands = {input, weight};
  if (bias)
    operands.push_back(bias);
  return create(builder, loc, like.op->getName().getStringRef(), operands, like.op->getAttrs());
}

bool rewrite::isConstantExpression(Value value) {
  // As long as there were rewrites, as a rule: the graph's own constants are folded before.
  constexpr size_t longest = 1000;
  llvm::SmallSetVector<Operation *, 16> expression;
  auto add = [&](Value operand) {
    Operation *op = operand.getDefiningOp();
    if (op)
      expression.insert(op);
    return op != nullptr;
  };
  if (!add(value))
    return false;
  for (size_t i = 0; i < expression.size(); ++i) {
    Operation *op = expression[i];
    if (op->hasTrait<OpTrait::ConstantLike>())
      continue;
    const FusionKind kind = analysis::kindOf(op);
    const bool isComputed = op->getNumOperands() > 0 && op->getNumRegions() == 0 &&
                            (kind <= FusionKind::Injective || kind == FusionKind::Tuple);
    if (!isComputed || !llvm::all_of(op->getOperands(), add) || expression.size() > longest)
      return false;
  }
  return true;
}

void rewrite::moveConstantsBefore(Value value, Operation *op) {
  Operation *definition = value.getDefiningOp();
  if (definition->getBlock() != op->getBlock())
    return;
  // Asking for the order numbers the block anew after each move, so constants go to where all may read them.
  if (definition->hasTrait<OpTrait::ConstantLike>())
    return definition->moveBefore(&op->getBlock()->front());
  if (definition->isBeforeInBlock(op))
    return;
  for (Value operand : definition->getOperands())
    moveConstantsBefore(operand, op);
  definition->moveBefore(op);
}

Value rewrite::concatenate(OpBuilder &builder, Location loc, ValueRange values, int64_t axis) {
  if (values.size() == 1)
    return values.front();
  return create(builder, loc, "concat", values,
                {builder.getNamedAttr("axis", builder.getI64IntegerAttr(axis))});
}

Value rewrite::sliceAlong(OpBuilder &builder, Location loc, Value value, int64_t axis, int64_t start,
                          int64_t size) {
  auto type = tk::tensorType(value);
  llvm::SmallVector<int64_t> starts(static_cast<size_t>(type.getRank()), 0), sizes(type.getShape()),
      steps(starts.size(), 1);
  starts[static_cast<size_t>(axis)] = start;
  sizes[static_cast<size_t>(axis)] = size;
  return create(builder, loc, "slice", {value},
                {builder.getNamedAttr("starts", builder.getDenseI64ArrayAttr(starts)),
                 builder.getNamedAttr("sizes", builder.getDenseI64ArrayAttr(sizes)),
                 builder.getNamedAttr("steps", builder.getDenseI64ArrayAttr(steps))});
}

Value rewrite::splat(OpBuilder &builder, Location loc, RankedTensorType type, double value) {
  Tensor scalar = Tensor::scalar(*fromMlir(type.getElementType()), value);
  auto one = cast<DenseElementsAttr>(scalar.toAttr(builder.getContext()));
  return builder.create<tk::ConstantOp>(loc, type, cast<ElementsAttr>(one.resizeSplat(type)));
}
