//===- WideEvaluation.cpp - what operators compute without rounding and overflow ----------------===//
#include "rewrite/rules/WideEvaluation.h"
#include "ir/Tk.h"
#include "mlir/IR/Block.h"
#include "reference/Elements.h"
#include "reference/Evaluate.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rules;

static constexpr double infinite = std::numeric_limits<double>::infinity();

static DataType wideType(DataType type, DataType integers = DataType::Int64) {
  return isFloat(type) ? DataType::Float64 : isInteger(type) ? integers : type;
}

static Tensor converted(const Tensor &tensor, DataType type) {
  if (tensor.type() == type)
    return tensor;
  Tensor result(type, tensor.shape());
  for (int64_t i = 0; i < tensor.size(); ++i)
    if (isFloat(tensor.type()) || isFloat(type))
      result.setDouble(i, tensor.doubleAt(i));
    else
      result.setInt(i, tensor.intAt(i));
  return result;
}

/// To clip at the ends of its own type is what a saturating conversion computes. Others overflow there.
static bool clips(Operation *op) {
  auto cast = llvm::dyn_cast<tk::CastOp>(op);
  return cast && cast.getSaturate();
}

/// `op` on `operands`, whose types it takes on; integers of its results are `integers`.
static FailureOr<llvm::SmallVector<Tensor>> evaluateAs(Operation *op, llvm::ArrayRef<Tensor> operands,
                                                       DataType integers) {
  MLIRContext *context = op->getContext();
  auto widened = [&](Type type) {
    return clips(op) ? type : toMlir(wideType(*fromMlir(type), integers), context);
  };
  Block scope;
  OperationState state(op->getLoc(), op->getName());
  for (const Tensor &operand : operands)
    state.operands.push_back(scope.addArgument(operand.mlirType(context), op->getLoc()));
  for (NamedAttribute attribute : op->getAttrs()) {
    auto type = llvm::dyn_cast<TypeAttr>(attribute.getValue());
    state.addAttribute(attribute.getName(),
                       type ? TypeAttr::get(widened(type.getValue())) : attribute.getValue());
  }
  for (Value result : op->getResults()) {
    auto type = tk::tensorType(result);
    state.types.push_back(RankedTensorType::get(type.getShape(), widened(type.getElementType())));
  }
  Operation *wide = Operation::create(state);
  FailureOr<llvm::SmallVector<Tensor>> results = reference::evaluate(wide, operands);
  wide->destroy();
  return results;
}

/// Operators on bits mean those of their own type, which has all of their results.
static FailureOr<llvm::SmallVector<Tensor>> evaluateBits(Operation *op, llvm::ArrayRef<Tensor> operands) {
  llvm::SmallVector<Tensor> narrow;
  for (auto [value, tensor] : llvm::zip_equal(op->getOperands(), operands))
    narrow.push_back(converted(tensor, *fromMlir(tk::tensorType(value).getElementType())));
  return reference::evaluate(op, narrow);
}

/// Whether the type of `element`, which is no bool, does not reach as far as `value`.
static bool isBeyond(DataType element, double value) {
  if (isFloat(element)) {
    const double most = element == DataType::Float64   ? std::numeric_limits<double>::max()
                        : element == DataType::Float16 ? 65504.0
                                                       : 3.39e38;
    return std::fabs(value) > most;
  }
  const double end = std::ldexp(1.0, static_cast<int>(8 * byteSize(element)) - (isUnsigned(element) ? 0 : 1));
  return isUnsigned(element) ? value < 0 || value >= end : value < -end || value >= end;
}

/// Infinities that no overflow makes: of 1 / 0 and log(0).
static bool hasPoles(Operation *op) { return llvm::isa<tk::DivOp, tk::LogOp>(op); }

/// Integers of 64 bits have no wider type. Sums, products and conversions to them, roughly, where `op` is
/// one.
static std::optional<Tensor> roughly(Operation *op, llvm::ArrayRef<Tensor> operands) {
  if (llvm::isa<tk::CastOp>(op))
    return converted(operands[0], DataType::Float64);
  if (!llvm::isa<tk::AddOp, tk::SubOp, tk::MulOp, tk::NegOp, tk::PowOp, tk::MatMulOp, tk::ConvOp,
                 tk::WindowOp, tk::ReduceOp, tk::CumSumOp>(op))
    return std::nullopt;
  llvm::SmallVector<Tensor> floats;
  for (const Tensor &operand : operands)
    floats.push_back(converted(operand, DataType::Float64));
  auto results = evaluateAs(op, floats, DataType::Float64);
  return succeeded(results) ? std::optional(results->front()) : std::nullopt;
}

