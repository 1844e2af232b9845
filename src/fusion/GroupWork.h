//===- GroupWork.h - how often the operators of a group are evaluated ----------------------===//
#pragma once
#include "codegen/kernel/KernelEstimate.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tokamak::fusion {

/// What must be known of an operator without loops of its own.
struct ExpressionFacts {
  bool scatters = false;    ///< reads its operands lane by lane
  bool isExpensive = false; ///< worth keeping rather than computing twice
};

/// An operator of a group and the result elements that its kernel computes of it.
struct OperatorWork {
  mlir::Operation *op = nullptr;
  double evaluations = 0;
  double elements = 0;  ///< of its results: what would be computed without recomputation
  int64_t operands = 0; ///< distinct ones, numbers in the code left out
  /// Those of them that no member computes; the part of one that the result's loops leave to load in the
  /// innermost.
  double fromMemory = 0;
  int64_t fullFromMemory = 0;  ///< those that are as large as the result
  double alike = 1;            ///< neighbours of the reader that one evaluation serves: a vector of one value
  bool feedsAnchor = false;    ///< an anchor reads it, or what is computed of it
  double scattered = 0;        ///< evaluations at indices where neighbouring lanes are not neighbours
  bool constantWeight = false; ///< the second operand is a constant of the model
  const codegen::ChainedAnchor *chained = nullptr; ///< of an anchor that shares its kernel with others
};

/// The operators in `members`, composites and groups taken apart, in order. Values are pulled: an operator is
/// evaluated for each element that a reader asks for, once for readers at the same index. Operators with
/// loops of their own (reductions, anchors) keep their results, so each is evaluated once. An expensive
/// operator that several stages of a row kernel read is evaluated once a row. What the anchors in `chain`
/// (all of the members, in order; or none) read of each other is computed as often as it says there.
llvm::SmallVector<OperatorWork> workOf(llvm::ArrayRef<mlir::Operation *> members,
                                       llvm::function_ref<ExpressionFacts(mlir::Operation *)> facts,
                                       llvm::ArrayRef<codegen::ChainedAnchor> chain = {});

} // namespace tokamak::fusion
