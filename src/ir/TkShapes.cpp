//===- TkShapes.cpp - result types: shared checks, constants, elementwise ---------------===//
#include "ir/TkShapes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace tokamak::tk {
namespace shapes {

using mlir::failed;
using mlir::failure;
using mlir::success;

std::string show(llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [i, d] : llvm::enumerate(shape))
    text += (i ? "," : "") + llvm::itostr(d);
  return text + "]";
}

std::string show(mlir::Type elementType) {
  if (std::optional<DataType> type = fromMlir(elementType))
    return name(*type).str();
  std::string text;
  llvm::raw_string_ostream(text) << elementType;
  return text;
}

std::string show(mlir::Value tensor) { return show(elementOf(tensor)) + show(shapeOf(tensor)); }

mlir::LogicalResult give(Loc loc, llvm::ArrayRef<int64_t> shape, mlir::Type elementType, Types &results) {
  constexpr int64_t limit = int64_t(1) << 40;
  // Extents of 0 do not excuse the others: partial products are computed all over the compiler.
  int64_t product = 1;
  for (int64_t d : shape) {
    if (d < 0)
      return refuse(loc, "the result shape ", show(shape), " has a negative extent");
    if (d > limit / product)
      return refuse(loc, "the result shape ", show(shape), " has more than 2^40 elements");
    product *= std::max<int64_t>(d, 1);
  }
  results.push_back(mlir::RankedTensorType::get(shape, elementType));
  return success();
}

mlir::LogicalResult checkAxis(Loc loc, int64_t axis, int64_t rank) {
  if (axis >= 0 && axis < rank)
    return success();
  if (rank == 0)
    return refuse(loc, "axis ", axis, " of a scalar, which has no axes");
  return refuse(loc, "axis ", axis, " is out of range: rank ", rank, " has axes 0 to ", rank - 1);
}

mlir::LogicalResult checkLength(Loc loc, llvm::StringRef what, llvm::ArrayRef<int64_t> values, int64_t rank) {
  if (static_cast<int64_t>(values.size()) == rank)
    return success();
  return refuse(loc, what, " ", show(values), " should have ", rank, " values, one for each axis");
}

mlir::LogicalResult checkRange(Loc loc, llvm::StringRef what, llvm::ArrayRef<int64_t> values, int64_t low,
                               int bits) {
  for (int64_t v : values) {
    if (v < low)
      return refuse(loc, what, " ", show(values), " should be ", low, " or more");
    if (v >= (int64_t(1) << bits))
      return refuse(loc, what, " ", show(values), " should be below 2^", bits);
  }
  return success();
}

mlir::LogicalResult checkSameElement(Loc loc, mlir::ValueRange operands) {
  for (mlir::Value v : operands.drop_front(operands.empty() ? 0 : 1))
    if (elementOf(v) != elementOf(operands.front()))
      return refuse(loc, "operands have different element types: ", show(operands.front()), " and ", show(v));
  return success();
}

mlir::FailureOr<Extents> broadcastAll(Loc loc, mlir::ValueRange operands) {
  Extents shape;
  for (mlir::Value v : operands) {
    mlir::FailureOr<Extents> next = broadcastShapes(shape, shapeOf(v));
    if (failed(next)) {
      std::string all =
          llvm::join(llvm::map_range(operands, [](mlir::Value o) { return show(shapeOf(o)); }), " and ");
      return refuse(loc, "shapes ", all, " do not broadcast");
    }
    shape = std::move(*next);
  }
  return shape;
}

} // namespace shapes

using namespace shapes;
using mlir::failed;
using mlir::failure;

mlir::LogicalResult ConstantOp::inferReturnTypes(mlir::MLIRContext *, Loc loc, mlir::ValueRange,
                                                 mlir::DictionaryAttr attributes, mlir::OpaqueProperties,
                                                 mlir::RegionRange, Types &results) {
  auto value = llvm::dyn_cast_or_null<mlir::ElementsAttr>(attributes.get("value"));
  auto type = value ? llvm::dyn_cast<mlir::RankedTensorType>(value.getType()) : nullptr;
  if (!type)
    return refuse(loc, "a constant needs a tensor as its 'value'");
  return give(loc, type.getShape(), type.getElementType(), results);
}

mlir::LogicalResult detail::inferLikeInput(Loc loc, mlir::ValueRange operands, Types &results) {
  return give(loc, shapeOf(operands[0]), elementOf(operands[0]), results);
}

mlir::LogicalResult detail::inferTest(Loc loc, mlir::ValueRange operands, Types &results) {
  return give(loc, shapeOf(operands[0]), mlir::IntegerType::get(operands[0].getContext(), 1), results);
}

mlir::LogicalResult detail::inferBroadcast(Loc loc, mlir::ValueRange operands, Types &results) {
  mlir::FailureOr<Extents> shape = broadcastAll(loc, operands);
  if (failed(shape) || failed(checkSameElement(loc, operands)))
    return failure();
  return give(loc, *shape, elementOf(operands.front()), results);
}

TK_INFER(CompareOp) {
  mlir::FailureOr<Extents> shape = broadcastAll(loc, x.getOperands());
  if (failed(shape) || failed(checkSameElement(loc, x.getOperands())))
    return failure();
  return give(loc, *shape, mlir::IntegerType::get(x.getLhs().getContext(), 1), results);
}

TK_INFER(SelectOp) {
  mlir::FailureOr<Extents> shape = broadcastAll(loc, x.getOperands());
  if (failed(shape) || failed(checkSameElement(loc, x.getOperands().drop_front())))
    return failure();
  return give(loc, *shape, elementOf(x.getOnTrue()), results);
}

TK_INFER(CastOp) {
  if (!fromMlir(x.getTo()))
    return refuse(loc, "cannot convert to ", show(x.getTo()), ", which is no element type of tensors");
  return give(loc, shapeOf(x.getInput()), x.getTo(), results);
}

TK_INFER(BatchNormOp) {
  llvm::ArrayRef<int64_t> shape = shapeOf(x.getInput());
  if (shape.empty())
    return refuse(loc, "batch normalisation of a scalar");
  const int64_t channels = shape.size() > 1 ? shape[1] : 1;
  const std::pair<llvm::StringRef, mlir::Value> parameters[] = {
      {"scale", x.getScale()}, {"bias", x.getBias()}, {"mean", x.getMean()}, {"variance", x.getVariance()}};
  for (auto [what, value] : parameters)
    if (shapeOf(value) != llvm::ArrayRef(channels))
      return refuse(loc, what, " has shape ", show(shapeOf(value)), ", but the input ", show(shape), " has ",
                    channels, " channels");
  if (failed(checkSameElement(loc, x.getOperands())))
    return failure();
  return give(loc, shape, elementOf(x.getInput()), results);
}

} // namespace tokamak::tk
