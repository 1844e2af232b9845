//===- MemoryPlan.h - where each value of the program lies
//------------------------------------------------===//
#pragma once
#include "codegen/host/Views.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tokamak::codegen {

/// A place for a value: in the caller's buffers, among the weights, or in the arena.
struct Place {
  enum class Kind { Input, Output, Weights, Arena } kind = Kind::Arena;
  int64_t number =
      0; ///< Input, Output: position in the signature; Arena: byte offset; Weights: see WeightStore
  int64_t bytes = 0; ///< behind the beginning of that
};

/// Places of all values that need memory. Values of the arena share bytes where their lives do not overlap.
class MemoryPlan {
public:
  MemoryPlan(mlir::func::FuncOp program, const LayoutAssignment &layouts, const ViewAssignment &views);

  /// Of `value`, inside the value it is a view of. Constants are not in the plan.
  Place placeOf(mlir::Value value) const;
  int64_t arenaBytes() const { return total; }
  /// A second buffer for a loop's carried value, where the next value cannot be written in place.
  std::optional<int64_t> stagingOf(tk::LoopOp loop, size_t carried) const {
    auto it = staging.find({loop.getOperation(), carried});
    return it == staging.end() ? std::nullopt : std::optional<int64_t>(it->second);
  }

private:
  struct Interval {
    int64_t bytes, first, last;
    std::function<void(int64_t)> assign;
  };
  void number(mlir::Block &block);
  void pack(std::vector<Interval> &intervals);
  int64_t lastUse(mlir::Value value);

  const ViewAssignment &views;
  llvm::DenseMap<mlir::Operation *, std::pair<int64_t, int64_t>>
      positions; ///< first and last position in an operation
  int64_t nextPosition = 0;
  std::map<mlir::Value, Place, bool (*)(mlir::Value, mlir::Value)> places;
  std::map<std::pair<mlir::Operation *, size_t>, int64_t> staging;
  int64_t total = 0;
};

} // namespace tokamak::codegen
