//===- SimplifyMovementChains.cpp - identities and chains of data movement -------------------===//
// Exporters leave chains that move data back and forth: reshape after reshape, transposes that cancel, casts
// there and back. Each is a kernel, or an index map in one. Contract: exact.
#include "mlir/IR/PatternMatch.h"
#include "rewrite/Passes.h"
#include "rewrite/RewriteDriver.h"

namespace tokamak {
#define GEN_PASS_DEF_SIMPLIFYMOVEMENTCHAINS
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;

/// Binary digits of the integers that a type holds exactly: all magnitudes below 2^digits.
static int exactDigits(DataType type) {
  switch (type) {
  case DataType::Bool:
    return 1;
  case DataType::Float16:
    return 11;
  case DataType::BFloat16:
    return 8;
  case DataType::Float32:
    return 24;
  case DataType::Float64:
    return 53;
  default:
    return static_cast<int>(byteSize(type)) * 8 - (isUnsigned(type) ? 0 : 1);
  }
}

/// Whether every value of `from` is a value of `to`.
static bool isLossless(DataType from, DataType to) {
  if (from == to)
    return true;
  if (to == DataType::Bool)
    return false;
  if (isFloat(from)) // Among the float types only half and bfloat do not contain each other.
    return isFloat(to) && exactDigits(to) > exactDigits(from) &&
           !(from == DataType::BFloat16 && to == DataType::Float16);
  const bool fromSigned = from != DataType::Bool && !isUnsigned(from);
  const bool toSigned = isFloat(to) || !isUnsigned(to);
  return exactDigits(to) >= exactDigits(from) && (toSigned || !fromSigned);
}

/// cast(cast(x)) -> cast(x), where the inner cast loses nothing: the outer one then sees the same number.
static LogicalResult joinCasts(tk::CastOp outer, PatternRewriter &rewriter) {
  auto inner = outer.getInput().getDefiningOp<tk::CastOp>();
  if (!inner)
    return failure();
  std::optional<DataType> from = fromMlir(tk::tensorType(inner.getInput()).getElementType());
  std::optional<DataType> over = fromMlir(tk::tensorType(inner.getResult()).getElementType());
  if (!from || !over || !isLossless(*from, *over))
    return failure();
  if (inner.getInput().getType() == outer.getType()) {
    rewriter.replaceOp(outer, inner.getInput());
    return success();
  }
  Location merged = mergeLocations(inner.getLoc(), outer.getLoc());
  rewriter
      .replaceOpWithNewOp<tk::CastOp>(outer, outer.getType(), inner.getInput(), outer.getTo(),
                                      outer.getSaturate())
      ->setLoc(merged);
  return success();
}

/// A transpose that moves nothing but axes of extent 1 is a reshape, which is a view and fuses with more.
static LogicalResult reshapeInstead(tk::TransposeOp op, PatternRewriter &rewriter) {
  ArrayRef<int64_t> shape = tk::tensorType(op.getInput()).getShape();
  int64_t last = -1;
  for (int64_t axis : op.getPermutation()) {
    if (shape[axis] == 1)
      continue;
    if (axis < last)
      return failure();
    last = axis;
  }
  rewriter.replaceOpWithNewOp<tk::ReshapeOp>(op, op.getType(), op.getInput(), op.getType().getShape());
  return success();
}

namespace {
struct SimplifyMovementChains : tokamak::impl::SimplifyMovementChainsBase<SimplifyMovementChains> {
  explicit SimplifyMovementChains(PassStatePtr state) : state(std::move(state)) {}

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    tk::ReshapeOp::getCanonicalizationPatterns(patterns, &getContext());
    tk::TransposeOp::getCanonicalizationPatterns(patterns, &getContext());
    patterns.add(joinCasts).add(reshapeInstead);
    rewrite::applyRewrites(getOperation(), std::move(patterns), *state, getArgument());
  }

  PassStatePtr state;
};
} // namespace

std::unique_ptr<Pass> tokamak::createSimplifyMovementChainsPass(PassStatePtr state) {
  return std::make_unique<SimplifyMovementChains>(orFresh(std::move(state)));
}
