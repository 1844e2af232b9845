//===- ValueNames.cpp - values as the ONNX file names them -----------------------------------------===//
#include "driver/ValueNames.h"
#include "analysis/Traffic.h"
#include "ir/Tk.h"

namespace tokamak::driver {

ValueNames::ValueNames(llvm::ArrayRef<import::ModelNode> nodes, mlir::func::FuncOp main) {
  for (const import::ModelNode &node : nodes)
    outputs[node.name] = node.outputs;
  for (mlir::BlockArgument argument : main.getArguments()) {
    if (auto name = main.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), "tk.name"))
      known[argument] = name.str();
  }
  // Behind the arguments: an input that is an output as well keeps its own name.
  mlir::Operation *terminator = main.getBody().front().getTerminator();
  for (mlir::OpOperand &result : terminator->getOpOperands()) {
    if (auto name = main.getResultAttrOfType<mlir::StringAttr>(result.getOperandNumber(), "tk.name"))
      known.try_emplace(analysis::bufferOf(result.get()), name.str());
  }
}

std::string ValueNames::operator()(mlir::Value value) {
  auto [it, inserted] = known.try_emplace(value);
  if (!inserted)
    return it->second;
  auto result = llvm::dyn_cast<mlir::OpResult>(value);
  if (!result) {
    auto argument = llvm::cast<mlir::BlockArgument>(value);
    return it->second = "argument " + std::to_string(argument.getArgNumber());
  }
  mlir::Operation *definition = result.getOwner();
  unsigned number = result.getResultNumber();
  if (auto group = llvm::dyn_cast<tk::FusionOp>(definition)) {
    mlir::Value yielded = group.getBody().front().getTerminator()->getOperand(number);
    if (auto inner = llvm::dyn_cast<mlir::OpResult>(yielded)) {
      definition = inner.getOwner();
      number = inner.getResultNumber();
    }
  }
  // Of nodes merged into one operation the last one made the value that is left.
  llvm::SmallVector<tk::OnnxNode> nodes = tk::onnxNodes(definition->getLoc());
  if (nodes.empty())
    return it->second = definition->getName().getStringRef().str();
  auto names = outputs.find(nodes.back().name);
  bool named = names != outputs.end() && number < names->second.size() && !names->second[number].empty();
  return it->second = named ? names->second[number] : nodes.back().name.str() + ":" + std::to_string(number);
}

} // namespace tokamak::driver
