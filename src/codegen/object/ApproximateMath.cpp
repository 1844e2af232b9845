//===- ApproximateMath.cpp - functions of float32 as polynomials ----------------------------------------===//
#include "codegen/object/ApproximateMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <cmath>

namespace tokamak::codegen {

using namespace mlir;

namespace {

bool isFloat32(Type type) { return getElementTypeOrSelf(type).isF32(); }

/// `element`, as a vector of the shape of `like` where that is one.
Type typeLike(Type like, Type element) {
  auto vector = dyn_cast<VectorType>(like);
  return vector ? Type(vector.clone(element)) : element;
}

/// Builds arithmetic on scalars or vectors alike.
class Arithmetic : public ImplicitLocOpBuilder {
public:
  explicit Arithmetic(Operation *at) : ImplicitLocOpBuilder(at->getLoc(), at) {}

  Value number(Type type, double value) {
    auto scalar = FloatAttr::get(getElementTypeOrSelf(type), value);
    return constant(type, scalar);
  }
  Value integer(Type type, int64_t value) {
    return constant(type, IntegerAttr::get(getElementTypeOrSelf(type), value));
  }
  Value add(Value a, Value b) { return create<arith::AddFOp>(a, b); }
  Value sub(Value a, Value b) { return create<arith::SubFOp>(a, b); }
  Value mul(Value a, Value b) { return create<arith::MulFOp>(a, b); }
  Value mul(Value a, double b) { return mul(a, number(a.getType(), b)); }
  Value fma(Value a, Value b, Value c) { return create<math::FmaOp>(a, b, c); }
  Value less(Value a, double b) {
    return create<arith::CmpFOp>(arith::CmpFPredicate::OLT, a, number(a.getType(), b));
  }
  Value select(Value condition, Value a, Value b) { return create<arith::SelectOp>(condition, a, b); }
  /// The polynomial of `coefficients`, the highest power first.
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = number(x.getType(), coefficients.front());
    for (double coefficient : coefficients.drop_front())
      sum = fma(sum, x, number(x.getType(), coefficient));
    return sum;
  }
  Value hasBit(Value integers, int64_t bit) {
    Value masked = create<arith::AndIOp>(integers, integer(integers.getType(), bit));
    return create<arith::CmpIOp>(arith::CmpIPredicate::ne, masked, integer(integers.getType(), 0));
  }

private:
  Value constant(Type type, TypedAttr scalar) {
    if (auto vector = dyn_cast<VectorType>(type))
      return create<arith::ConstantOp>(DenseElementsAttr::get(vector, scalar));
    return create<arith::ConstantOp>(scalar);
  }
};

/// Calls libm's function for each element.
Value callEach(Arithmetic &b, Value x, func::FuncOp function) {
  auto vector = dyn_cast<VectorType>(x.getType());
  if (!vector)
    return b.create<func::CallOp>(function, x).getResult(0);
  auto flat = VectorType::get(vector.getNumElements(), vector.getElementType());
  Value elements = b.create<vector::ShapeCastOp>(flat, x);
  Value zero = b.create<arith::ConstantIndexOp>(0), one = b.create<arith::ConstantIndexOp>(1);
  Value count = b.create<arith::ConstantIndexOp>(flat.getNumElements());
  auto loop = b.create<scf::ForOp>(
      zero, count, one, elements, [&](OpBuilder &inner, Location at, Value i, ValueRange carried) {
        Value element = inner.create<vector::ExtractElementOp>(at, carried[0], i);
        Value result = inner.create<func::CallOp>(at, function, element).getResult(0);
        Value next = inner.create<vector::InsertElementOp>(at, result, carried[0], i);
        inner.create<scf::YieldOp>(at, next);
      });
  return b.create<vector::ShapeCastOp>(vector, loop.getResult(0));
}

func::FuncOp declareLibm(ModuleOp module, StringRef name) {
  if (auto known = module.lookupSymbol<func::FuncOp>(name))
    return known;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  Type type = builder.getF32Type();
  auto function = builder.create<func::FuncOp>(module.getLoc(), name, builder.getFunctionType(type, type));
  function.setPrivate();
  return function;
}

/// Sine (of x + quarters * pi/2) by reduction to [-pi/4, pi/4] in float64, with pi/2 in two parts (Cody and
/// Waite), and the polynomials of Moshier's Cephes library. From 2^32 on, where two parts no longer suffice,
/// libm computes.
Value sineOf(Arithmetic &b, Value x, int64_t quarters, func::FuncOp libm) {
  constexpr double twoOverPi = 0x1.45f306dc9c883p-1;
  constexpr double halfPi = 0x1.921fb54442d18p+0, halfPiRest = 0x1.1a62633145c07p-54;
  constexpr double sine[] = {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1};
  constexpr double cosine[] = {2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2};
  constexpr double most = 0x1p32;
  // sin x is x: keeps zero's sign, and subnormal numbers.
  constexpr double least = 0x1p-12;

  const Type type = x.getType(), wide = typeLike(type, b.getF64Type()), bits = typeLike(type, b.getI32Type());
  Value wideX = b.create<arith::ExtFOp>(wide, x);
  Value turns = b.create<math::RoundEvenOp>(b.mul(wideX, twoOverPi));
  Value rest = b.fma(turns, b.number(wide, -halfPi), wideX);
  rest = b.fma(turns, b.number(wide, -halfPiRest), rest);
  Value r = b.create<arith::TruncFOp>(type, rest), square = b.mul(r, r);

  Value fours = b.create<math::FloorOp>(b.mul(turns, 0.25));
  Value quarter = b.fma(fours, b.number(wide, -4), turns);
  quarter = b.create<arith::FPToSIOp>(bits, quarter);
  if (quarters)
    quarter = b.create<arith::AddIOp>(quarter, b.integer(bits, quarters));

  Value ofSine = b.fma(b.mul(b.polynomial(square, sine), square), r, r);
  Value ofCosine = b.fma(b.polynomial(square, cosine), b.mul(square, square),
                         b.fma(square, b.number(type, -0.5), b.number(type, 1)));
  Value result = b.select(b.hasBit(quarter, 1), ofCosine, ofSine);
  result = b.select(b.hasBit(quarter, 2), b.create<arith::NegFOp>(result), result);

  Value size = b.create<math::AbsFOp>(x);
  if (quarters == 0)
    result = b.select(b.less(size, least), x, result);
  // Of infinity and NaN the arithmetic above makes NaN, as it should.
  Value large = b.create<arith::AndIOp>(
      b.create<arith::CmpFOp>(arith::CmpFPredicate::OGE, size, b.number(type, most)), b.less(size, HUGE_VAL));
  if (isa<VectorType>(type)) {
    auto flat = VectorType::get(cast<VectorType>(type).getNumElements(), b.getI1Type());
    large =
        b.create<vector::ReductionOp>(vector::CombiningKind::OR, b.create<vector::ShapeCastOp>(flat, large));
  }
  auto branch = b.create<scf::IfOp>(type, large, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  b.create<scf::YieldOp>(callEach(b, x, libm));
  b.setInsertionPointToStart(branch.elseBlock());
  b.create<scf::YieldOp>(result);
  return branch.getResult(0);
}

/// Multiplies a subnormal operand by 2^23 and subtracts the logarithm of that again: MLIR's polynomial takes
/// the exponent from the bits, and all subnormal numbers for the smallest normal one.
void scaleSubnormal(Operation *log, double logOfScale) {
  Arithmetic b(log);
  Value x = log->getOperand(0);
  const Type type = x.getType();
  Value small = b.less(x, 0x1p-126);
  log->setOperand(0, b.select(small, b.mul(x, 0x1p23), x));
  b.setInsertionPointAfter(log);
  Value offset = b.select(small, b.number(type, logOfScale), b.number(type, 0));
  Value result = log->getResult(0), corrected = b.sub(result, offset);
  result.replaceAllUsesExcept(corrected, corrected.getDefiningOp());
}

/// Float32 in a register whose instructions scale by powers of two.
constexpr int64_t kScalableLanes = 16;

/// a * 2^floor(b), rounded once: overflow is infinite, what is small is subnormal.
Value scale(Arithmetic &b, Value value, Value exponent) {
  Value allLanes = b.create<arith::ConstantOp>(b.getI16IntegerAttr(-1));
  constexpr int32_t asTheModeSays = 4;
  Value rounding = b.create<arith::ConstantOp>(b.getI32IntegerAttr(asTheModeSays));
  return b
      .create<LLVM::CallIntrinsicOp>(value.getType(), b.getStringAttr("llvm.x86.avx512.mask.scalef.ps.512"),
                                     ValueRange{value, exponent, value, allLanes, rounding})
      .getResults();
}

/// e^x = 2^n e^r with n = x / ln 2 rounded, |r| <= ln 2 / 2. The polynomial 1 + r + r^2 q(r) is the one of
/// its degree whose largest relative error is least (3e-9; rounding makes it 1e-7 in all). NaN stays NaN.
Value exponentialOf(Arithmetic &b, Value x) {
  Type type = x.getType();
  // Beyond these the result is infinite or 0, and infinities would leave no remainder. Comparisons are such
  // that NaN passes.
  auto clamp = [&](arith::CmpFPredicate predicate, double limit) {
    Value bound = b.number(type, limit);
    x = b.select(b.create<arith::CmpFOp>(predicate, bound, x), bound, x);
  };
  clamp(arith::CmpFPredicate::OLT, 100);
  clamp(arith::CmpFPredicate::OGT, -110);
  Value n = b.create<math::RoundEvenOp>(b.mul(x, 1 / M_LN2));
  // ln 2 in two parts, of which the first has few bits, so that its products with n are exact.
  constexpr double high = 0x1.63p-1, low = M_LN2 - high;
  Value r = b.fma(n, b.number(type, -low), b.fma(n, b.number(type, -high), x));
  Value polynomial =
      b.polynomial(r, {0x1.6a2242p-10, 0x1.123b0ep-7, 0x1.5558f8p-5, 0x1.555490p-3, 0x1.fffffcp-2, 1, 1});
  return scale(b, polynomial, n);
}

/// Up to 1, x p(x^2). Beyond, 1 - 2^(|x| q(|x|)): the logarithm of what is missing to 1 is nearly a
/// polynomial. Both polynomials have the least largest error of their degrees (1e-9 of the result, 2e-9).
Value errorFunctionOf(Arithmetic &b, Value x) {
  Type type = x.getType();
  Value inner =
      b.mul(x, b.polynomial(b.mul(x, x), {0x1.496a3p-14, -0x1.a3f7p-11, 0x1.5405b2p-8, -0x1.b7f90ep-6,
                                          0x1.ce2cf8p-4, -0x1.81273ep-2, 0x1.20dd74p+0}));
  Value magnitude = b.create<math::AbsFOp>(x), one = b.number(type, 1);
  // From here on the result is 1; NaN passes.
  Value limit = b.number(type, 4.05);
  Value limited =
      b.select(b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, limit, magnitude), limit, magnitude);
  Value exponent = b.mul(limited, b.polynomial(limited, {0x1.3df554p-12, -0x1.2cf576p-8, 0x1.0d4c76p-5,
                                                         -0x1.3685d4p-3, -0x1.d5ac9ap-1, -0x1.a0c7a2p+0}));
  Value n = b.create<math::RoundEvenOp>(exponent);
  Value power = b.polynomial(b.sub(exponent, n),
                             {0x1.5bb988p-10, 0x1.3ceb1p-7, 0x1.c6b758p-5, 0x1.ebf9bap-3, 0x1.62e42ap-1, 1});
  Value outer = b.create<math::CopySignOp>(b.sub(one, scale(b, power, n)), x);
  return b.select(b.less(magnitude, 1), inner, outer);
}

struct ApproximateMath : PassWrapper<ApproximateMath, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ApproximateMath)
  explicit ApproximateMath(bool hasScaling) : hasScaling(hasScaling) {}
  StringRef getName() const override { return "approximate-math"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                    scf::SCFDialect, vector::VectorDialect>();
  }

  void runOnOperation() override {
    mendDomains();
    if (hasScaling)
      replaceByScaling();
    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(patterns);
    // MLIR's polynomials for asin and acos are off by 0.01 near 1: those two stay with libm.
    SmallVector<Operation *> work;
    getOperation().walk([&](Operation *op) {
      if (isa_and_nonnull<math::MathDialect>(op->getDialect()) && !isa<math::AsinOp, math::AcosOp>(op))
        work.push_back(op);
    });
    GreedyRewriteConfig config;
    config.strictMode = GreedyRewriteStrictness::ExistingAndNewOps;
    if (failed(applyOpPatternsAndFold(work, std::move(patterns), config)))
      signalPassFailure();
  }

