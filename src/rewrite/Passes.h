//===- Passes.h - every pass, and their registration --------------------------------------===//
#pragma once
#include "ir/Tk.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "rewrite/PassState.h"

namespace tokamak {

// One a pass of Passes.td. Without the state that it could share, a pass gets one of its own: unlimited fuel,
// logs that nobody reads.
std::unique_ptr<mlir::Pass> createFoldConstantsPass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createSimplifyMovementChainsPass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createEliminateCommonSubexpressionsPass(PassStatePtr state = nullptr);
/// `rules`: files, or names of shipped rules; `trust`: they are not compared with the evaluator.
std::unique_ptr<mlir::Pass> createApplyRulesPass(std::vector<std::string> rules, bool trust,
                                                 PassStatePtr state = nullptr);
/// With the rules of its own options, for tokamak-opt.
std::unique_ptr<mlir::Pass> createApplyRulesPass();
std::unique_ptr<mlir::Pass> createFoldBatchNormPass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createDecomposeBatchNormPass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createInlineCompositesPass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createTransposedToPointwisePass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createSimplifySlicesPass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createSinkReshapesPass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createSinkTransposesPass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createFoldTransposesPass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createFoldPaddingPass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createReduceStrengthPass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createJoinClipsPass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createGatherConstantsPass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createFoldScaleShiftPass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createReassociateProductsPass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createMergeSiblingsPass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createEnlargeKernelsPass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createResidualToConvolutionPass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createMergeSumsPass(PassStatePtr state = nullptr);
/// `force`: names of rewrites to apply wherever they are legal, whatever they cost. `exact`: choose-winograd
/// will not run.
std::unique_ptr<mlir::Pass> createRewriteSearchPass(const std::vector<std::string> &force, bool exact,
                                                    PassStatePtr state);
/// With the names of its own options, for tokamak-opt.
std::unique_ptr<mlir::Pass> createRewriteSearchPass();
std::unique_ptr<mlir::Pass> createEliminateDeadCodePass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createPartitionNonePass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createPartitionDominatorPass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createChooseWinogradPass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createSeparateRepeatsPass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createMergeRowsPass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createMergeOutputsPass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createRecomputeProducersPass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createMergeAnchorsPass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createSplitReductionsPass(PassStatePtr state = nullptr);
std::unique_ptr<mlir::Pass> createOutlineGroupsPass();
/// `threads`: that run the program; 0 for one a core of the target.
std::unique_ptr<mlir::Pass> createScheduleWavesPass(int64_t threads, PassStatePtr state);
/// With the threads of its own options, for tokamak-opt.
std::unique_ptr<mlir::Pass> createScheduleWavesPass();
std::unique_ptr<mlir::Pass> createPrintPostDominatorTreePass();

/// Makes all passes known to tokamak-opt's `--pass-pipeline`, and the whole pipeline as
/// `tokamak-pipeline{fusion=dominator fuel=-1 disable=...}`.
void registerAllPasses();

} // namespace tokamak
