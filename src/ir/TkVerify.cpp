//===- TkVerify.cpp - verifiers beyond operand types and inference -----------------------===//
#include "ir/Tk.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/STLExtras.h"

namespace tokamak::tk {

using mlir::failed;
using mlir::failure;
using mlir::success;

mlir::LogicalResult ConstantOp::verify() {
  mlir::ElementsAttr value = getValue();
  if (auto resource = llvm::dyn_cast<mlir::DenseResourceElementsAttr>(value)) {
    // Elements take whole bytes here, bool too.
    const mlir::AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    const size_t expected =
        static_cast<size_t>(getType().getNumElements()) * byteSize(*fromMlir(getType().getElementType()));
    if (!blob)
      return emitOpError() << "refers to resource '" << resource.getRawHandle().getKey()
                           << "', which has no data";
    if (blob->getData().size() != expected)
      return emitOpError() << "refers to resource '" << resource.getRawHandle().getKey() << "' of "
                           << blob->getData().size() << " bytes, but its type takes " << expected;
    return success();
  }
  if (!llvm::isa<mlir::DenseIntOrFPElementsAttr>(value))
    return emitOpError("needs its elements as dense<...> or dense_resource<...>");
  return success();
}

/// Shapes and the other attributes were checked by inference.
mlir::LogicalResult ConvOp::verify() {
  if (!getWinograd())
    return success();
  const auto refuse = [&] { return emitOpError("has attribute 'winograd', but "); };
  if (*getWinograd() != 2 && *getWinograd() != 4)
    return refuse() << "there are no tiles of " << *getWinograd() << "x" << *getWinograd()
                    << " results, of 2x2 and 4x4 only";
  if (!tensorType(getInput()).getElementType().isF32())
    return refuse() << "its elements are " << tensorType(getInput()).getElementType() << ", not f32";
  llvm::ArrayRef<int64_t> kernel = tensorType(getWeight()).getShape().drop_front(2);
  if (kernel != llvm::ArrayRef<int64_t>({3, 3}))
    return refuse() << "its kernel is [" << kernel << "], not [3, 3]";
  auto isOne = [](int64_t x) { return x == 1; };
  if (!llvm::all_of(getStrides(), isOne) || !llvm::all_of(getDilations(), isOne))
    return refuse() << "it has strides or dilations";
  if (getGroup() != 1)
    return refuse() << "it has " << getGroup() << " groups";
  return success();
}

//===--------------------------------------------------------------------------------------------------------===//
// Regions: verified after the operations in them, whose kinds are asked for.
//===--------------------------------------------------------------------------------------------------------===//

/// The region ends in tk.yield; returns it.
static mlir::FailureOr<YieldOp> yieldOf(mlir::Operation *op, mlir::Region &region) {
  if (auto yield = llvm::dyn_cast<YieldOp>(region.front().back()))
    return yield;
  return op->emitOpError("should end its body with tk.yield");
}

static mlir::LogicalResult checkTypes(mlir::Operation *op, llvm::StringRef what, mlir::TypeRange actual,
                                      llvm::StringRef expectation, mlir::TypeRange expected) {
  if (actual == expected)
    return success();
  return op->emitOpError() << what << " (" << actual << "), but " << expectation << " (" << expected << ")";
}

/// A body that sees its operands as block arguments and yields the results, of operators that one kernel can
/// hold.
static mlir::LogicalResult verifyBody(mlir::Operation *op, mlir::Region &body) {
  mlir::FailureOr<YieldOp> yield = yieldOf(op, body);
  if (failed(yield) ||
      failed(checkTypes(op, "has a body that takes", body.getArgumentTypes(), "operands",
                        op->getOperandTypes())) ||
      failed(checkTypes(op, "has a body that yields", yield->getOperandTypes(), "results",
                        op->getResultTypes())))
    return failure();
  for (mlir::Operation &inner : body.front().without_terminator()) {
    auto kinded = llvm::dyn_cast<FusionKindInterface>(inner);
    if (kinded && !inner.getNumRegions() && kinded.getFusionKind() != FusionKind::Opaque)
      continue;
    if (llvm::isa<CompositeOp>(inner) && !llvm::isa<CompositeOp>(op))
      continue;
    return op->emitOpError() << "cannot hold " << inner.getName() << ", which is no part of a kernel";
  }
  return success();
}

mlir::LogicalResult CompositeOp::verifyRegions() {
  if (failed(verifyBody(*this, getBody())))
    return failure();
  auto isAnchor = [](mlir::Operation &op) {
    auto kinded = llvm::dyn_cast<FusionKindInterface>(op);
    return kinded && kinded.getFusionKind() == FusionKind::Anchor;
  };
  if (llvm::count_if(getBody().front(), isAnchor) > 1)
    return emitOpError("holds more than one matrix product, convolution or window");
  return success();
}

mlir::LogicalResult FusionOp::verifyRegions() { return verifyBody(*this, getBody()); }

mlir::LogicalResult IfOp::verifyRegions() {
  if (tensorType(getCondition()).getNumElements() != 1)
    return emitOpError() << "needs a condition of one element, not " << getCondition().getType();
  for (mlir::Region *region : {&getThenRegion(), &getElseRegion()}) {
    mlir::FailureOr<YieldOp> yield = yieldOf(*this, *region);
    if (failed(yield) || failed(checkTypes(*this, "has a branch that yields", yield->getOperandTypes(),
                                           "results", getResultTypes())))
      return failure();
  }
  return success();
}

mlir::LogicalResult LoopOp::verifyRegions() {
  mlir::MLIRContext *context = getContext();
  auto scalar = [&](DataType type) { return mlir::RankedTensorType::get({}, toMlir(type, context)); };
  if (getTripLimit() && (tensorType(getTripLimit()).getNumElements() != 1 ||
                         !tensorType(getTripLimit()).getElementType().isInteger(64)))
    return emitOpError() << "needs a limit of one int64, not " << getTripLimit().getType();
  if (getCondition() && tensorType(getCondition()).getNumElements() != 1)
    return emitOpError() << "needs a condition of one element, not " << getCondition().getType();
  const auto trips = static_cast<int64_t>(getScanTrips());
  if (trips < 0)
    return emitOpError() << "has a negative number of iterations";

  llvm::SmallVector<mlir::Type> arguments = {scalar(DataType::Int64), scalar(DataType::Bool)};
  llvm::append_range(arguments, getCarried().getTypes());
  mlir::FailureOr<YieldOp> yield = yieldOf(*this, getBody());
  if (failed(yield) || failed(checkTypes(*this, "has a body that takes", getBody().getArgumentTypes(),
                                         "iteration, condition and carried values are", arguments)))
    return failure();

  mlir::TypeRange yielded = yield->getOperandTypes();
  const size_t carried = getCarried().size();
  if (yielded.size() != 1 + getNumResults() || getNumResults() < carried)
    return emitOpError() << "should yield a condition and one value for each of its " << getNumResults()
                         << " results, " << carried << " of them carried";
  auto condition = llvm::cast<mlir::RankedTensorType>(yielded.front());
  if (!condition.getElementType().isInteger(1) || condition.getNumElements() != 1)
    return emitOpError() << "should yield one bool as the next condition, not " << condition;
  llvm::SmallVector<mlir::Type> outputs(getCarried().getTypes());
  for (mlir::Type type : yielded.drop_front(1 + carried)) {
    auto tensor = llvm::cast<mlir::RankedTensorType>(type);
    llvm::SmallVector<int64_t> shape = {trips};
    llvm::append_range(shape, tensor.getShape());
    outputs.push_back(mlir::RankedTensorType::get(shape, tensor.getElementType()));
  }
  if (failed(checkTypes(*this, "has a body that yields carried values", yielded.slice(1, carried), "carries",
                        getCarried().getTypes())))
    return failure();
  return checkTypes(*this, "has results", getResultTypes(), "its body gives", outputs);
}

} // namespace tokamak::tk
