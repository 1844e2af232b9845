//===- CostModel.h - how long a group of operators takes as one kernel ---------------------===//
// A function of the graph and the target description alone: nothing is emitted or measured here, though the
// element expressions are asked what they consist of. Times are of a run whose predecessor was the same
// program on the same caches.
#pragma once
#include "analysis/LevelTraffic.h"
#include "analysis/TargetDescription.h"
#include "codegen/kernel/ExpressionCost.h"
#include "codegen/kernel/KernelEstimate.h"
#include "codegen/kernel/RowEstimate.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>
#include <unordered_map>
#include <vector>

namespace tokamak::fusion {

/// Of one kernel. Times in seconds.
struct GroupCost {
  double anchor = 0;       ///< multiply-adds of convolutions, products and windows, on one core
  double elementwise = 0;  ///< everything else that is computed, on one core
  double memory = 0;       ///< bytes beyond the first level through one core
  double sharedMemory = 0; ///< bytes of main memory through all cores together
  double call = 0;         ///< calling the kernel
  double dispatch = 0;     ///< waking the other threads and joining them
  double parallelism = 1;  ///< threads that the tasks keep busy, at most those of the model
  int64_t tasks = 1;
  int64_t flops = 0;
  /// Elements computed over elements that would be if each value were computed once; 1 without recomputation.
  double recomputation = 1;
  /// How often an element of the same operator is computed, at most, among operators that are dear to repeat.
  double dearRepeats = 1;
  int64_t instructions = 0;       ///< written out around the anchor's or the nest's innermost loop
  analysis::LevelTraffic traffic; ///< each operand and result once
  /// What an anchor reads again and again while it works: from the second level, since its tiles are cut for
  /// that. The efficiency of its family holds the time.
  analysis::LevelTraffic again;
  std::string refusal; ///< why there can be no such kernel, in a few words; empty where there can

  double compute() const { return anchor + elementwise; }
  /// The whole on one core: computing hides most of the time that memory takes, or the other way round.
  double serial() const;
  /// Of one run with the threads of the model; infinite where refused.
  double seconds() const;
  /// Of the same with the other threads awake: waking them costs nothing where one runs alone, so what is
  /// fused must pay without.
  double secondsAwake() const { return seconds() - dispatch; }
};

class CostModel {
public:
  /// `threads`: that run a program, 0 for one a core.
  explicit CostModel(const TargetDescription &target, int64_t threads = 0);

  using Members = llvm::SmallVector<mlir::Operation *>;

  /// `members` (of one block, in block order; or one tk.fusion, library call or composite alone) as one
  /// kernel, by itself: its activations have just been written, its weights come from beyond the caches where
  /// the model's do.
  GroupCost group(llvm::ArrayRef<mlir::Operation *> members) const;

  /// The kernels of one block in the order in which they run, each with the memory traffic that its place
  /// brings.
  std::vector<GroupCost> program(llvm::ArrayRef<Members> kernels) const;

  /// Whether one of the operators is dear to repeat: else `GroupCost::dearRepeats` of a kernel that holds
  /// them is 1, which takes no pricing to know.
  bool holdsDear(llvm::ArrayRef<mlir::Operation *> members) const;

  /// What `group` assumes around a kernel: bytes of weights, and whether convolutions give images their
  /// layout.
  void setProgram(mlir::ModuleOp program);
  void setProgramWeights(int64_t bytes) { programWeights = bytes; }
  const TargetDescription &targetDescription() const { return target; }

private:
  GroupCost price(llvm::ArrayRef<mlir::Operation *> members, const analysis::LevelTraffic &traffic,
                  bool imagesAreBlocked) const;
  codegen::KernelEstimate estimateOf(llvm::ArrayRef<mlir::Operation *> members) const;
  codegen::RowEstimate rowsOf(llvm::ArrayRef<mlir::Operation *> members) const;
  codegen::ExpressionCost wholeOf(llvm::ArrayRef<mlir::Operation *> members, bool imagesAreBlocked) const;
  const codegen::ExpressionCost &expressionOf(mlir::Operation *op) const;

  TargetDescription target;
  int64_t threads;
  int64_t programWeights = 0;
  bool hasConvolutions = false;
  mutable std::unordered_map<size_t, codegen::ExpressionCost> expressions; ///< by what the operator is
};

/// A hash of what decides the cost of an operator's element expression.
size_t identityOf(mlir::Operation *op);

/// "1.2 us instead of 3.4 us": two times as decisions name them.
std::string comparison(double together, double apart);

} // namespace tokamak::fusion
