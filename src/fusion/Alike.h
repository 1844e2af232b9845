//===- Alike.h - producers of one reader that differ in nothing that decides -------------------------===//
// A concatenation of hundreds of parts has as many producers, and a kernel of one of them and of it is priced
// by emitting all of its parts. Most of the producers compute the same of other values, and what was found
// for one holds for all.
#pragma once
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <map>

namespace tokamak::fusion {

/// Whether the reader is so large that its producers are worth comparing.
bool isWideReader(llvm::ArrayRef<mlir::Operation *> reader);

/// Compares producers of one such reader. Refers to its operators.
class ProducersOfReader {
public:
  explicit ProducersOfReader(llvm::ArrayRef<mlir::Operation *> reader);

  /// A hash of what the producers are, how they read each other and what the reader reads of them; who they
  /// are, and which of a concatenation's parts, is left out.
  size_t likenessOf(llvm::ArrayRef<mlir::Operation *> producers) const;

private:
  llvm::DenseMap<mlir::Operation *, size_t> identities; ///< of the reader's operators
  llvm::DenseSet<mlir::Value> read;                     ///< by them
};

/// What was found for producers of one reader, by their likeness.
template <typename Found>
struct FoundAlike {
  explicit FoundAlike(llvm::ArrayRef<mlir::Operation *> reader) : producers(reader) {}
  ProducersOfReader producers;
  std::map<size_t, Found> found;
};

} // namespace tokamak::fusion
