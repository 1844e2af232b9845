//===- ValueFacts.cpp - what is known of values whatever the inputs are ------------------------===//
#include "rewrite/ValueFacts.h"
#include "rewrite/ConstantOperands.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tokamak;

/// Operators looked through at most.
static constexpr int mostSteps = 8;

static bool isNeverNegative(Value value, int steps);

static bool areNeverNegative(OperandRange operands, int steps) {
  return llvm::all_of(operands, [&](Value operand) { return isNeverNegative(operand, steps); });
}

static bool isNeverNegative(Value value, int steps) {
  Operation *op = value.getDefiningOp();
  std::optional<DataType> type = fromMlir(tk::tensorType(value).getElementType());
  if (!op || steps == 0 || !type || !isFloat(*type))
    return false;
  --steps;
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([](tk::ConstantOp constant) {
        std::optional<Tensor> tensor = rewrite::compactConstant(constant);
        return tensor && rewrite::allElements(*tensor, [](double v) { return !std::signbit(v); });
      })
      .Case<tk::ExpOp, tk::AbsOp>([](auto) { return true; })
      .Case([&](tk::MulOp mul) {
        return mul.getLhs() == mul.getRhs() || areNeverNegative(mul->getOperands(), steps);
      })
      .Case([&](tk::MaxOp max) { // +0 is above -0
        return isNeverNegative(max.getLhs(), steps) || isNeverNegative(max.getRhs(), steps);
      })
      .Case([&](tk::PowOp pow) {
        std::optional<Tensor> exponent = rewrite::compactConstant(pow.getRhs());
        return (exponent && rewrite::allElements(*exponent, [](double v) { return v == 2; })) ||
               isNeverNegative(pow.getLhs(), steps);
      })
      .Case<tk::AddOp, tk::DivOp, tk::MinOp, tk::SqrtOp, tk::ReshapeOp, tk::TransposeOp, tk::BroadcastOp,
            tk::SliceOp, tk::ConcatOp>(
          [&](auto inner) { return areNeverNegative(inner->getOperands(), steps); })
      .Case([&](tk::ReduceOp reduce) { // the largest of no elements is -inf
        return reduce.getKind() != tk::ReduceKind::Max && isNeverNegative(reduce.getInput(), steps);
      })
      .Default(false);
}

bool rewrite::isNeverNegative(Value value) { return ::isNeverNegative(value, mostSteps); }

/// Whether no element is infinity of the sign that `positive` says.
static bool isNever(bool positive, Value value, int steps) {
  Operation *op = value.getDefiningOp();
  std::optional<DataType> type = fromMlir(tk::tensorType(value).getElementType());
  if (!op || steps == 0 || !type || !isFloat(*type))
    return false;
  --steps;
  auto never = [&](bool sign) { return [=](Value operand) { return isNever(sign, operand, steps); }; };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](tk::ConstantOp constant) {
        std::optional<Tensor> tensor = rewrite::compactConstant(constant);
        return tensor &&
               rewrite::allElements(*tensor, [&](double v) { return !std::isinf(v) || (v > 0) != positive; });
      })
      .Case<tk::TanhOp, tk::ErfOp, tk::SinOp, tk::CosOp, tk::AtanOp>([](auto) { return true; })
      .Case<tk::ExpOp>([&](auto) { return !positive; })
      // A maximum is as low as its lowest operand at least, a minimum as high as its highest at most.
      .Case([&](tk::MaxOp max) {
        return positive ? llvm::all_of(max->getOperands(), never(true))
                        : llvm::any_of(max->getOperands(), never(false));
      })
      .Case([&](tk::MinOp min) {
        return positive ? llvm::any_of(min->getOperands(), never(true))
                        : llvm::all_of(min->getOperands(), never(false));
      })
      .Case([&](tk::NegOp neg) { return isNever(!positive, neg.getInput(), steps); })
      .Case<tk::ReshapeOp, tk::TransposeOp, tk::BroadcastOp, tk::SliceOp, tk::ConcatOp>(
          [&](auto inner) { return llvm::all_of(inner->getOperands(), never(positive)); })
      .Default(false);
}

bool rewrite::isNeverInfinite(Value value) {
  return isNever(true, value, mostSteps) && isNever(false, value, mostSteps);
}
