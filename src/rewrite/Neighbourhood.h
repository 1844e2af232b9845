//===- Neighbourhood.h - a few operations of a graph, to be tried on --------------------------------===//
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "rewrite/CostedRewrite.h"
#include "llvm/ADT/DenseMap.h"

namespace tokamak::rewrite {

/// The operations around `site` that its rewriting may open more rewriting for: what reads the
/// same values, what follows up to the second anchor on each way, and where summands come from. In
/// block order, and no more than a fixed number, so that the whole graph is searched in time that grows with
/// its size.
std::vector<mlir::Operation *> neighbourhoodOf(const Site &site);

/// A copy of operations of one block as a function of its own: values from outside are arguments, constants
/// are copied, values that others need are returned.
struct GraphCopy {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> originals; ///< of the copied operations

  mlir::Block &block() const;
};
GraphCopy copyOperations(llvm::ArrayRef<mlir::Operation *> ops);

} // namespace tokamak::rewrite
