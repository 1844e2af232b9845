//===- MatMulKernel.h - matrix products with prologue and epilogue ----------------------------------===//
#pragma once
#include "codegen/anchors/MatMul.h"
#include "codegen/kernel/AnchorOperands.h"
#include "codegen/kernel/MatrixChain.h"
#include "codegen/kernel/Prologue.h"

namespace tokamak::codegen {

/// A matrix product of a group and where its operands come from: memory, expressions, or another product.
class ProductPlan {
public:
  /// `rows`: as a product that reads the result from scratch wants it. Where values are computed into scratch
  /// beforehand, a task has all rows of a matrix.
  static std::optional<ProductPlan> create(KernelBody &body, tk::MatMulOp product, const KernelMemory &memory,
                                           const std::optional<MatMulRows> &rows,
                                           const TargetDescription &target);

  tk::MatMulOp product;
  std::shared_ptr<MatMulPlan> plan;
  double accesses = 0, repeats = 1; ///< as in KernelStrategy

  bool isChain() const { return chain != nullptr; }
  int64_t scratchBytes() const;
  /// What is known of the products of a chain, in the order of the group.
  void addAnchors(std::vector<ChainedAnchor> &anchors) const;
  void addPacking(std::vector<std::function<Tensor(const Tensor &)>> &packing) const;
  /// Emits the tasks of `k`; `prepare` comes first in each.
  void emit(KernelContext &k, mlir::Value scratch, const EpilogueFn &epilogue,
            const std::function<void(llvm::ArrayRef<RegionAxis> batch)> &prepare = nullptr) const;
  /// Emits all columns of some rows.
  void emitBand(KernelContext &k, mlir::Value scratch, const MatMulBand &band,
                const EpilogueFn &epilogue) const;

private:
  int64_t ownScratch() const; ///< behind it lies that of the chain
  MatMulInputFns inputs(KernelContext &k, mlir::Value scratch) const;

  AnchorOperands operands;
  MatrixInput lhs, rhs;
  std::shared_ptr<MatrixChain> chain;
};

/// The kernel of a product whose accumulators become the group's results.
std::optional<KernelStrategy> planMatMulKernel(KernelBody &body, tk::MatMulOp product,
                                               const KernelMemory &memory, const TargetDescription &target);

} // namespace tokamak::codegen
