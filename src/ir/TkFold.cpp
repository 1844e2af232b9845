//===- TkFold.cpp - folders and canonicalization -------------------------------------------===//
// Contract: exact. Every fold is the same function for every input, -0.0, NaN and infinities included; and it
// replaces a value only by one of the same type.
#include "ir/Tk.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

namespace tokamak::tk {

/// True if `constant` is known and all its elements are `value`, the sign of a zero included.
static bool isAll(mlir::Attribute constant, double value) {
  auto dense = llvm::dyn_cast_or_null<mlir::DenseElementsAttr>(constant);
  if (!dense || !dense.isSplat())
    return false;
  const Tensor element =
      Tensor::fromAttr(dense.resizeSplat(dense.getType().clone(llvm::ArrayRef<int64_t>())));
  if (!isFloat(element.type()))
    return element.intAt(0) == static_cast<int64_t>(value);
  return element.doubleAt(0) == value && std::signbit(element.doubleAt(0)) == std::signbit(value);
}

/// `value` if it can stand for the result.
static mlir::OpFoldResult ifSameType(mlir::Value value, mlir::Type type) {
  return value.getType() == type ? mlir::OpFoldResult(value) : mlir::OpFoldResult();
}

mlir::OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

mlir::OpFoldResult NegOp::fold(FoldAdaptor) {
  auto inner = getInput().getDefiningOp<NegOp>();
  return inner ? ifSameType(inner.getInput(), getType()) : nullptr;
}

mlir::OpFoldResult NotOp::fold(FoldAdaptor) {
  auto inner = getInput().getDefiningOp<NotOp>();
  return inner ? ifSameType(inner.getInput(), getType()) : nullptr;
}

mlir::OpFoldResult AddOp::fold(FoldAdaptor x) {
  // -0.0 is the neutral element; -0.0 + 0.0 is 0.0. For integers both zeros are 0.
  return isAll(x.getRhs(), -0.0) ? ifSameType(getLhs(), getType()) : nullptr;
}

mlir::OpFoldResult SubOp::fold(FoldAdaptor x) {
  return isAll(x.getRhs(), 0.0) ? ifSameType(getLhs(), getType()) : nullptr;
}

mlir::OpFoldResult MulOp::fold(FoldAdaptor x) {
  return isAll(x.getRhs(), 1.0) ? ifSameType(getLhs(), getType()) : nullptr;
}

mlir::OpFoldResult DivOp::fold(FoldAdaptor x) {
  return isAll(x.getRhs(), 1.0) ? ifSameType(getLhs(), getType()) : nullptr;
}

mlir::OpFoldResult CastOp::fold(FoldAdaptor) { return ifSameType(getInput(), getType()); }

mlir::OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  if (auto inner = getInput().getDefiningOp<BroadcastOp>()) {
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  return ifSameType(getInput(), getType());
}

mlir::OpFoldResult ReshapeOp::fold(FoldAdaptor) { return ifSameType(getInput(), getType()); }

mlir::OpFoldResult TransposeOp::fold(FoldAdaptor) {
  for (auto [i, axis] : llvm::enumerate(getPermutation()))
    if (axis != static_cast<int64_t>(i))
      return nullptr;
  return getInput();
}

mlir::OpFoldResult SliceOp::fold(FoldAdaptor) {
  // A whole axis is taken in order unless the step is negative, which matters from two elements on.
  for (auto [size, step] : llvm::zip_equal(getSizes(), getSteps()))
    if (size > 1 && step < 0)
      return nullptr;
  return ifSameType(getInput(), getType());
}

mlir::OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? ifSameType(getInputs().front(), getType()) : nullptr;
}

mlir::OpFoldResult ReduceOp::fold(FoldAdaptor) {
  return getAxes().empty() ? ifSameType(getInput(), getType()) : nullptr;
}

//===--------------------------------------------------------------------------------------------------------===//
// Chains
//===--------------------------------------------------------------------------------------------------------===//

void ReshapeOp::getCanonicalizationPatterns(mlir::RewritePatternSet &patterns, mlir::MLIRContext *) {
  patterns.add(+[](ReshapeOp op, mlir::PatternRewriter &rewriter) -> mlir::LogicalResult {
    auto inner = op.getInput().getDefiningOp<ReshapeOp>();
    if (!inner)
      return mlir::failure();
    mlir::Location loc = rewriter.getFusedLoc({inner.getLoc(), op.getLoc()});
    auto merged = rewriter.create<ReshapeOp>(loc, op.getType(), inner.getInput(), op.getShape());
    rewriter.replaceOp(op, merged);
    return mlir::success();
  });
}

void TransposeOp::getCanonicalizationPatterns(mlir::RewritePatternSet &patterns, mlir::MLIRContext *) {
  patterns.add(+[](TransposeOp op, mlir::PatternRewriter &rewriter) -> mlir::LogicalResult {
    auto inner = op.getInput().getDefiningOp<TransposeOp>();
    if (!inner)
      return mlir::failure();
    llvm::SmallVector<int64_t> permutation;
    for (int64_t axis : op.getPermutation())
      permutation.push_back(inner.getPermutation()[axis]);
    mlir::Location loc = rewriter.getFusedLoc({inner.getLoc(), op.getLoc()});
    auto merged = rewriter.create<TransposeOp>(loc, op.getType(), inner.getInput(), permutation);
    rewriter.replaceOp(op, merged);
    return mlir::success();
  });
}

} // namespace tokamak::tk
