//===- FoldTransposes.cpp - transposes into the matrix products that read them -----------------===//
// A matrix product reads either operand in either order (`transpose_lhs`, `transpose_rhs`), so an operand
// with its last two axes exchanged needs no copy. Where a transpose moves other axes as well it stays, one
// copy either way. Contract: exact, the same products in the same order.
#include "mlir/IR/PatternMatch.h"
#include "rewrite/Passes.h"
#include "rewrite/RewriteDriver.h"

namespace tokamak {
#define GEN_PASS_DEF_FOLDTRANSPOSES
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;

/// The transpose that `operand` is if it exchanges the last two axes and nothing else.
static tk::TransposeOp exchangesLastAxes(Value operand) {
  auto transpose = operand.getDefiningOp<tk::TransposeOp>();
  if (!transpose)
    return nullptr;
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  const auto rank = static_cast<int64_t>(permutation.size());
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t expected = i == rank - 2 ? rank - 1 : i == rank - 1 ? rank - 2 : i;
    if (permutation[i] != expected)
      return nullptr;
  }
  return transpose;
}

static LogicalResult foldTransposes(tk::MatMulOp op, PatternRewriter &rewriter) {
  tk::TransposeOp left = exchangesLastAxes(op.getLhs()), right = exchangesLastAxes(op.getRhs());
  if (!left && !right)
    return failure();
  Location loc = op.getLoc();
  for (tk::TransposeOp transpose : {left, right})
    if (transpose)
      loc = mergeLocations(loc, transpose.getLoc());
  rewriter.replaceOp(
      op, rewriter.create<tk::MatMulOp>(
              loc, op.getType(), left ? left.getInput() : op.getLhs(), right ? right.getInput() : op.getRhs(),
              op.getTransposeLhs() != (left != nullptr), op.getTransposeRhs() != (right != nullptr)));
  return success();
}

namespace {
struct FoldTransposes : tokamak::impl::FoldTransposesBase<FoldTransposes> {
  explicit FoldTransposes(PassStatePtr state) : state(std::move(state)) {}

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(foldTransposes);
    rewrite::applyRewrites(getOperation(), std::move(patterns), *state, getArgument());
  }

  PassStatePtr state;
};
} // namespace

std::unique_ptr<Pass> tokamak::createFoldTransposesPass(PassStatePtr state) {
  return std::make_unique<FoldTransposes>(orFresh(std::move(state)));
}
