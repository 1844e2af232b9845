//===- WinogradUse.h - which convolutions are computed by minimal filtering ------------------===//
#pragma once
#include "analysis/TargetDescription.h"
#include "codegen/anchors/WinogradChoice.h"
#include "ir/Tk.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace tokamak::fusion {

/// What lies in blocks of channels beyond the edge of the graph at hand: nothing beyond a whole program's,
/// whose inputs and results lie in rows.
struct Surroundings {
  bool (*comesInBlocks)(mlir::BlockArgument) = [](mlir::BlockArgument) { return false; };
  /// Of a terminator's operand.
  bool (*leavesInBlocks)(mlir::OpOperand &) = [](mlir::OpOperand &) { return false; };
};

/// Where the weights of the program's convolutions come from, all of which are read in every run.
codegen::WeightSource convolutionWeights(mlir::ModuleOp program, const TargetDescription &target);

/// Chooses for the convolutions of one graph, which does not change meanwhile.
class WinogradUse {
public:
  WinogradUse(codegen::WeightSource weights, const TargetDescription &target, Surroundings surroundings = {})
      : weights(weights), target(target), surroundings(surroundings) {}

  /// 2 or 4 where F(2x2, 3x3) or F(4x4, 3x3) can compute the convolution and is modelled to take less time
  /// than plain sums, else 0. The values of weights do not matter, but that they are constants.
  int64_t outputs(tk::ConvOp conv);

private:
  bool liesInRows(mlir::Value value);
  bool isReadInRows(mlir::Value value) const;
  bool comesInRows(mlir::Value value) const;
  bool isComputedInRows(mlir::Value value);

  codegen::WeightSource weights;
  const TargetDescription &target;
  Surroundings surroundings;
  // Thousands of convolutions may read one value.
  llvm::DenseMap<mlir::Value, bool> readInRows, computedInRows;
};

} // namespace tokamak::fusion
