//===- IndexCheck.cpp - which indices gathers and scatters accept ------------------------===//
#include "import/IndexCheck.h"
#include "ir/Tk.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include <limits>

namespace tokamak::import {

namespace {

/// Indices that an operator takes: one after the other they select from axes of these extents, again and
/// again.
struct Indexing {
  mlir::Value indices;
  llvm::SmallVector<int64_t> extents;
  bool fromEnd = true; ///< negative ones count from the end
};

llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) { return tk::tensorType(value).getShape(); }

template <typename Op>
Indexing alongAxis(Op op) {
  return {op.getIndices(), {shapeOf(op.getInput())[static_cast<size_t>(op.getAxis())]}};
}

template <typename Op>
Indexing byTuples(Op op, size_t firstAxis) {
  const auto length = static_cast<size_t>(shapeOf(op.getIndices()).back());
  return {op.getIndices(), llvm::SmallVector<int64_t>(shapeOf(op.getInput()).slice(firstAxis, length))};
}

Indexing indexingOf(mlir::Operation *op) {
  return llvm::TypeSwitch<mlir::Operation *, Indexing>(op)
      .Case<tk::GatherOp, tk::GatherElementsOp, tk::ScatterElementsOp>([](auto o) { return alongAxis(o); })
      .Case([](tk::GatherNDOp o) { return byTuples(o, static_cast<size_t>(o.getBatchDims())); })
      .Case([](tk::ScatterNDOp o) { return byTuples(o, 0); })
      .Case([](tk::RoiAlignOp o) {
        return Indexing{o.getBatchIndices(), {shapeOf(o.getInput()).front()}, /*fromEnd=*/false};
      })
      .Default([](mlir::Operation *) { return Indexing(); });
}

} // namespace

std::string indexFault(mlir::Operation *op) {
  const Indexing indexing = indexingOf(op);
  if (!indexing.indices || indexing.extents.empty())
    return "";
  std::optional<Tensor> values = tk::constantValue(indexing.indices);
  if (!values)
    return "";
  const size_t cycle = indexing.extents.size();
  for (int64_t i = 0; i < values->size(); ++i) {
    const int64_t extent = indexing.extents[static_cast<size_t>(i) % cycle], index = values->intAt(i);
    const int64_t low = indexing.fromEnd ? -extent : 0;
    if (index < low || index >= extent) {
      std::string range =
          extent ? "give indices from " + std::to_string(low) + " to " + std::to_string(extent - 1)
                 : "nothing can be selected from it";
      return "index " + std::to_string(index) + " is out of range for an axis of " + std::to_string(extent) +
             " elements; " + range;
    }
  }
  return "";
}

std::optional<std::pair<int64_t, int64_t>> acceptedIndices(mlir::Value value) {
  int64_t low = std::numeric_limits<int64_t>::min(), high = std::numeric_limits<int64_t>::max();
  llvm::SmallVector<mlir::Value> pending{value};
  while (!pending.empty()) {
    mlir::Value next = pending.pop_back_val();
    for (mlir::OpOperand &use : next.getUses()) {
      mlir::Operation *user = use.getOwner();
      const Indexing indexing = indexingOf(user);
      if (indexing.indices == next && !indexing.extents.empty()) {
        const int64_t extent = *llvm::min_element(indexing.extents);
        low = std::max(low, indexing.fromEnd ? -extent : 0);
        high = std::min(high, extent - 1);
      }
      if (auto composite = llvm::dyn_cast<tk::CompositeOp>(user))
        pending.push_back(composite.getBody().getArgument(use.getOperandNumber()));
      else if (llvm::isa<tk::ReshapeOp, tk::CastOp>(user))
        pending.push_back(user->getResult(0));
    }
  }
  if (high == std::numeric_limits<int64_t>::max() || low > high)
    return std::nullopt;
  return std::pair(low, high);
}

} // namespace tokamak::import