private:
  void replaceByScaling() {
    SmallVector<Operation *> found;
    getOperation().walk([&](Operation *op) {
      if (!isa<math::ExpOp, math::ErfOp>(op))
        return;
      auto vector = dyn_cast<VectorType>(op->getResult(0).getType());
      if (vector && vector.getElementType().isF32() && vector.getShape() == ArrayRef(kScalableLanes))
        found.push_back(op);
    });
    for (Operation *op : found) {
      Arithmetic b(op);
      Value x = op->getOperand(0);
      op->getResult(0).replaceAllUsesWith(isa<math::ExpOp>(op) ? exponentialOf(b, x) : errorFunctionOf(b, x));
      op->erase();
    }
  }

  void mendDomains() {
    SmallVector<Operation *> found;
    getOperation().walk([&](Operation *op) {
      if (isa<math::SinOp, math::CosOp, math::LogOp, math::Log2Op>(op) &&
          isFloat32(op->getResult(0).getType()))
        found.push_back(op);
    });
    for (Operation *op : found) {
      if (isa<math::LogOp>(op)) {
        scaleSubnormal(op, 0x1.fe2804p+3); // 23 ln 2
      } else if (isa<math::Log2Op>(op)) {
        scaleSubnormal(op, 23);
      } else {
        const bool isSine = isa<math::SinOp>(op);
        func::FuncOp libm = declareLibm(getOperation(), isSine ? "sinf" : "cosf");
        Arithmetic b(op);
        op->getResult(0).replaceAllUsesWith(sineOf(b, op->getOperand(0), isSine ? 0 : 1, libm));
        op->erase();
      }
    }
  }

  bool hasScaling;
};

} // namespace

std::unique_ptr<Pass> createApproximateMathPass(const TargetDescription &target) {
  return std::make_unique<ApproximateMath>(target.hasMaskRegisters && target.lanes() == kScalableLanes);
}

} // namespace tokamak::codegen
