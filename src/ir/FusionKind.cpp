//===- FusionKind.cpp - pattern kinds that an ODS entry cannot state ------------------------------===//
#include "ir/FusionKind.h"
#include "ir/Tk.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

namespace tokamak {

llvm::StringRef stringifyFusionKind(FusionKind kind) {
  switch (kind) {
  case FusionKind::Elementwise:
    return "elementwise";
  case FusionKind::Broadcast:
    return "broadcast";
  case FusionKind::Injective:
    return "injective";
  case FusionKind::Reduction:
    return "reduction";
  case FusionKind::Anchor:
    return "anchor";
  case FusionKind::Tuple:
    return "tuple";
  case FusionKind::Opaque:
    return "opaque";
  }
  llvm_unreachable("unknown fusion kind");
}

namespace tk {

FusionKind detail::elementwiseKind(mlir::Operation *op) {
  llvm::ArrayRef<int64_t> shape = tensorType(op->getResult(0)).getShape();
  auto isFull = [&](mlir::Value v) { return tensorType(v).getShape() == shape; };
  return llvm::any_of(op->getOperands(), isFull) ? FusionKind::Elementwise : FusionKind::Broadcast;
}

static llvm::SmallVector<int64_t> withoutUnits(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> extents(shape);
  llvm::erase(extents, 1);
  return extents;
}

FusionKind ReshapeOp::getFusionKind() {
  bool onlyUnits = withoutUnits(tensorType(getInput()).getShape()) == withoutUnits(getType().getShape());
  return onlyUnits ? FusionKind::Broadcast : FusionKind::Injective;
}

FusionKind CompositeOp::getFusionKind() {
  auto largest = FusionKind::Elementwise;
  int64_t reductions = 0, others = 0;
  for (mlir::Operation &op : getBody().front().without_terminator()) {
    auto kinded = llvm::dyn_cast<FusionKindInterface>(op);
    if (!kinded || op.hasTrait<mlir::OpTrait::ConstantLike>())
      continue;
    FusionKind kind = kinded.getFusionKind();
    if (kind == FusionKind::Tuple) // inside one loop nest a concatenation only picks elements
      kind = FusionKind::Injective;
    largest = std::max(largest, kind);
    ++(kind == FusionKind::Reduction ? reductions : others);
  }
  // One loop nest that reduces and computes besides: softmax, mean, a norm.
  if (largest == FusionKind::Reduction && (reductions > 1 || others > 0))
    return FusionKind::Anchor;
  return largest;
}

} // namespace tk
} // namespace tokamak
