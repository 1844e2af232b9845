//===- IndexBoxes.h - loops over results in pieces, each with an expression of its own ----------------===//
// An element of a concatenation is the element of one of its parts, and one of a padded tensor lies inside or
// in the border. Loops over the whole result ask each element where it is, under masks, and compute all parts
// for all elements: n parts take n times the work. Where a result is cut into boxes at the places where the
// answer changes, no box has anything to ask.
#pragma once
#include "codegen/expression/ElementBuilder.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <set>
#include <tuple>
#include <vector>

namespace tokamak::codegen {

/// The indices [begin, begin + extents) of a tensor, axis by axis.
struct IndexBox {
  llvm::SmallVector<int64_t> begin, extents;

  static IndexBox whole(llvm::ArrayRef<int64_t> extents);
  int64_t elements() const;
  bool operator<(const IndexBox &other) const {
    return std::tie(begin, extents) < std::tie(other.begin, other.extents);
  }
  /// The index in the tensor of one that counts from where the box begins.
  llvm::SmallVector<Index> absolute(IndexSpace &space, llvm::ArrayRef<Index> index) const;
};

/// For each axis, in ascending order, where loops of `extents` can be cut so that one of the questions that
/// `emit` asks on its way (ElementBuilder::inRange) has the same answer for all indices on either side.
/// `emit` emits one element at the index it is given.
llvm::SmallVector<std::set<int64_t>>
findCuts(mlir::MLIRContext *context, mlir::Location loc, llvm::ArrayRef<int64_t> extents,
         llvm::function_ref<void(ElementBuilder &, llvm::ArrayRef<Index>)> emit);

/// What the loops over a box cost, in cycles, without `cyclesOfLoops`. Asked once a box, and of each that is
/// returned.
using BoxCost = llvm::function_ref<double(const IndexBox &)>;

/// The box of all of `extents`, cut along each axis on which cutting pays, outer axes first. In order of
/// their places in the tensor.
std::vector<IndexBox> cutWherePays(llvm::ArrayRef<int64_t> extents, llvm::ArrayRef<std::set<int64_t>> cuts,
                                   BoxCost costOf);

/// How many of the innermost axes may run as one loop: what differs by axes of one element alone is the same.
/// At least one number.
llvm::SmallVector<size_t> collapses(llvm::ArrayRef<int64_t> extents);

/// What it takes to begin the loops of a box.
constexpr double cyclesOfLoops = 15;

} // namespace tokamak::codegen
