//===- GatherConstants.cpp - the constants of a chain, computed while compiling ---------------===//
// (x + a) + b -> x + (a + b), (x * a) * b -> x * (a * b), x * a + x * b -> x * (a + b), x * a + x -> x * (a +
// 1), x + x -> 2 * x, (x + a) + (y + b) -> (x + y) + (a + b); signs go into the constants.
//
// Contract: exact for signs, doublings, and for integers, which wrap. On float32 and float64 reassociating:
// a sum is within 2 eps of the sum of its terms' magnitudes, a product within 2 eps of its value, or within
// the least positive number times the larger factor. NaN and infinities come from the same inputs as before
// (see `mayJoinTerms`, `mayJoinFactors`) and zeros keep their signs. Narrower floats round and overflow after
// every operator and are left alone.
//
// A multiplication followed by an addition stays two operators: the emitter has both in registers, and no
// kernel or byte would be saved by a third operator for the two.
#include "mlir/IR/PatternMatch.h"
#include "rewrite/ConstantOperands.h"
#include "rewrite/Passes.h"
#include "rewrite/RewriteDriver.h"

namespace tokamak {
#define GEN_PASS_DEF_GATHERCONSTANTS
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;
using rewrite::allElements;
using rewrite::ConstantOperand;
using rewrite::constantOperand;
using rewrite::isIntegerTensor;
using rewrite::isWideFloat;
using rewrite::makeConstant;
using rewrite::negated;

//===--------------------------------------------------------------------------------------------------------===//
// What reassociating may not change
//===--------------------------------------------------------------------------------------------------------===//

/// Terms of unlike sign may cancel up to this magnitude. Beyond, the chain may be there for its roundings:
/// (x + 3 * 2^22) - 3 * 2^22 rounds x to an integer.
static constexpr double largestCancelling = 16;
/// A finite float32 plus a term of this magnitude stays finite: half an ulp of the largest number.
static constexpr double largestTerm = 0x1p102;

static bool haveOneSign(const Tensor &a, const Tensor &b) {
  auto both = [&](auto holds) { return allElements(a, holds) && allElements(b, holds); };
  return both([](double v) { return v >= 0; }) || both([](double v) { return v <= 0; });
}

/// Whether (x + a) + b may become x + (a + b). A term -0 is excluded since sums of zeros could then be -0.
static bool mayJoinTerms(const Tensor &a, const Tensor &b) {
  auto isTame = [](double v) { return std::abs(v) <= largestTerm && !rewrite::isNegativeZero(v); };
  auto isSmall = [](double v) { return std::abs(v) <= largestCancelling; };
  return allElements(a, isTame) && allElements(b, isTame) &&
         (haveOneSign(a, b) || (allElements(a, isSmall) && allElements(b, isSmall)));
}

/// Whether (x * a) * b may become x * (a * b): x * a must not overflow where b would bring it back.
static bool mayJoinFactors(const Tensor &a, const Tensor &b, const Tensor &product) {
  const bool isDouble = product.type() == DataType::Float64;
  const double least = isDouble ? 0x1p-1000 : 0x1p-120, most = isDouble ? 0x1p1000 : 0x1p120;
  auto isTame = [&](double v) { return std::abs(v) >= least && std::abs(v) <= most; };
  auto isAtMostOne = [](double v) { return std::abs(v) <= 1; };
  auto isAtLeastOne = [](double v) { return std::abs(v) >= 1; };
  return allElements(a, isTame) && allElements(b, isTame) && allElements(product, isTame) &&
         (allElements(a, isAtMostOne) || allElements(b, isAtLeastOne));
}

static Operation *onlyUseOf(Value value) { return value.hasOneUse() ? value.getDefiningOp() : nullptr; }

//===--------------------------------------------------------------------------------------------------------===//
// Sums
//===--------------------------------------------------------------------------------------------------------===//

namespace {
/// x + constant, or constant - x.
struct Sum {
  Value x;
  bool isNegated;
  Tensor constant;
};
} // namespace

static std::optional<Sum> asSum(Operation *op) {
  if (!llvm::isa_and_nonnull<tk::AddOp, tk::SubOp>(op))
    return std::nullopt;
  const bool isDifference = llvm::isa<tk::SubOp>(op);
  std::optional<ConstantOperand> parts = constantOperand(op);
  if (!parts || (isDifference && !parts->isLeft))
    return std::nullopt;
  return Sum{parts->x, isDifference, parts->constant};
}

static void replaceBySum(Operation *op, Location loc, const Sum &sum, PatternRewriter &rewriter) {
  Value constant = makeConstant(rewriter, loc, sum.constant);
  Type type = op->getResult(0).getType();
  if (sum.isNegated)
    rewriter.replaceOp(op, rewriter.create<tk::SubOp>(loc, type, constant, sum.x));
  else
    rewriter.replaceOp(op, rewriter.create<tk::AddOp>(loc, type, sum.x, constant));
}

/// x - c -> x + -c, the same number: sums with a constant then have two forms and not three.
static LogicalResult addNegatedConstant(tk::SubOp op, PatternRewriter &rewriter) {
  std::optional<ConstantOperand> parts = constantOperand(op);
  if (!parts || parts->isLeft)
    return failure();
  replaceBySum(op, op.getLoc(), {parts->x, false, negated(parts->constant)}, rewriter);
  return success();
}

/// A sum of a sum: x's sign and the terms combine.
static LogicalResult joinSums(Operation *op, PatternRewriter &rewriter) {
  std::optional<Sum> outer = asSum(op);
  if (!outer)
    return failure();
  Operation *innerOp = onlyUseOf(outer->x);
  std::optional<Sum> inner = asSum(innerOp);
  const bool isInteger = isIntegerTensor(outer->x);
  if (!inner || (!isInteger && !isWideFloat(outer->x)))
    return failure();
  const Tensor term = outer->isNegated ? negated(inner->constant) : inner->constant;
  std::optional<Tensor> joined = rewrite::sum(term, outer->constant);
  if (!joined || (!isInteger && !mayJoinTerms(term, outer->constant)))
    return failure();
  replaceBySum(op, mergeLocations(innerOp->getLoc(), op->getLoc()),
               {inner->x, inner->isNegated != outer->isNegated, *joined}, rewriter);
  return success();
}

/// -x + c -> c - x and c - -x -> x + c: the same numbers.
static LogicalResult negateInSum(Operation *op, PatternRewriter &rewriter) {
  std::optional<Sum> sum = asSum(op);
  auto neg = sum ? sum->x.getDefiningOp<tk::NegOp>() : nullptr;
  if (!neg)
    return failure();
  replaceBySum(op, mergeLocations(neg.getLoc(), op->getLoc()),
               {neg.getInput(), !sum->isNegated, sum->constant}, rewriter);
  return success();
}

/// (x + a) + (y + b) -> (x + y) + (a + b), one addition less.
static LogicalResult joinTermsOfBoth(tk::AddOp op, PatternRewriter &rewriter) {
  std::optional<Sum> left = asSum(onlyUseOf(op.getLhs())), right = asSum(onlyUseOf(op.getRhs()));
  if (!left || !right || left->isNegated || right->isNegated || left->x.getType() != op.getType() ||
      right->x.getType() != op.getType())
    return failure();
  const bool isInteger = isIntegerTensor(op.getResult());
  std::optional<Tensor> joined = rewrite::sum(left->constant, right->constant);
  if (!joined ||
      (!isInteger && (!isWideFloat(op.getResult()) || !mayJoinTerms(left->constant, right->constant))))
    return failure();
  Location terms =
      mergeLocations(op.getLhs().getDefiningOp()->getLoc(), op.getRhs().getDefiningOp()->getLoc());
  Value both = rewriter.create<tk::AddOp>(op.getLoc(), op.getType(), left->x, right->x);
  replaceBySum(op, mergeLocations(op.getLoc(), terms), {both, false, *joined}, rewriter);
  return success();
}

//===--------------------------------------------------------------------------------------------------------===//
// Products
//===--------------------------------------------------------------------------------------------------------===//

static LogicalResult joinProducts(tk::MulOp op, PatternRewriter &rewriter) {
  std::optional<ConstantOperand> outer = constantOperand(op);
  auto innerOp = llvm::dyn_cast_or_null<tk::MulOp>(outer ? onlyUseOf(outer->x) : nullptr);
  std::optional<ConstantOperand> inner = constantOperand(innerOp);
  if (!inner)
    return failure();
  std::optional<Tensor> joined = rewrite::product(inner->constant, outer->constant);
  if (!joined || (!isIntegerTensor(outer->x) &&
                  (!isWideFloat(outer->x) || !mayJoinFactors(inner->constant, outer->constant, *joined))))
    return failure();
  Location loc = mergeLocations(innerOp.getLoc(), op.getLoc());
  rewriter.replaceOp(
      op, rewriter.create<tk::MulOp>(loc, op.getType(), inner->x, makeConstant(rewriter, loc, *joined)));
  return success();
}

/// -x * c -> x * -c and -(x * c) -> x * -c: the sign of a product is the product of the signs.
static LogicalResult negateFactor(Operation *op, PatternRewriter &rewriter) {
  Operation *product = op, *negation = nullptr;
  if (auto neg = llvm::dyn_cast<tk::NegOp>(op)) {
    product = llvm::dyn_cast_or_null<tk::MulOp>(onlyUseOf(neg.getInput()));
    negation = neg;
  } else if (!llvm::isa<tk::MulOp>(op)) {
    return failure();
  }
  std::optional<ConstantOperand> parts = constantOperand(product);
  if (!parts)
    return failure();
  Value x = parts->x;
  if (!negation) {
    auto neg = x.getDefiningOp<tk::NegOp>();
    if (!neg)
      return failure();
    negation = neg;
    x = neg.getInput();
  }
  Location loc = op == negation ? mergeLocations(product->getLoc(), op->getLoc())
                                : mergeLocations(negation->getLoc(), op->getLoc());
  rewriter.replaceOp(op, rewriter.create<tk::MulOp>(loc, op->getResult(0).getType(), x,
                                                    makeConstant(rewriter, loc, negated(parts->constant))));
  return success();
}

//===--------------------------------------------------------------------------------------------------------===//
// Sums of multiples
//===--------------------------------------------------------------------------------------------------------===//

/// `value` as a constant of the element type of `op`.
static Tensor number(tk::AddOp op, int64_t value) {
  const DataType type = *fromMlir(op.getType().getElementType());
  return isFloat(type) ? Tensor::scalar(type, static_cast<double>(value)) : Tensor::scalarInt(type, value);
}

/// x + x -> x * 2: exact, and a factor joins others where a sum does not.
static LogicalResult doubleValue(tk::AddOp op, PatternRewriter &rewriter) {
  if (op.getLhs() != op.getRhs() || op.getLhs().getType() != op.getType())
    return failure();
  rewriter.replaceOpWithNewOp<tk::MulOp>(op, op.getType(), op.getLhs(),
                                         makeConstant(rewriter, op.getLoc(), number(op, 2)));
  return success();
}

/// x * a + x * b -> x * (a + b), where one of the two may be x itself. Of floats both factors have one sign,
/// or infinite x would give NaN for one form alone, and neither is zero.
static LogicalResult addFactors(tk::AddOp op, PatternRewriter &rewriter) {
  auto product = [](Value term) -> std::optional<ConstantOperand> {
    auto mul = llvm::dyn_cast_or_null<tk::MulOp>(onlyUseOf(term));
    return mul ? constantOperand(mul) : std::nullopt;
  };
  std::optional<ConstantOperand> a = product(op.getLhs()), b = product(op.getRhs());
  if (a && a->x == op.getRhs())
    b = {a->x, number(op, 1), false};
  else if (b && b->x == op.getLhs())
    a = {b->x, number(op, 1), false};
  if (!a || !b || a->x != b->x || a->x.getType() != op.getType())
    return failure();
  std::optional<Tensor> factor = rewrite::sum(a->constant, b->constant);
  if (!factor)
    return failure();
  auto isTame = [](double v) { return std::abs(v) >= 0x1p-120 && std::abs(v) <= 0x1p120; };
  if (!isIntegerTensor(op.getResult()) &&
      (!isWideFloat(op.getResult()) || !haveOneSign(a->constant, b->constant) ||
       !allElements(a->constant, isTame) || !allElements(b->constant, isTame)))
    return failure();
  Location loc = op.getLoc();
  for (Value term : {op.getLhs(), op.getRhs()})
    if (term != a->x)
      loc = mergeLocations(loc, term.getLoc());
  rewriter.replaceOp(
      op, rewriter.create<tk::MulOp>(loc, op.getType(), a->x, makeConstant(rewriter, loc, *factor)));
  return success();
}

/// A pattern for operators of more than one kind, as one for operators `Op`.
template <typename Op, LogicalResult (*pattern)(Operation *, PatternRewriter &)>
static LogicalResult rootedAt(Op op, PatternRewriter &rewriter) {
  return pattern(op, rewriter);
}

namespace {
struct GatherConstants : tokamak::impl::GatherConstantsBase<GatherConstants> {
  explicit GatherConstants(PassStatePtr state) : state(std::move(state)) {}

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(addNegatedConstant)
        .add(rootedAt<tk::AddOp, joinSums>)
        .add(rootedAt<tk::SubOp, joinSums>)
        .add(rootedAt<tk::AddOp, negateInSum>)
        .add(rootedAt<tk::SubOp, negateInSum>)
        .add(joinTermsOfBoth)
        .add(joinProducts)
        .add(rootedAt<tk::MulOp, negateFactor>)
        .add(rootedAt<tk::NegOp, negateFactor>)
        .add(doubleValue)
        .add(addFactors);
    rewrite::applyRewrites(getOperation(), std::move(patterns), *state, getArgument());
  }

  PassStatePtr state;
};
} // namespace

std::unique_ptr<Pass> tokamak::createGatherConstantsPass(PassStatePtr state) {
  return std::make_unique<GatherConstants>(orFresh(std::move(state)));
}
