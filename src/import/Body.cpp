//===- Body.cpp - building tk operations, with folding -------------------------------------===//
#include "import/ElementTypeFault.h"
#include "import/IndexCheck.h"
#include "import/NodeContext.h"
#include "mlir/IR/Diagnostics.h"
#include "reference/Evaluate.h"
#include "llvm/Support/MathExtras.h"

namespace tokamak::import {

using mlir::NamedAttribute;

/// Results up to this many elements fold while importing: shape arithmetic and small tables. Larger constants
/// stay operations for the constant folding pass, which is timed and can be switched off.
static constexpr int64_t maxFoldedElements = 64 * 1024;
static constexpr int64_t maxFoldedSplatElements = 1024 * 1024;
static constexpr int64_t maxFoldedFlops = 16 * 1024 * 1024;
/// No tensor of the graph is larger than this (bytes): sizes stay far from overflow in every later
/// computation.
static constexpr int64_t maxTensorBytes = int64_t(1) << 42;

/// Kernels have a loop, and code, for each axis. NumPy stops at 64.
static constexpr int64_t maxRank = 128;

llvm::ArrayRef<int64_t> shapeOf(Value value) { return tk::tensorType(value).getShape(); }

DataType typeOf(Value value) {
  std::optional<DataType> type = fromMlir(tk::tensorType(value).getElementType());
  assert(type && "tk tensors have known element types");
  return *type;
}

llvm::Error checkTensorSize(mlir::RankedTensorType type,
                            llvm::function_ref<llvm::Error(const llvm::Twine &)> refuse) {
  if (type.getRank() > maxRank)
    return refuse("a tensor would have rank " + llvm::Twine(type.getRank()) + ", but " +
                  llvm::Twine(maxRank) + " axes are the most; join some");
  std::optional<DataType> element = fromMlir(type.getElementType());
  int64_t bytes = element ? static_cast<int64_t>(byteSize(*element)) : 8;
  // A zero extent makes the tensor empty, not its size computable: the other extents must still multiply.
  for (int64_t extent : type.getShape())
    if (llvm::MulOverflow(bytes, std::max<int64_t>(extent, 1), bytes) || bytes > maxTensorBytes)
      return refuse("a tensor would be larger than 4 TiB; check the shapes given");
  return llvm::Error::success();
}

/// The constants of `operands` where the operation is worth folding, else nothing.
static std::optional<llvm::SmallVector<Tensor>> constantsToFold(mlir::Operation *op, ImportBudget *budget) {
  int64_t elements = 0;
  for (mlir::Type type : op->getResultTypes())
    elements += llvm::cast<mlir::RankedTensorType>(type).getNumElements();
  if (elements > maxFoldedSplatElements)
    return std::nullopt;
  for (Value operand : op->getOperands())
    if (!operand.getDefiningOp<tk::ConstantOp>())
      return std::nullopt;
  int64_t flops = elements;
  if (auto traffic = llvm::dyn_cast<tk::TrafficInterface>(op))
    flops = std::max(flops, traffic.getFlops());
  if (flops > maxFoldedFlops ||
      (budget && (flops > budget->foldingFlops || elements * 8 > budget->constantBytes)))
    return std::nullopt;
  if (budget)
    budget->foldingFlops -= flops;
  llvm::SmallVector<Tensor> constants;
  bool splat = true;
  for (Value operand : op->getOperands()) {
    std::optional<Tensor> constant = tk::constantValue(operand);
    if (!constant)
      return std::nullopt;
    splat &= constant->isSplat();
    constants.push_back(*constant);
  }
  if (elements > maxFoldedElements && !splat)
    return std::nullopt;
  return constants;
}

/// The fault of an operation that `tk::createChecked` refused with `diagnostic`, in words for the user of a
/// model. Those of the dialect (the inference of types) are such; those of MLIR's verifier begin with the tk
/// operator, which the user never wrote.
static ImportFault refusal(llvm::StringRef name, ValueRange operands,
                           llvm::ArrayRef<NamedAttribute> attributes, llvm::StringRef diagnostic,
                           mlir::MLIRContext *context) {
  std::string op = ("tk." + name).str();
  if (diagnostic.consume_front("'" + op + "' op ") && diagnostic.starts_with("operand #")) {
    if (std::optional<ElementTypeFault> fault = elementTypeFault(op, operands, attributes, context))
      return {("computes with " + tokamak::name(fault->type) + ", but takes " + fault->taken +
               "; put a Cast to " + tokamak::name(fault->usual) + " before its inputs")
                  .str(),
              std::move(fault)};
    std::string types;
    for (Value operand : operands)
      types += (types.empty() ? "" : ", ") + tokamak::name(typeOf(operand)).str();
    return {"does not take operands of these element types: " + types + "; put Casts before them"};
  }
  if (diagnostic.empty())
    return {"its inputs do not fit (" + op + "); check their types and shapes"};
  if (diagnostic.contains(';'))
    return {diagnostic.str()};
  // Types that differ are a fault of both.
  if (elementTypeFault(op, operands, attributes, context))
    return {(diagnostic + "; put a Cast before one of them").str()};
  return {(diagnostic + "; check the shapes of its inputs and its attributes").str()};
}

Values Body::ops(llvm::StringRef name, ValueRange operands, llvm::ArrayRef<NamedAttribute> attributes) {
  std::string reason;
  mlir::ScopedDiagnosticHandler capture(builder.getContext(), [&](mlir::Diagnostic &diagnostic) {
    if (reason.empty())
      reason = diagnostic.str();
    return mlir::success();
  });
  mlir::FailureOr<mlir::Operation *> created =
      tk::createChecked(builder, loc, ("tk." + name).str(), operands, attributes);
  if (mlir::failed(created))
    throw refusal(name, operands, attributes, reason, builder.getContext());
  mlir::Operation *op = *created;
  for (mlir::Type type : op->getResultTypes())
    llvm::cantFail(
        checkTensorSize(llvm::cast<mlir::RankedTensorType>(type),
                        [](const llvm::Twine &why) -> llvm::Error { throw ImportFault{why.str()}; }));
  if (std::string why = indexFault(op); !why.empty())
    throw ImportFault{why};
  if (std::optional<llvm::SmallVector<Tensor>> constants = constantsToFold(op, budget)) {
    mlir::FailureOr<llvm::SmallVector<Tensor>> folded = reference::evaluate(op, *constants);
    if (mlir::succeeded(folded)) {
      op->erase();
      Values results;
      for (const Tensor &tensor : *folded)
        results.push_back(constant(tensor));
      return results;
    }
  }
  return Values(op->getResults());
}

Value Body::op(llvm::StringRef name, ValueRange operands, llvm::ArrayRef<NamedAttribute> attributes) {
  return ops(name, operands, attributes).front();
}

NamedAttribute Body::attr(llvm::StringRef name, int64_t value) {
  return attr(name, builder.getI64IntegerAttr(value));
}
NamedAttribute Body::attr(llvm::StringRef name, bool value) { return attr(name, builder.getBoolAttr(value)); }
NamedAttribute Body::attr(llvm::StringRef name, double value) {
  return attr(name, builder.getF64FloatAttr(value));
}
NamedAttribute Body::attr(llvm::StringRef name, llvm::ArrayRef<int64_t> value) {
  return attr(name, builder.getDenseI64ArrayAttr(value));
}
NamedAttribute Body::attr(llvm::StringRef name, DataType value) {
  return attr(name, mlir::TypeAttr::get(toMlir(value, builder.getContext())));
}

Value Body::constant(const Tensor &tensor) {
  mlir::MLIRContext *context = builder.getContext();
  if (budget) {
    budget->constantBytes -= static_cast<int64_t>(tensor.byteCount());
    if (budget->constantBytes < 0)
      throw ImportFault{"its tables and those before need too much memory; use smaller shapes"};
  }
  return builder.create<tk::ConstantOp>(loc, tensor.mlirType(context), tensor.toAttr(context));
}
Value Body::scalar(DataType type, double value) { return constant(Tensor::scalar(type, value)); }
Value Body::scalarLike(Value like, double value) { return scalar(typeOf(like), value); }

Value Body::compare(tk::Predicate predicate, Value a, Value b) {
  return op("compare", {a, b}, attr("predicate", tk::PredicateAttr::get(builder.getContext(), predicate)));
}

Value Body::cast(Value x, DataType to, bool saturate) {
  if (typeOf(x) == to)
    return x;
  return op("cast", {x}, {attr("to", to), attr("saturate", saturate)});
}

Value Body::reshape(Value x, llvm::ArrayRef<int64_t> shape) {
  return shapeOf(x) == shape ? x : op("reshape", {x}, attr("shape", shape));
}

Value Body::transpose(Value x, llvm::ArrayRef<int64_t> permutation) {
  bool identity = static_cast<int64_t>(permutation.size()) == rankOf(x);
  for (size_t i = 0; i < permutation.size(); ++i)
    identity &= permutation[i] == static_cast<int64_t>(i);
  return identity ? x : op("transpose", {x}, attr("permutation", permutation));
}

Value Body::broadcast(Value x, llvm::ArrayRef<int64_t> shape) {
  return shapeOf(x) == shape ? x : op("broadcast", {x}, attr("shape", shape));
}

Value Body::slice(Value x, llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> sizes,
                  llvm::ArrayRef<int64_t> steps) {
  bool all = shapeOf(x) == sizes && llvm::all_of(starts, [](int64_t start) { return start == 0; }) &&
             llvm::all_of(steps, [](int64_t step) { return step == 1; });
  return all ? x : op("slice", {x}, {attr("starts", starts), attr("sizes", sizes), attr("steps", steps)});
}

Value Body::sliceAxis(Value x, int64_t axis, int64_t start, int64_t size, int64_t step) {
  llvm::SmallVector<int64_t> starts(rankOf(x), 0), sizes(shapeOf(x)), steps(rankOf(x), 1);
  starts[axis] = start;
  sizes[axis] = size;
  steps[axis] = step;
  return slice(x, starts, sizes, steps);
}

Value Body::concat(ValueRange xs, int64_t axis) {
  return xs.size() == 1 ? xs.front() : op("concat", xs, attr("axis", axis));
}

Value Body::gather(Value x, Value indices, int64_t axis) {
  return op("gather", {x, indices}, attr("axis", axis));
}

Value Body::iota(llvm::ArrayRef<int64_t> shape, int64_t axis, DataType type) {
  return op("iota", {}, {attr("shape", shape), attr("axis", axis), attr("to", type)});
}

Value Body::reduce(tk::ReduceKind kind, Value x, llvm::ArrayRef<int64_t> axes, bool keepDims) {
  llvm::SmallVector<int64_t> sorted(axes);
  llvm::sort(sorted);
  if (sorted.empty())
    return x;
  return op("reduce", {x},
            {attr("kind", tk::ReduceKindAttr::get(builder.getContext(), kind)), attr("axes", sorted),
             attr("keep_dims", keepDims)});
}

Value Body::mean(Value x, llvm::ArrayRef<int64_t> axes, bool keepDims) {
  double count = 1;
  for (int64_t axis : axes) {
    if (axis < 0 || axis >= rankOf(x))
      throw ImportFault{"axis " + std::to_string(axis) + " is outside a tensor of rank " +
                        std::to_string(rankOf(x))};
    count *= static_cast<double>(shapeOf(x)[axis]);
  }
  Value sum = reduce(tk::ReduceKind::Sum, x, axes, keepDims);
  if (isFloat(typeOf(x)))
    return mul(sum, scalarLike(x, 1.0 / count));
  return div(sum, scalarLike(x, count));
}

Value Body::matmul(Value a, Value b, bool transposeA, bool transposeB) {
  return op("matmul", {a, b}, {attr("transpose_lhs", transposeA), attr("transpose_rhs", transposeB)});
}

} // namespace tokamak::import
