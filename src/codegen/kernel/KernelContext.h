//===- KernelContext.h - what the kinds of kernels share while they are emitted ---------------------===//
#pragma once
#include "analysis/TargetDescription.h"
#include "codegen/expression/ElementBuilder.h"
#include "codegen/kernel/KernelBody.h"
#include "codegen/kernel/KernelEmitter.h"
#include "codegen/kernel/KernelEstimate.h"

namespace tokamak::codegen {

/// A kernel function under construction: its pointers are loaded, its tasks not yet written.
struct KernelContext {
  mlir::OpBuilder &builder;
  mlir::Location loc;
  const TargetDescription &target;
  KernelBody &body;
  std::vector<Buffer> arguments; ///< one an argument of `body`
  std::vector<Buffer> outputs;   ///< one a result of `body`
  mlir::Value begin, end;        ///< tasks, type index
  mlir::Value scratch;           ///< !llvm.ptr
  mlir::Value fault = {};        ///< see ElementBuilder::setFault
  /// Values inside the group that have been computed into scratch.
  llvm::SmallVector<std::pair<mlir::Value, Buffer>> computed = {};

  int64_t lanes() const { return target.lanes(); }
  void bindArguments(ElementBuilder &e) const {
    for (auto [value, buffer] : llvm::zip(body.arguments(), arguments))
      e.bindBuffer(value, buffer);
    for (const auto &[value, buffer] : computed)
      e.bindBuffer(value, buffer);
    e.setFault(fault);
  }
};

/// A way to emit the group in hand, decided before any code exists: how many tasks, how much scratch, and the
/// emission.
struct KernelStrategy {
  std::string kind;
  int64_t tasks = 0;
  int64_t scratchBytes = 0;
  int64_t nests = 1;          ///< loop nests that compute what they share each for themselves
  double accesses = 0;        ///< vectors loaded and stored, as far as the strategy knows
  bool computesInput = false; ///< see KernelEstimate
  double repeats = 1; ///< how often an element of an operand that the anchor has computed is, on average
  std::vector<ChainedAnchor> anchors; ///< where there are several, in block order
  std::function<void(KernelContext &)> emit;
  std::vector<std::function<Tensor(const Tensor &)>> packing; ///< as in EmittedKernel; may be shorter
};

/// Memory of the group's arguments and results as far as it is known before emission: types, shapes and
/// layouts.
struct KernelMemory {
  std::vector<Buffer> arguments, outputs;
  std::vector<bool> constantArgument;
  /// Values inside the group that will have been computed into scratch.
  llvm::SmallVector<std::pair<mlir::Value, Buffer>> computed = {};

  void addArgument(mlir::Value argument, const Layout &layout, bool isConstant);
  /// `stored` is the result's type outside, of the same elements in another shape where axes are refined.
  void addOutput(mlir::Value result, mlir::Type stored, const Layout &layout);
};

/// Blocks of one vector of channels, where convolutions find them useful (see LayoutAssignment); else
/// row-major.
Layout blockedWherePossible(mlir::Value tensor, int64_t lanes);

/// A convolution or matrix product with register tiles, the rest of the group in its epilogue; nothing if the
/// group is of another form.
std::optional<KernelStrategy> planAnchorKernel(KernelBody &body, const KernelMemory &memory,
                                               const TargetDescription &target);
/// One loop nest over each result; reductions, if any, run inside the element they belong to. Nothing if a
/// reduction would be repeated or would run across memory.
std::optional<KernelStrategy> planPointwiseKernel(KernelBody &body, const KernelMemory &memory,
                                                  const TargetDescription &target);
/// Any group: rows of the axes that all operators keep, values that are read more than once kept in scratch.
KernelStrategy planRowKernel(KernelBody &body, const KernelMemory &memory, const TargetDescription &target);
/// The same with a task for each row of the one result, counted through all of its axes but the last, where
/// row i needs nothing but row i of the argument `start` (null: any); nothing elsewhere.
std::optional<KernelStrategy> planRowsInScratch(KernelBody &body, const KernelMemory &memory,
                                                const TargetDescription &target, mlir::Value start);

} // namespace tokamak::codegen
