//===- AnchorOperands.h - what surrounds an anchor in its group -------------------------------------===//
#pragma once
#include "codegen/anchors/Anchor.h"
#include "codegen/kernel/KernelContext.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tokamak::codegen {

/// Where an anchor's plan finds its operands.
struct AnchorOperands {
  std::optional<size_t> input, weight; ///< kernel arguments; nothing: computed task by task
  std::optional<mlir::Value> bias;     ///< an operand of the convolution, in channels
};
/// The kernel argument whose memory holds `value` as it is: an argument, or a reshape of a row-major one.
std::optional<size_t> argumentOf(const KernelMemory &memory, mlir::Value value);
AnchorOperands operandsOf(const KernelMemory &memory, mlir::Operation *anchor);

/// The argument's memory may be packed for the anchor: it is constant, and nobody else reads it.
bool mayPack(KernelBody &body, const KernelMemory &memory, std::optional<size_t> argument,
             mlir::Operation *anchor);

/// Position p in the anchor's result is position p in each of `values`, whose expressions read the anchor
/// there only.
bool readInPlace(mlir::ValueRange values, mlir::Operation *anchor);

/// The index in `to` of what is computed from the element of `from` at `index`, through elementwise
/// operators, reshapes and transpositions; nothing where others are on the way.
std::optional<llvm::SmallVector<Index>> indexBehind(IndexSpace &space, mlir::Value from,
                                                    llvm::ArrayRef<Index> index, mlir::Value to);

/// The index in `result` of the anchor's element at `index`; both have as many elements, in the same order
/// where nothing between moves them.
llvm::SmallVector<Index> indexInResult(IndexSpace &space, mlir::Value anchored, llvm::ArrayRef<Index> index,
                                       mlir::Value result);

/// Whether each element of the anchor's result goes to one place in each of `values`, neighbours along the
/// last axis to neighbours, and the expressions of `values` read the anchor nowhere else.
bool keepsVectors(mlir::ValueRange values, mlir::Operation *anchor);

mlir::Value pointerTo(const KernelContext &k, std::optional<size_t> argument);

/// Where a finished vector of accumulators belongs: its index in the anchor's result, and the channel block.
struct PointPlace {
  llvm::SmallVector<Index> index;
  Index block;
};
PointPlace placeOf(ElementBuilder &e, llvm::ArrayRef<int64_t> shape, const AccumulatorPoint &point);
/// Lets `use` ask for values of the group at the place of a finished vector of `anchor`, which stands for the
/// anchor's result. Lanes without results are masked.
void atPoint(KernelContext &k, mlir::Operation *anchor, const AnchorOperands &operands,
             mlir::OpBuilder &builder, mlir::Location loc, const AccumulatorPoint &point,
             llvm::function_ref<void(ElementBuilder &, const PointPlace &)> use);
/// Stores the element of `result` that is computed, in place, from the element of `source` at `index`.
void storeBehind(ElementBuilder &e, mlir::Value source, llvm::ArrayRef<Index> index, mlir::Value result,
                 const Buffer &buffer);
/// What stores `results`, values of the group, to `buffers` at each finished vector.
EpilogueFn epilogueInto(KernelContext &k, mlir::Operation *anchor, const AnchorOperands &operands,
                        llvm::SmallVector<mlir::Value> results, std::vector<Buffer> buffers);
/// The same for the group's results.
EpilogueFn epilogueFor(KernelContext &k, mlir::Operation *anchor, const AnchorOperands &operands);

/// How many vectors of an operand are computed in all tasks.
double vectorsComputed(mlir::Value operand, double repeats, const TargetDescription &target);

} // namespace tokamak::codegen
