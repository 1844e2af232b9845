//===- ValueNames.h - values as the ONNX file names them -------------------------------------------===//
#pragma once
#include "import/Import.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include <string>
#include <vector>

namespace tokamak::driver {

/// Names of values as the ONNX file has them. Valid until an operation of `main` is erased or made.
class ValueNames {
public:
  ValueNames(llvm::ArrayRef<import::ModelNode> nodes, mlir::func::FuncOp main);
  std::string operator()(mlir::Value value);

private:
  llvm::StringMap<std::vector<std::string>> outputs; ///< by node name
  llvm::DenseMap<mlir::Value, std::string> known;
};

} // namespace tokamak::driver
