//===- PartitionOracle.h - the best partition of a small graph, by trying all ------------------------===//
#pragma once
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <vector>

namespace tokamak::fusion {

using Members = llvm::SmallVector<mlir::Operation *>;
/// Groups in an order in which they can run; operations in block order. Views alone are in no group.
using Groups = std::vector<Members>;

/// What a partition costs, in any unit.
using PartitionCost = llvm::function_ref<double(llvm::ArrayRef<Members>)>;
/// Whether one kernel can hold the operations (of one block, in block order).
using CanHold = llvm::function_ref<bool(llvm::ArrayRef<mlir::Operation *>)>;

struct OracleResult {
  double cost = 0;
  Groups groups;
  size_t edges = 0; ///< candidates: a producer and a consumer that kernels can hold
  size_t legal = 0; ///< different partitions without cycles whose groups kernels can hold
};

/// More edges than this are not searched.
inline constexpr size_t oracleEdges = 14;

/// A partition has each operation in one group. What moves into its only reader is one as well; what is
/// computed in several readers, or in another order (a split reduction), is none, and is not tried; nor are
/// two anchors in one kernel, unless `canHold` says so.
///
/// Joins the operations of `block` along every subset of its edges and returns the cheapest legal partition.
/// Nothing where there are more than `oracleEdges`.
std::optional<OracleResult> bestPartition(mlir::Block &block, CanHold canHold, PartitionCost cost);

/// The partition that partitioners have written down in the attributes of the block.
Groups writtenPartition(mlir::Block &block);

} // namespace tokamak::fusion
