//===- ReassociateProducts.cpp - products by two constant matrices as one ----------------------===//
// (x A) B -> x (A B) and A (B x) -> (A B) x, where the one product costs less than the two and its matrix has
// fewer elements.
//
// Contract: exact for integers, which wrap. On float32 and float64 reassociating: A B is summed in double and
// rounded once, the error is within (k + l) eps |x| |A| |B|. An infinite x is inf - inf = NaN in one form and
// need not be in the other, so x has to be known as never infinite.
#include "mlir/IR/PatternMatch.h"
#include "rewrite/ConstantOperands.h"
#include "rewrite/Passes.h"
#include "rewrite/RewriteDriver.h"
#include "rewrite/ValueFacts.h"

namespace tokamak {
#define GEN_PASS_DEF_REASSOCIATEPRODUCTS
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;

/// Multiplications that a product of constants may take while compiling.
static constexpr int64_t mostMultiplications = 200'000'000;

namespace {
/// A constant matrix [rows, columns] as an operand of a product, its transposition resolved.
struct Matrix {
  Tensor values;
  bool isTransposed;
  int64_t rows() const { return values.shape()[isTransposed ? 1 : 0]; }
  int64_t columns() const { return values.shape()[isTransposed ? 0 : 1]; }
  int64_t at(int64_t row, int64_t column) const {
    return isTransposed ? column * values.shape()[1] + row : row * values.shape()[1] + column;
  }
};
} // namespace

static std::optional<Matrix> constantMatrix(Value value, bool isTransposed) {
  if (!value.getDefiningOp<tk::ConstantOp>() || tk::tensorType(value).getRank() != 2)
    return std::nullopt;
  return Matrix{*tk::constantValue(value), isTransposed};
}

/// Of an operand that nobody else reads.
static tk::MatMulOp onlyReadHere(Value value) {
  return value.hasOneUse() ? value.getDefiningOp<tk::MatMulOp>() : nullptr;
}

static Tensor multiplied(const Matrix &a, const Matrix &b) {
  Tensor result(a.values.type(), {a.rows(), b.columns()});
  const bool isFloating = isFloat(a.values.type());
  for (int64_t i = 0; i < a.rows(); ++i)
    for (int64_t j = 0; j < b.columns(); ++j) {
      double sum = 0;
      uint64_t wrapped = 0;
      for (int64_t k = 0; k < a.columns(); ++k) {
        if (isFloating)
          sum += a.values.doubleAt(a.at(i, k)) * b.values.doubleAt(b.at(k, j));
        else
          wrapped += static_cast<uint64_t>(a.values.intAt(a.at(i, k))) *
                     static_cast<uint64_t>(b.values.intAt(b.at(k, j)));
      }
      if (isFloating)
        result.setDouble(i * b.columns() + j, sum);
      else
        result.setInt(i * b.columns() + j, static_cast<int64_t>(wrapped));
    }
  return result;
}

/// a b, where `outer`, which multiplies by both of them and `x`, may multiply by it instead.
static std::optional<Tensor> joined(const Matrix &a, const Matrix &b, tk::MatMulOp outer, Value x) {
  // Multiplications for each row of x, or each column.
  const int64_t together = a.rows() * b.columns(), apart = a.columns() * (a.rows() + b.columns());
  const bool isInteger = rewrite::isIntegerTensor(outer.getResult());
  if (together >= apart || together > mostMultiplications / std::max<int64_t>(a.columns(), 1) ||
      (!isInteger && (!rewrite::isWideFloat(outer.getResult()) || !rewrite::isNeverInfinite(x))))
    return std::nullopt;
  Tensor product = multiplied(a, b);
  if (!isInteger && !rewrite::allElements(product, [](double v) { return std::isfinite(v); }))
    return std::nullopt;
  return product;
}

static LogicalResult fromTheRight(tk::MatMulOp outer, PatternRewriter &rewriter) {
  tk::MatMulOp inner = outer.getTransposeLhs() ? nullptr : onlyReadHere(outer.getLhs());
  auto b = constantMatrix(outer.getRhs(), outer.getTransposeRhs());
  auto a = inner ? constantMatrix(inner.getRhs(), inner.getTransposeRhs()) : std::nullopt;
  auto product = a && b ? joined(*a, *b, outer, inner.getLhs()) : std::nullopt;
  if (!product)
    return failure();
  Location loc = mergeLocations(outer.getLoc(), inner.getLoc());
  rewriter
      .replaceOpWithNewOp<tk::MatMulOp>(outer, outer.getType(), inner.getLhs(),
                                        rewrite::makeConstant(rewriter, loc, *product),
                                        inner.getTransposeLhs(), false)
      ->setLoc(loc);
  return success();
}

static LogicalResult fromTheLeft(tk::MatMulOp outer, PatternRewriter &rewriter) {
  tk::MatMulOp inner = outer.getTransposeRhs() ? nullptr : onlyReadHere(outer.getRhs());
  auto a = constantMatrix(outer.getLhs(), outer.getTransposeLhs());
  auto b = inner ? constantMatrix(inner.getLhs(), inner.getTransposeLhs()) : std::nullopt;
  auto product = a && b ? joined(*a, *b, outer, inner.getRhs()) : std::nullopt;
  if (!product)
    return failure();
  Location loc = mergeLocations(outer.getLoc(), inner.getLoc());
  rewriter
      .replaceOpWithNewOp<tk::MatMulOp>(outer, outer.getType(),
                                        rewrite::makeConstant(rewriter, loc, *product), inner.getRhs(), false,
                                        inner.getTransposeRhs())
      ->setLoc(loc);
  return success();
}

namespace {
struct ReassociateProducts : tokamak::impl::ReassociateProductsBase<ReassociateProducts> {
  explicit ReassociateProducts(PassStatePtr state) : state(std::move(state)) {}

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(fromTheRight);
    patterns.add(fromTheLeft);
    rewrite::applyRewrites(getOperation(), std::move(patterns), *state, getArgument());
  }

  PassStatePtr state;
};
} // namespace

std::unique_ptr<Pass> tokamak::createReassociateProductsPass(PassStatePtr state) {
  return std::make_unique<ReassociateProducts>(orFresh(std::move(state)));
}
