//===- VectorLoops.h - loops over index spaces, the innermost by vectors -----------------------------===//
#pragma once
#include "analysis/TargetDescription.h"
#include "codegen/expression/ElementBuilder.h"

namespace tokamak::codegen {

/// A box of indices. The last `collapsed` axes run as one linear loop by vectors of `lanes`; the axes before
/// it are scalar loops.
struct VectorNest {
  llvm::SmallVector<int64_t> extents;
  size_t collapsed = 1;
  int64_t lanes = 1;

  int64_t innerExtent() const;
  int64_t vectors() const { return (innerExtent() + lanes - 1) / lanes; }
};

/// Called with the indices of one vector (or one element); the builder's lanes and mask are set.
using NestBody = std::function<llvm::SmallVector<mlir::Value>(llvm::ArrayRef<Index>, mlir::ValueRange)>;

/// The whole nest. Loop-carried values pass through `body`; a ragged last vector runs under a mask.
llvm::SmallVector<mlir::Value> emitNest(ElementBuilder &e, const VectorNest &nest, mlir::ValueRange init,
                                        const NestBody &body);
/// The first `valid` lanes, as a mask.
mlir::Value firstLanes(ElementBuilder &e, int64_t valid);

/// Vectors [from, to) (SSA, type index) of the collapsed axes only, given the indices of the axes before
/// them. Without loop-carried values.
void emitVectors(ElementBuilder &e, const VectorNest &nest, llvm::ArrayRef<Index> outer, mlir::Value from,
                 mlir::Value to, const NestBody &body);

/// What a nest costs for one element, read off its accesses and its arithmetic: irregular accesses count by
/// lane, ragged vectors by their loss, arithmetic that does not depend on the vector once for all vectors of
/// the collapsed axes. `emit` emits the body for one vector. Where it uses indices made before, `space` is
/// the space they belong to.
double nestCost(mlir::MLIRContext *context, mlir::Location loc, const VectorNest &nest,
                const TargetDescription &target,
                const std::function<void(ElementBuilder &, llvm::ArrayRef<Index>)> &emit,
                IndexSpace *space = nullptr);

} // namespace tokamak::codegen