/// A batch norm's parameters do not broadcast as NumPy does.
static bool isElementwise(Operation *op) {
  auto kind = llvm::dyn_cast<tk::FusionKindInterface>(op);
  return kind && kind.getFusionKind() <= FusionKind::Broadcast && !llvm::isa<tk::BatchNormOp>(op);
}

/// Of each element on its own where the operator is elementwise, else of all together.
static std::vector<double> magnitudesOf(Operation *op, const Tensor &result,
                                        llvm::ArrayRef<WideEvaluation::Wide> operands) {
  std::vector<double> magnitudes(static_cast<size_t>(result.size()), 0);
  for (const WideEvaluation::Wide &operand : operands) {
    const Tensor &values = operand.values;
    auto shape = tk::broadcastShapes(values.shape(), result.shape());
    if (isElementwise(op) && succeeded(shape) && llvm::equal(*shape, result.shape())) {
      size_t i = 0;
      reference::walk<1>(result.shape(), {0}, {reference::broadcastStrides(values.shape(), result.shape())},
                         [&](const std::array<int64_t, 1> &at) {
                           double &magnitude = magnitudes[i++];
                           magnitude = std::max(magnitude, operand.magnitudes[static_cast<size_t>(at[0])]);
                         });
    } else if (!operand.magnitudes.empty()) {
      const double most = *llvm::max_element(operand.magnitudes);
      for (double &magnitude : magnitudes)
        magnitude = std::max(magnitude, most);
    }
  }
  return magnitudes;
}

std::optional<WideEvaluation::Wide> WideEvaluation::evaluate(Value value, Input input) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  if (std::optional<Tensor> given = input(value)) {
    Wide wide{converted(*given, wideType(given->type())), {}};
    for (int64_t i = 0; i < wide.values.size(); ++i) {
      // The upper half of uint64 has no wider type.
      const bool isBeyondInt64 = given->type() == DataType::UInt64 && given->intAt(i) < 0;
      wide.magnitudes.push_back(isBeyondInt64 ? infinite : std::fabs(wide.values.doubleAt(i)));
    }
    return known[value] = wide;
  }
  Operation *op = value.getDefiningOp();
  llvm::SmallVector<Wide> operands;
  llvm::SmallVector<Tensor> tensors;
  for (Value operand : op->getOperands()) {
    std::optional<Wide> wide = evaluate(operand, input);
    if (!wide)
      return std::nullopt;
    tensors.push_back(wide->values);
    operands.push_back(std::move(*wide));
  }
  auto results = llvm::isa<tk::BitNotOp, tk::BitAndOp, tk::BitOrOp, tk::BitXorOp, tk::ShiftRightOp>(op)
                     ? evaluateBits(op, tensors)
                     : evaluateAs(op, tensors, DataType::Int64);
  if (failed(results))
    return std::nullopt;
  for (auto [result, tensor] : llvm::zip_equal(op->getResults(), *results)) {
    const DataType element = *fromMlir(tk::tensorType(result).getElementType());
    Wide wide{converted(tensor, wideType(tensor.type())), magnitudesOf(op, tensor, operands)};
    std::optional<Tensor> rough;
    if (isInteger(element) && byteSize(element) == 8)
      rough = roughly(op, tensors);
    for (int64_t i = 0; i < tensor.size() && element != DataType::Bool; ++i) {
      double &magnitude = wide.magnitudes[static_cast<size_t>(i)];
      const double found = (rough ? *rough : wide.values).doubleAt(i);
      if (!std::isnan(found))
        magnitude = std::max(magnitude, std::isinf(found) && hasPoles(op) ? 0 : std::fabs(found));
      if (isBeyond(element, found) && !clips(op) && !(std::isinf(found) && hasPoles(op)))
        magnitude = infinite;
    }
    known[result] = std::move(wide);
  }
  return known[value];
}

bool rules::isElementByElement(llvm::ArrayRef<Operation *> operators) {
  return llvm::all_of(operators, [](Operation *op) {
    auto kind = llvm::dyn_cast<tk::FusionKindInterface>(op);
    return kind && kind.getFusionKind() <= FusionKind::Injective;
  });
}
