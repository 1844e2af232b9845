//===- ElementTypeFault.cpp - which element types an operator would have taken -------------===//
#include "import/ElementTypeFault.h"
#include "import/ErrorLine.h"
#include "mlir/IR/Diagnostics.h"
#include "onnx/onnx_pb.h"

namespace tokamak::import {

/// In the order of an error line.
static constexpr DataType allTypes[] = {
    DataType::Bool,     DataType::Int8,    DataType::Int16,  DataType::Int32,  DataType::Int64,
    DataType::UInt8,    DataType::UInt16,  DataType::UInt32, DataType::UInt64, DataType::Float16,
    DataType::BFloat16, DataType::Float32, DataType::Float64};

/// Concatenations may have thousands of operands, and take all types.
static constexpr size_t maxTriedOperands = 64;

/// Whether the operation can be made with operands of `types`. The one made has no place and is gone after.
static bool fits(llvm::StringRef opName, mlir::TypeRange types,
                 llvm::ArrayRef<mlir::NamedAttribute> attributes, mlir::MLIRContext *context) {
  mlir::Location loc = mlir::UnknownLoc::get(context);
  mlir::Block block;
  block.addArguments(types, llvm::SmallVector<mlir::Location>(types.size(), loc));
  mlir::OpBuilder nowhere(context);
  mlir::FailureOr<mlir::Operation *> made =
      tk::createChecked(nowhere, loc, opName, block.getArguments(), attributes);
  if (mlir::failed(made))
    return false;
  (*made)->erase();
  return true;
}

/// "int32 or int64"; "any type but bool" where nearly all are taken.
static std::string listed(llvm::ArrayRef<DataType> types) {
  if (types.size() + 1 == std::size(allTypes))
    for (DataType type : allTypes)
      if (!llvm::is_contained(types, type))
        return ("any type but " + name(type)).str();
  std::string text;
  for (auto [i, type] : llvm::enumerate(types))
    text += (llvm::Twine(i == 0 ? "" : i + 1 == types.size() ? " or " : ", ") + name(type)).str();
  return text;
}

/// What to advise. Of an operator made of several, only the one that refused has been asked: float32 is what
/// the others take as well.
static DataType mostUsual(llvm::ArrayRef<DataType> types) {
  for (DataType type : {DataType::Float32, DataType::Int64})
    if (llvm::is_contained(types, type))
      return type;
  return types.front();
}

std::optional<ElementTypeFault> elementTypeFault(llvm::StringRef opName, ValueRange operands,
                                                 llvm::ArrayRef<mlir::NamedAttribute> attributes,
                                                 mlir::MLIRContext *context) {
  if (operands.size() > maxTriedOperands || !llvm::all_of(operands, [](Value v) { return v && isTensor(v); }))
    return std::nullopt;
  mlir::ScopedDiagnosticHandler quiet(context, [](mlir::Diagnostic &) { return mlir::success(); });
  for (bool together : {false, true})
    for (Value operand : operands) {
      mlir::RankedTensorType refused = tk::tensorType(operand);
      llvm::SmallVector<DataType> taken;
      for (DataType type : allTypes) {
        llvm::SmallVector<mlir::Type> types;
        for (Value other : operands) {
          mlir::RankedTensorType as = tk::tensorType(other);
          bool changes = together ? as.getElementType() == refused.getElementType() : other == operand;
          types.push_back(changes ? as.clone(toMlir(type, context)) : as);
        }
        if (fits(opName, types, attributes, context))
          taken.push_back(type);
      }
      if (!taken.empty())
        return ElementTypeFault{operand, llvm::SmallVector<int64_t>(refused.getShape()), typeOf(operand),
                                listed(taken), mostUsual(taken)};
    }
  return std::nullopt;
}

std::string reasonOf(const ImportFault &importFault, const onnx::NodeProto &node, ValueRange inputs) {
  if (!importFault.elementType)
    return importFault.reason;
  const ElementTypeFault &fault = *importFault.elementType;
  // An operator made of several sees its inputs through them: next to the operand itself, an input like it.
  std::optional<size_t> found;
  int likeness = 0;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    if (!input || !isTensor(input) || typeOf(input) != fault.type)
      continue;
    int like = input == fault.operand ? 3 : shapeOf(input) == llvm::ArrayRef(fault.shape) ? 2 : 1;
    if (like > likeness)
      std::tie(found, likeness) = std::make_tuple(i, like);
  }
  if (!found)
    return importFault.reason;
  return ("has input '" + oneLine(node.input(static_cast<int>(*found)), 60) + "' of " + name(fault.type) +
          shapeText(shapeOf(inputs[*found])) + ", but takes " + fault.taken + "; put a Cast to " +
          name(fault.usual) + " before it")
      .str();
}

} // namespace tokamak::import
