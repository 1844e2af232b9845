//===- TkUtils.cpp - building, constants, locations -------------------------------------===//
#include "ir/Tk.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace tokamak::tk {

/// Inference reads operands by position, so their number is checked before: exactly, or at least where some
/// are optional.
static bool hasOperandCount(const mlir::RegisteredOperationName &name, size_t count) {
  using namespace mlir::OpTrait;
  if (name.hasTrait<ZeroOperands>())
    return count == 0;
  if (name.hasTrait<OneOperand>())
    return count == 1;
  if (name.hasTrait<NOperands<2>::Impl>())
    return count == 2;
  if (name.hasTrait<NOperands<3>::Impl>())
    return count == 3;
  if (name.hasTrait<NOperands<5>::Impl>())
    return count == 5;
  return !name.hasTrait<AtLeastNOperands<2>::Impl>() || count >= 2;
}

mlir::FailureOr<mlir::Operation *> createChecked(mlir::OpBuilder &builder, mlir::Location loc,
                                                 llvm::StringRef opName, mlir::ValueRange operands,
                                                 llvm::ArrayRef<mlir::NamedAttribute> attributes) {
  mlir::MLIRContext *context = builder.getContext();
  std::string fullName = opName.contains('.') ? opName.str() : ("tk." + opName).str();
  std::optional<mlir::RegisteredOperationName> name =
      mlir::RegisteredOperationName::lookup(fullName, context);
  if (!name)
    return mlir::emitError(loc) << "there is no operator " << fullName;
  auto *inference = name->getInterface<mlir::InferTypeOpInterface>();
  if (!inference)
    return mlir::emitError(loc) << fullName << " does not infer its result types";
  if (!hasOperandCount(*name, operands.size()))
    return mlir::emitError(loc) << fullName << " does not take " << operands.size() << " operands";
  for (auto [i, operand] : llvm::enumerate(operands)) {
    if (!operand)
      return mlir::emitError(loc) << "operand " << i << " of " << fullName << " is missing";
    mlir::Type type = operand.getType();
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape() || !fromMlir(tensor.getElementType()))
      return mlir::emitError(loc) << "operand " << i << " has type " << type
                                  << ", which is no tensor of static shape";
  }
  mlir::OperationState state(loc, *name);
  state.addOperands(operands);
  state.addAttributes(attributes);
  name->populateDefaultAttrs(state.attributes); // the adaptors that inference sees know no defaults
  if (mlir::failed(inference->inferReturnTypes(context, loc, operands,
                                               state.attributes.getDictionary(context), nullptr,
                                               mlir::RegionRange(), state.types)))
    return mlir::failure();
  mlir::Operation *op = builder.create(state);
  if (mlir::failed(mlir::verify(op, /*verifyRecursively=*/false))) {
    op->erase();
    return mlir::failure();
  }
  return op;
}

std::optional<Tensor> constantValue(mlir::Value value) {
  mlir::ElementsAttr attr;
  if (!value || !mlir::matchPattern(value, mlir::m_Constant(&attr)))
    return std::nullopt;
  return Tensor::fromAttr(attr);
}

mlir::FailureOr<llvm::SmallVector<int64_t>> broadcastShapes(llvm::ArrayRef<int64_t> a,
                                                            llvm::ArrayRef<int64_t> b) {
  if (a.size() < b.size())
    std::swap(a, b);
  llvm::SmallVector<int64_t> shape(a);
  const size_t offset = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    int64_t &extent = shape[offset + i];
    if (extent == 1)
      extent = b[i];
    else if (b[i] != 1 && b[i] != extent)
      return mlir::failure();
  }
  return shape;
}

mlir::Location onnxLocation(mlir::MLIRContext *context, llvm::StringRef name, llvm::StringRef opType) {
  return mlir::NameLoc::get(mlir::StringAttr::get(context, name + ":" + opType));
}

/// The node that one part of a location names, if it does.
static std::optional<OnnxNode> namedNode(mlir::Location part) {
  auto named = llvm::dyn_cast<mlir::NameLoc>(part);
  if (!named)
    return std::nullopt;
  // Node names may hold colons themselves, operator types do not.
  auto [name, opType] = named.getName().getValue().rsplit(':');
  return opType.empty() ? std::nullopt : std::optional<OnnxNode>({name, opType});
}

llvm::SmallVector<OnnxNode> onnxNodes(mlir::Location loc) {
  llvm::SmallVector<OnnxNode> nodes;
  llvm::SmallDenseSet<std::pair<llvm::StringRef, llvm::StringRef>, 8> seen;
  loc->walk([&](mlir::Location part) {
    if (auto node = namedNode(part); node && seen.insert({node->name, node->opType}).second)
      nodes.push_back(*node);
    return mlir::WalkResult::advance();
  });
  return nodes;
}

OnnxNode onnxNode(mlir::Location loc) {
  // The operation may stand for thousands; a file that names nodes names the first of them.
  constexpr int mostParts = 64;
  OnnxNode first;
  int parts = 0;
  loc->walk([&](mlir::Location part) {
    auto node = namedNode(part);
    first = node.value_or(OnnxNode{});
    return node || ++parts == mostParts ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return first;
}

} // namespace tokamak::tk
