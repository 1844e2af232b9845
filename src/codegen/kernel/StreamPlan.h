//===- StreamPlan.h - how attention is cut into blocks of keys --------------------------------------===//
#pragma once
#include "codegen/anchors/AxisTiling.h"
#include "codegen/anchors/MatMul.h"
#include "codegen/kernel/KernelContext.h"
#include "codegen/kernel/Prologue.h"
#include "codegen/kernel/SoftmaxMatch.h"

namespace tokamak::codegen {

/// What a kernel of StreamedProducts.h is made of.
class StreamPlan {
public:
  using Extents = llvm::SmallVector<int64_t>;

  static llvm::Expected<std::shared_ptr<StreamPlan>>
  create(KernelBody &body, tk::MatMulOp reader, const KernelMemory &memory, const TargetDescription &target);
  /// All but the emission.
  KernelStrategy strategy() const;

  /// An operand of one of the products, in memory or computed part by part.
  struct Operand {
    mlir::Value value;
    std::optional<size_t> argument;
    MatrixInput computed;

    bool isComputed() const { return !argument; }
    Extents batch() const { return Extents(tk::tensorType(value).getShape().drop_back(2)); }
  };
  /// A block of keys: the products' plans for so many. The second one has the weights in its scratch.
  struct Block {
    int64_t keys = 0;
    std::unique_ptr<MatMulPlan> scores, results;
  };

  TargetDescription target;
  tk::MatMulOp reader;
  SoftmaxMatch softmax;
  Operand queries, keys, values;
  bool transposesKeys = false;     ///< they lie as the rows of a matrix
  Extents scoreBatch, resultBatch; ///< of the two products: the same matrices, maybe along other axes
  int64_t rowCount = 1, keyCount = 1, depth = 1, width = 1;
  MatMulRows rows;
  int64_t bands = 1;    ///< of one matrix: a task each
  int64_t bandRows = 1; ///< at most
  AxisTiling tiling;    ///< of the rows
  Block whole, last;    ///< `last` has the keys that are left over, if any
  /// Places in scratch, in bytes: of the first product, of the results so far (rows of whole vectors), and of
  /// what OnlineRows keeps. What the second product needs comes first.
  int64_t scoresScratch = 0, accumulators = 0, rowState = 0, bytes = 0;

private:
  std::optional<Operand> operandOf(KernelBody &body, const KernelMemory &memory, mlir::Value value,
                                   bool isTransposed, bool isWhole, bool mayLie) const;
  llvm::Error planBlocks();
  llvm::Expected<Block> planBlock(int64_t keys) const;
};

inline int64_t roundUp(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

} // namespace tokamak::codegen
