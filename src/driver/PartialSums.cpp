//===- PartialSums.cpp - what is rounded while terms are added up --------------------------------------===//
#include "driver/PartialSums.h"
#include "ir/Tk.h"
#include "reference/Elements.h"
#include "reference/Scatter.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace tokamak::driver {

namespace {

using Magnitudes = std::vector<double>;

/// Updates apply in order; of an element that none goes to, nothing is rounded.
template <typename Scatter>
Magnitudes ofUpdates(Scatter op, llvm::ArrayRef<Tensor> operands) {
  auto targets = reference::scatterTargets(op, operands[0].shape(), operands[1]);
  if (op.getReduction() != tk::ScatterReduction::Add || failed(targets))
    return {};
  std::vector<double> sums = reference::load<double>(operands[0]);
  const std::vector<double> updates = reference::load<double>(operands[2]);
  Magnitudes magnitudes(sums.size());
  size_t update = 0;
  for (int64_t offset : targets->offsets)
    for (int64_t k = 0; k < targets->block; ++k) {
      const auto at = static_cast<size_t>(offset + k);
      magnitudes[at] += std::abs(sums[at] += updates[update++]);
    }
  return magnitudes;
}

} // namespace

std::vector<double> partialSums(Operation *op, llvm::ArrayRef<Tensor> operands) {
  return llvm::TypeSwitch<Operation *, Magnitudes>(op)
      .Case<tk::ScatterElementsOp, tk::ScatterNDOp>(
          [&](auto scatter) { return ofUpdates(scatter, operands); })
      .Default([](Operation *) { return Magnitudes(); });
}

} // namespace tokamak::driver
