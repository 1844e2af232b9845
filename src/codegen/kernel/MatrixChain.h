//===- MatrixChain.h - rows of a product that another product reads from scratch --------------------===//
// Attention, and a perceptron with one hidden layer, are two matrix products with row-wise work between them:
// scores = Q K^T, masked, softmax, times V. The second product asks for its left operand band of rows by band
// of rows; here that is computed where it is asked for, the first product's accumulators going into scratch
// through its epilogue, reductions running over the rows in place. The value between the products never
// leaves the cache. The first product may be missing: then the rows start from memory.
#pragma once
#include "codegen/anchors/MatMul.h"
#include "codegen/kernel/KernelContext.h"

namespace tokamak::codegen {

/// Operators that `value` is computed by, up to arguments and to the values in `stop`.
llvm::DenseSet<mlir::Operation *> sourcesOf(mlir::Value value, llvm::ArrayRef<mlir::Value> stop = {});
/// Whether operators with loops of their own are among them, as far as they are not computed before.
bool hasHeavySource(KernelBody &body, const KernelMemory &memory, mlir::Value value);

class MatrixChain {
public:
  virtual ~MatrixChain() = default;
  virtual int64_t scratchBytes() const = 0;
  virtual double accesses() const = 0;
  /// What is known of the products in it, in the order of the group.
  virtual void addAnchors(std::vector<ChainedAnchor> &anchors) const = 0;
  /// As in EmittedKernel, of weights of products in the chain.
  virtual void addPacking(std::vector<std::function<Tensor(const Tensor &)>> &packing) const = 0;
  /// Computes rows of the operand; `scratch` is the chain's own.
  virtual MatrixInputFn compute(KernelContext &k, mlir::Value scratch) const = 0;
};

/// How `operand`, the left operand of `reader` whose rows are cut as `rows` says, is computed by another
/// product or by reductions; nothing where it cannot be.
std::shared_ptr<MatrixChain> planMatrixChain(KernelBody &body, const KernelMemory &memory,
                                             tk::MatMulOp reader, const MatMulRows &rows,
                                             const TargetDescription &target);

} // namespace tokamak::codegen
