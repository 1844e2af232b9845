//===- Liveness.h - from where to where a value's memory is needed -------------------------===//
#pragma once
#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include <vector>

namespace tokamak::analysis {

/// The positions of operations in their block are counted from 0. A buffer that an operation reads and one
/// that it writes overlap at that position: they never share memory.
struct LiveInterval {
  mlir::Value value;
  int64_t first = -1;       ///< position of the defining operation; -1 for block arguments
  int64_t last = -1;        ///< position of the last user; `first` where there is none
  bool leavesBlock = false; ///< yielded or returned, itself or through a view
};

/// The intervals of a block's values that need memory of their own, in order of definition: arguments and
/// results, but neither constants nor views (reshapes). A use in a nested region counts at the operation that
/// holds the region, and a use of a view counts as one of the value it shows.
class BlockLiveness {
public:
  explicit BlockLiveness(mlir::Block &block);
  const std::vector<LiveInterval> &intervals() const { return all; }
  /// Of the value, or of the value that it is a view of; null where that lies outside the block or is a
  /// constant.
  const LiveInterval *find(mlir::Value value) const;

private:
  std::vector<LiveInterval> all;
  llvm::DenseMap<mlir::Value, size_t> index;
};

} // namespace tokamak::analysis
