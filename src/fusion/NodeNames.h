//===- NodeNames.h - operations as reports name them ----------------------------------------------===//
#pragma once
#include "fusion/Decision.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SetVector.h"
#include <string>

namespace tokamak::fusion {

/// The ONNX node that the operation came from, or its operator where there is none.
std::string nodeName(mlir::Operation *op);

/// The values that the operation, or an operation inside of it, reads. Asking for the readers of a value
/// instead takes as long as there are, thousands of a merged sibling.
llvm::SetVector<mlir::Value> readBy(mlir::Operation *op);

/// A decision on the edge, with names and bytes filled in.
Decision newDecision(mlir::Operation *producer, mlir::Operation *consumer);

/// What a group does, as a C identifier of at most some 60 characters: "conv_add_relu", "exp_x256". Equal
/// groups get equal names.
std::string groupName(llvm::ArrayRef<mlir::Operation *> group);

} // namespace tokamak::fusion
