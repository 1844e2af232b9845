//===- VerifyFiltering.h - what the arithmetic of a kernel leaves open of its results ----------------===//
// Each result of a convolution by minimal filtering (docs/winograd.md) is made of all inputs that its tile
// reads. So its error is relative to them (FilteringError.h), and what is not finite among them may reach it.
// How far, follows from the operands. What adding up rounds puts long sums off (SumError.h).
#pragma once
#include "driver/VerifyTolerance.h"
#include "reference/Evaluate.h"

namespace tokamak::driver {

/// The convolution that the kernel of `group` computes by minimal filtering where its input lies in blocks of
/// channels; null where there is none. Of kernels with several anchors, and of those that compute their
/// input, none goes that way.
tk::ConvOp filteredConvolution(tk::FusionOp group);

/// Which results of a filtered convolution may not be finite, by their tile.
enum class FilteringReach : uint8_t {
  Finite,
  NotANumber, ///< the result may be NaN: the tile reads a NaN or an infinity
  Overflow    ///< the result may be an infinity of any sign as well: intermediate ones may
};
/// In row-major order.
std::vector<FilteringReach> filteringReach(tk::ConvOp conv, const Tensor &input, const Tensor &weight);

/// Computes a group or a function by the evaluator, with `revise`; nothing where that fails.
using EvaluateRevised =
    llvm::function_ref<std::optional<llvm::SmallVector<Tensor>>(reference::Revise revise)>;

/// What the filtered convolutions and the sums of a group or a function leave open of each of its results
/// (FilteringError.h, SumError.h), whatever tolerance is asked for beside. Nothing where there are none.
/// `evaluate` computes what has run; `expected` may be the results of another graph for the same
/// inputs. `mixtures`: in how many ways of errors in either direction, apart from all up and all down,
/// results are bounded that depend on many others.
std::vector<Latitude> arithmeticLatitude(llvm::ArrayRef<Tensor> expected, int mixtures,
                                         EvaluateRevised evaluate);

} // namespace tokamak::driver
