//===- ReduceStrength.cpp - dear operators as cheap ones --------------------------------------===//
// pow(x, 2) -> x * x, and the exponents 0, 1, 3, -1, 0.5, -0.5; x / c -> x * (1 / c); x / sqrt(v) ->
// x * (1 / sqrt(v)), where v has fewer elements; a + -b -> a - b. A power costs some fifty cycles a vector, a
// division ten, a multiplication one half; and factors join others (gather-constants) and go into weights
// (fold-scale-shift), divisors do not.
//
// Contract: exact for the exponents 0, 1 and 2, for signs, and for divisors that are powers of two; otherwise
// on float32 and float64 alone, within 2 ulp. NaN, infinities and zeros with their signs come out as before:
// pow(-0, 0.5) is +0 and pow(-inf, 0.5) is inf, which square roots are not, so roots are taken only of what
// is never negative. Divisors without a normal reciprocal stay. Integers are left alone: their quotients
// truncate and their powers are defined in double.
#include "mlir/IR/PatternMatch.h"
#include "rewrite/ConstantOperands.h"
#include "rewrite/Passes.h"
#include "rewrite/RewriteDriver.h"
#include "rewrite/ValueFacts.h"

namespace tokamak {
#define GEN_PASS_DEF_REDUCESTRENGTH
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;
using rewrite::ConstantOperand;
using rewrite::constantOperand;
using rewrite::isWideFloat;
using rewrite::makeConstant;

static bool isFloatTensor(Value value) {
  std::optional<DataType> type = fromMlir(tk::tensorType(value).getElementType());
  return type && isFloat(*type);
}

static Value floatConstant(PatternRewriter &rewriter, Location loc, Value like, double value) {
  return makeConstant(rewriter, loc, Tensor::scalar(*fromMlir(tk::tensorType(like).getElementType()), value));
}

//===--------------------------------------------------------------------------------------------------------===//
// Powers
//===--------------------------------------------------------------------------------------------------------===//

/// x to `exponent` in cheaper operators; null where there are none.
static Value cheapPower(tk::PowOp op, Value x, double exponent, PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  Type type = op.getType();
  if (exponent == 0) // of NaN, too
    return rewriter.create<tk::BroadcastOp>(loc, type, floatConstant(rewriter, loc, x, 1),
                                            tk::tensorType(x).getShape());
  if (exponent == 1)
    return x;
  if (exponent == 2)
    return rewriter.create<tk::MulOp>(loc, type, x, x);
  if (!isWideFloat(x))
    return nullptr;
  if (exponent == 3)
    return rewriter.create<tk::MulOp>(loc, type, rewriter.create<tk::MulOp>(loc, type, x, x), x);
  if (exponent == -1)
    return rewriter.create<tk::DivOp>(loc, type, floatConstant(rewriter, loc, x, 1), x);
  if (std::abs(exponent) != 0.5 || !rewrite::isNeverNegative(x))
    return nullptr;
  Value root = rewriter.create<tk::SqrtOp>(loc, type, x);
  if (exponent > 0)
    return root;
  return rewriter.create<tk::DivOp>(loc, type, floatConstant(rewriter, loc, x, 1), root);
}

static LogicalResult reducePower(tk::PowOp op, PatternRewriter &rewriter) {
  std::optional<ConstantOperand> parts = constantOperand(op);
  if (!parts || parts->isLeft || !isFloatTensor(parts->x) || parts->constant.size() == 0)
    return failure();
  const double exponent = parts->constant.doubleAt(0);
  if (!rewrite::allElements(parts->constant, [&](double v) { return v == exponent; }))
    return failure();
  Value power = cheapPower(op, parts->x, exponent, rewriter);
  if (!power)
    return failure();
  rewriter.replaceOp(op, power);
  return success();
}

//===--------------------------------------------------------------------------------------------------------===//
// Quotients
//===--------------------------------------------------------------------------------------------------------===//

/// 1 / c for each element. Nothing where one is no normal number, or where it is not exact and the type is
/// narrow.
static std::optional<Tensor> reciprocal(const Tensor &divisor) {
  const bool isDouble = divisor.type() == DataType::Float64;
  const bool isNarrow = !isDouble && divisor.type() != DataType::Float32;
  // What has a normal reciprocal; half has the fewest exponents.
  const double most = isDouble ? 0x1p1000 : divisor.type() == DataType::Float16 ? 0x1p14 : 0x1p120;
  Tensor result(divisor.type(), divisor.shape());
  for (int64_t i = 0; i < divisor.size(); ++i) {
    const double value = divisor.doubleAt(i);
    int exponent = 0;
    const bool isPowerOfTwo = std::abs(std::frexp(value, &exponent)) == 0.5;
    if (!(std::abs(value) <= most) || std::abs(value) < 1 / most || (isNarrow && !isPowerOfTwo))
      return std::nullopt;
    result.setDouble(i, 1 / value);
  }
  return result;
}

static LogicalResult multiplyByReciprocal(tk::DivOp op, PatternRewriter &rewriter) {
  std::optional<ConstantOperand> parts = constantOperand(op);
  if (!parts || parts->isLeft || !isFloatTensor(parts->x))
    return failure();
  std::optional<Tensor> factor = reciprocal(parts->constant);
  if (!factor)
    return failure();
  rewriter.replaceOpWithNewOp<tk::MulOp>(op, op.getType(), parts->x,
                                         makeConstant(rewriter, op.getLoc(), *factor));
  return success();
}

/// x / sqrt(v) -> x * (1 / sqrt(v)), one division for each element of v. A square root is never so small that
/// its reciprocal overflows, except zero, where x / 0 and x * inf are the same.
static LogicalResult multiplyByReciprocalRoot(tk::DivOp op, PatternRewriter &rewriter) {
  auto root = op.getRhs().getDefiningOp<tk::SqrtOp>();
  if (!root || !root->hasOneUse() || !isWideFloat(op.getResult()) || op.getLhs().getType() != op.getType() ||
      root.getType().getNumElements() >= op.getType().getNumElements())
    return failure();
  Value inverse = rewriter.create<tk::DivOp>(root.getLoc(), root.getType(),
                                             floatConstant(rewriter, op.getLoc(), root, 1), root);
  rewriter.replaceOpWithNewOp<tk::MulOp>(op, op.getType(), op.getLhs(), inverse);
  return success();
}

//===--------------------------------------------------------------------------------------------------------===//
// Signs
//===--------------------------------------------------------------------------------------------------------===//

/// a + -b -> a - b, and -a + b -> b - a.
static LogicalResult subtractInstead(tk::AddOp op, PatternRewriter &rewriter) {
  for (auto [kept, other] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())})
    if (auto neg = other.getDefiningOp<tk::NegOp>()) {
      Location loc = mergeLocations(op.getLoc(), neg.getLoc());
      rewriter.replaceOp(op, rewriter.create<tk::SubOp>(loc, op.getType(), kept, neg.getInput()));
      return success();
    }
  return failure();
}

/// a - -b -> a + b.
static LogicalResult addInstead(tk::SubOp op, PatternRewriter &rewriter) {
  auto neg = op.getRhs().getDefiningOp<tk::NegOp>();
  if (!neg)
    return failure();
  Location loc = mergeLocations(op.getLoc(), neg.getLoc());
  rewriter.replaceOp(op, rewriter.create<tk::AddOp>(loc, op.getType(), op.getLhs(), neg.getInput()));
  return success();
}

namespace {
struct ReduceStrength : tokamak::impl::ReduceStrengthBase<ReduceStrength> {
  explicit ReduceStrength(PassStatePtr state) : state(std::move(state)) {}

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(reducePower)
        .add(multiplyByReciprocal)
        .add(multiplyByReciprocalRoot)
        .add(subtractInstead)
        .add(addInstead);
    rewrite::applyRewrites(getOperation(), std::move(patterns), *state, getArgument());
  }

  PassStatePtr state;
};
} // namespace

std::unique_ptr<Pass> tokamak::createReduceStrengthPass(PassStatePtr state) {
  return std::make_unique<ReduceStrength>(orFresh(std::move(state)));
}
