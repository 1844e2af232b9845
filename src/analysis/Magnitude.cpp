//===- Magnitude.cpp - values that are known to be finite ------------------------------------------===//
#include "analysis/Magnitude.h"
#include "ir/Tk.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>

using namespace mlir;
using namespace tokamak;

namespace {

/// Operators that are followed before giving up: the chains of interest are short, and shared operands would
/// be visited over and over.
constexpr int mostSteps = 64;

class Bounds {
public:
  std::optional<double> of(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (auto integer = dyn_cast<IntegerType>(type.getElementType()))
      return std::ldexp(1.0, static_cast<int>(integer.getWidth()));
    if (auto argument = dyn_cast<BlockArgument>(value))
      return ofArgument(argument);
    Operation *op = value.getDefiningOp();
    if (++steps > mostSteps)
      return std::nullopt;
    std::optional<double> bound = ofResult(op);
    // Half of the largest number leaves room for rounding.
    const int exponent =
        llvm::APFloat::semanticsMaxExponent(cast<FloatType>(type.getElementType()).getFloatSemantics()) - 1;
    if (!bound || !(*bound < std::ldexp(1.0, exponent)))
      return std::nullopt;
    return bound;
  }

private:
  static std::optional<double> ofArgument(BlockArgument argument) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto bound = function
                     ? function.getArgAttrOfType<FloatAttr>(argument.getArgNumber(), analysis::boundAttribute)
                     : FloatAttr();
    return bound ? std::optional<double>(bound.getValueAsDouble()) : std::nullopt;
  }

  std::optional<double> ofConstant(Value value) {
    std::optional<Tensor> tensor = tk::constantValue(value);
    double bound = 0;
    for (int64_t i = 0; tensor && i < tensor->size(); ++i) {
      if (!std::isfinite(tensor->doubleAt(i)))
        return std::nullopt;
      bound = std::max(bound, std::abs(tensor->doubleAt(i)));
    }
    return tensor ? std::optional<double>(bound) : std::nullopt;
  }

  /// Bounds of the operands, combined; nothing where one has none. Constants come last, since all their
  /// elements are read.
  std::optional<double> combined(Operation *op, double start, double (*combine)(double, double)) {
    for (bool constants : {false, true})
      for (Value operand : op->getOperands()) {
        Operation *definition = operand.getDefiningOp();
        if ((definition && definition->hasTrait<OpTrait::ConstantLike>()) != constants)
          continue;
        auto bound = of(operand);
        if (!bound)
          return std::nullopt;
        start = combine(start, *bound);
      }
    return start;
  }
  std::optional<double> largestOperand(Operation *op) {
    return combined(op, 0, [](double a, double b) { return std::max(a, b); });
  }

  std::optional<double> ofResult(Operation *op) {
    if (op->hasTrait<OpTrait::ConstantLike>())
      return ofConstant(op->getResult(0));
    if (isa<tk::CastOp, tk::NegOp, tk::AbsOp, tk::MaxOp, tk::MinOp>(op))
      return largestOperand(op);
    if (isa<tk::AddOp, tk::SubOp>(op))
      return combined(op, 0, [](double a, double b) { return a + b; });
    if (isa<tk::MulOp>(op))
      return combined(op, 1, [](double a, double b) { return a * b; });
    // Elements are moved, or come from a value that is put between them.
    if (isa<tk::BroadcastOp, tk::ReshapeOp, tk::TransposeOp, tk::SliceOp, tk::ConcatOp, tk::PadOp>(op))
      return largestOperand(op);
    // Sums of products of the first two operands, and a bias.
    if (isa<tk::ConvOp, tk::ConvTransposeOp, tk::MatMulOp>(op)) {
      auto a = of(op->getOperand(0)); // most often without, and then no weights are read
      auto b = a ? of(op->getOperand(1)) : std::nullopt;
      if (!a || !b)
        return std::nullopt;
      auto bias = op->getNumOperands() > 2 ? of(op->getOperand(2)) : std::optional<double>(0);
      if (!bias)
        return std::nullopt;
      const auto products = static_cast<double>(tk::tensorType(op->getOperand(1)).getNumElements());
      return products * *a * *b + *bias;
    }
    return std::nullopt;
  }

  int steps = 0;
};

} // namespace

std::optional<double> analysis::magnitudeBound(Value value) { return Bounds().of(value); }
