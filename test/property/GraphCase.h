//===- GraphCase.h - a graph with values for its inputs
//--------------------------------------------------===//
#pragma once
#include "ir/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <vector>

namespace tokamak::test {

struct GraphCase {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< one func.func @main of tk operators
  std::vector<Tensor> inputs;
  std::vector<double> tolerances; ///< one a result: how far two correct implementations may differ; 0: equal
  bool signs = false;             ///< zeros must have the right sign, too

  GraphCase clone() const {
    return {mlir::OwningOpRef<mlir::ModuleOp>(module.get().clone()), inputs, tolerances, signs};
  }
};

} // namespace tokamak::test
