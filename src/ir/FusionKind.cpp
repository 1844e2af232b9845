//===- FusionKind.cpp - the pattern kind of every operator ------------------------------===//
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
namespace {

/// A per-channel operand leaves an operator elementwise as long as another operand has the result's shape.
FusionKind elementwiseKind(mlir::Operation *op) {
  llvm::ArrayRef<int64_t> shape = tensorType(op->getResult(0)).getShape();
  auto isFull = [&](mlir::Value v) { return tensorType(v).getShape() == shape; };
  return llvm::any_of(op->getOperands(), isFull) ? FusionKind::Elementwise : FusionKind::Broadcast;
}

llvm::SmallVector<int64_t> withoutUnits(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> extents(shape);
  llvm::erase(extents, 1);
  return extents;
}

} // namespace

#define TK_ELEMENTWISE(OP)                                                                                   \
  FusionKind OP::getFusionKind() { return elementwiseKind(*this); }
#define TK_KIND(OP, KIND)                                                                                    \
  FusionKind OP::getFusionKind() { return FusionKind::KIND; }

// Partitioners leave constants out of the groups; the kind says that they never stand in the way.
TK_KIND(ConstantOp, Elementwise)

TK_ELEMENTWISE(NegOp)
TK_ELEMENTWISE(AbsOp)
TK_ELEMENTWISE(SignOp)
TK_ELEMENTWISE(NotOp)
TK_ELEMENTWISE(BitNotOp)
TK_ELEMENTWISE(ExpOp)
TK_ELEMENTWISE(LogOp)
TK_ELEMENTWISE(SqrtOp)
TK_ELEMENTWISE(SinOp)
TK_ELEMENTWISE(CosOp)
TK_ELEMENTWISE(TanOp)
TK_ELEMENTWISE(AsinOp)
TK_ELEMENTWISE(AcosOp)
TK_ELEMENTWISE(AtanOp)
TK_ELEMENTWISE(SinhOp)
TK_ELEMENTWISE(CoshOp)
TK_ELEMENTWISE(TanhOp)
TK_ELEMENTWISE(AsinhOp)
TK_ELEMENTWISE(AcoshOp)
TK_ELEMENTWISE(AtanhOp)
TK_ELEMENTWISE(ErfOp)
TK_ELEMENTWISE(FloorOp)
TK_ELEMENTWISE(CeilOp)
TK_ELEMENTWISE(RoundOp)
TK_ELEMENTWISE(IsNaNOp)
TK_ELEMENTWISE(IsInfOp)
TK_ELEMENTWISE(AddOp)
TK_ELEMENTWISE(SubOp)
TK_ELEMENTWISE(MulOp)
TK_ELEMENTWISE(DivOp)
TK_ELEMENTWISE(PowOp)
TK_ELEMENTWISE(MaxOp)
TK_ELEMENTWISE(MinOp)
TK_ELEMENTWISE(ModOp)
TK_ELEMENTWISE(AndOp)
TK_ELEMENTWISE(OrOp)
TK_ELEMENTWISE(XorOp)
TK_ELEMENTWISE(BitAndOp)
TK_ELEMENTWISE(BitOrOp)
TK_ELEMENTWISE(BitXorOp)
TK_ELEMENTWISE(ShiftLeftOp)
TK_ELEMENTWISE(ShiftRightOp)
TK_ELEMENTWISE(CompareOp)
TK_ELEMENTWISE(SelectOp)
TK_ELEMENTWISE(CastOp)
TK_ELEMENTWISE(BatchNormOp)

TK_KIND(BroadcastOp, Broadcast)
TK_KIND(TransposeOp, Injective)
TK_KIND(SliceOp, Injective)
TK_KIND(PadOp, Injective)
TK_KIND(GatherOp, Injective)
TK_KIND(GatherElementsOp, Injective)
TK_KIND(GatherNDOp, Injective)
TK_KIND(IotaOp, Injective)
// The published baseline spells a concatenation as a tuple and an injective operator that absorbs it; the
// partitioner knows that the two are one here.
TK_KIND(ConcatOp, Tuple)
FusionKind ReshapeOp::getFusionKind() {
  bool onlyUnits = withoutUnits(tensorType(getInput()).getShape()) == withoutUnits(getType().getShape());
  return onlyUnits ? FusionKind::Broadcast : FusionKind::Injective;
}

TK_KIND(ReduceOp, Reduction)
TK_KIND(ArgReduceOp, Reduction)
TK_KIND(MatMulOp, Anchor)
TK_KIND(ConvOp, Anchor)
TK_KIND(ConvTransposeOp, Anchor)
TK_KIND(WindowOp, Anchor)

TK_KIND(CumSumOp, Opaque)
TK_KIND(TopKOp, Opaque)
TK_KIND(ScatterElementsOp, Opaque)
TK_KIND(ScatterNDOp, Opaque)
TK_KIND(MaxPoolIndicesOp, Opaque)
TK_KIND(RoiAlignOp, Opaque)
TK_KIND(GridSampleOp, Opaque)
TK_KIND(DetOp, Opaque)
TK_KIND(IfOp, Opaque)
TK_KIND(LoopOp, Opaque)

#undef TK_ELEMENTWISE
#undef TK_KIND

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
