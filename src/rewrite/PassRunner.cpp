//===- PassRunner.cpp - the pass pipeline from graph to groups ---------------------------------===//
#include "rewrite/PassRunner.h"
#include "analysis/TargetFile.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "rewrite/CostedRewrite.h"
#include "rewrite/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

namespace tokamak {
#define GEN_PASS_REGISTRATION
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;

void tokamak::buildPipeline(OpPassManager &passes, const PipelineOptions &options,
                            const PassStatePtr &state) {
  auto isDisabled = [&](llvm::StringRef name) { return llvm::is_contained(options.disabledPasses, name); };
  auto add = [&](std::unique_ptr<Pass> pass) {
    if (!isDisabled(pass->getArgument()))
      passes.addPass(std::move(pass));
  };
  const bool fuses = options.fusion != FusionMode::None;

  // Shape arithmetic and other work on constants is done now.
  add(createFoldConstantsPass(state));
  // Reshapes, transposes and casts that cancel, so that what they hide is seen below.
  add(createSimplifyMovementChainsPass(state));
  // Equal operators become one; before batch norms, which want their convolution for themselves.
  add(createEliminateCommonSubexpressionsPass(state));
  // Nothing dead may count as a user.
  add(createEliminateDeadCodePass(state));
  // Rules that the user gave, on whole nodes taken apart, and the constants that they leave to be folded.
  if (options.fusion == FusionMode::Full && !options.rules.empty()) {
    add(createInlineCompositesPass(state));
    add(createApplyRulesPass(options.rules, options.trustRules, state));
    add(createFoldConstantsPass(state));
  }
  // Inference batch norms go into the convolution before them, ...
  add(createFoldBatchNormPass(state));
  // ... or become two elementwise operators, where those are fused.
  if (fuses)
    add(createDecomposeBatchNormPass(state));
  // Algebra, which the published baseline does not have: first what makes more of it visible, ...
  if (options.fusion == FusionMode::Full) {
    add(createInlineCompositesPass(state));
    add(createTransposedToPointwisePass(state));
    add(createSimplifySlicesPass(state));
    add(createSinkReshapesPass(state));
    add(createSinkTransposesPass(state));
    add(createFoldTransposesPass(state));
    // ... cheap forms, with the constants of a chain in one place, ...
    add(createReduceStrengthPass(state));
    add(createJoinClipsPass(state));
    add(createGatherConstantsPass(state));
    // ... from where weights and biases take them up: padding first, which may stand between, ...
    add(createFoldPaddingPass(state));
    add(createFoldScaleShiftPass(state));
    // ... and again where a scale or a shift stood between it and the convolution.
    add(createFoldPaddingPass(state));
    add(createReassociateProductsPass(state));
  }
  // Constants that the above made equal or left unused.
  add(createEliminateCommonSubexpressionsPass(state));
  add(createEliminateDeadCodePass(state));
  // Siblings and sums of anchors merge, as asked and then as it pays by the model, beyond what it may be
  // wrong; the weights that they leave are computed now.
  if (options.fusion == FusionMode::Full) {
    add(createRewriteSearchPass(options.forcedRewrites, options.exact || isDisabled("choose-winograd"),
                                state));
    add(createSimplifySlicesPass(state)); // what was cut apart and is joined again
    add(createFoldConstantsPass(state));
    add(createEliminateDeadCodePass(state));
  }
  // How convolutions are computed, in every mode: what fusion gains is told from kernels of the same kind.
  if (!options.exact)
    add(createChooseWinogradPass(state));
  // Groups: each operator alone, or by the published baseline, ...
  add(fuses ? createPartitionDominatorPass(state) : createPartitionNonePass(state));
  // ... which `full` goes beyond: what they would compute again and again gets a kernel of its own, ...
  if (options.fusion == FusionMode::Full) {
    add(createSeparateRepeatsPass(state));
    // ... and reductions share a kernel with what surrounds them.
    add(createMergeRowsPass(state));
    // Values that several kernels need are stored by one that needs them itself.
    add(createMergeOutputsPass(state));
    // What is cheaper to compute than to move is computed where it is read.
    add(createRecomputeProducersPass(state));
    // Values between anchors that would not stay in the cache are computed band by band.
    add(createMergeAnchorsPass(state));
    // What convolutions compute is added up before it leaves the registers.
    add(createSplitReductionsPass(state));
  }
  // One region operation a group.
  add(createOutlineGroupsPass());
  // Kernels that leave threads idle run beside others.
  if (options.fusion == FusionMode::Full)
    add(createScheduleWavesPass(options.threads, state));
}

/// Without it there are no kernels to emit.
static constexpr llvm::StringLiteral indispensable = "outline-groups";

std::vector<PassListing> tokamak::listPasses() {
  std::vector<PassListing> listing;
  llvm::StringSet<> seen;
  for (FusionMode mode : {FusionMode::Full, FusionMode::None}) {
    OpPassManager passes(ModuleOp::getOperationName());
    PipelineOptions options;
    options.fusion = mode;
    options.rules = {""}; // none to be read: the pass is listed, not run
    buildPipeline(passes, options, std::make_shared<PassState>());
    for (Pass &pass : passes)
      if (seen.insert(pass.getArgument()).second)
        listing.push_back(
            {pass.getArgument().str(), pass.getDescription().str(), pass.getArgument() != indispensable});
  }
  return listing;
}

std::vector<std::string> tokamak::forcibleRewrites() {
  std::vector<std::string> names;
  for (const rewrite::CostedRewrite *rewrite : rewrite::costedRewrites())
    names.push_back(rewrite->name().str());
  return names;
}

std::string tokamak::whyNotForced(const PipelineOptions &options) {
  if (options.forcedRewrites.empty())
    return "";
  const std::string what = "rewrite '" + options.forcedRewrites.front() + "' cannot be forced: ";
  if (options.fusion != FusionMode::Full)
    return what + "rewrites are searched and forced with --fusion full alone";
  if (llvm::is_contained(options.disabledPasses, "rewrite-search"))
    return what + "pass 'rewrite-search', which forces it, is disabled";
  return "";
}

/// Emits an error for a name that no pass has, or whose pass must run.
static LogicalResult checkDisabled(ModuleOp module, const std::vector<std::string> &names) {
  if (names.empty())
    return success();
  std::vector<PassListing> known = listPasses();
  for (const std::string &name : names) {
    auto found = llvm::find_if(known, [&](const PassListing &pass) { return pass.name == name; });
    if (found == known.end())
      return module.emitError("there is no pass '") << name << "' to disable; --list-passes names them all";
    if (!found->switchable)
      return module.emitError("pass '") << name << "' cannot be disabled: without it there are no kernels";
  }
  return success();
}

namespace {
/// Says which pass failed, or left a graph that does not verify.
struct NameFailedPass : PassInstrumentation {
  void runAfterPassFailed(Pass *pass, Operation *op) override {
    op->emitError("pass '") << pass->getArgument() << "' failed";
  }
};
} // namespace

LogicalResult tokamak::runPipeline(ModuleOp module, const PipelineOptions &options) {
  if (failed(checkDisabled(module, options.disabledPasses)))
    return failure();
  if (std::string reason = whyNotForced(options); !reason.empty()) {
    if (options.inputFault)
      *options.inputFault = true;
    return module.emitError(reason);
  }
  auto state = std::make_shared<PassState>();
  state->fuel = Fuel(options.fuel);
  state->decisions = options.decisions;
  state->target = options.target ? *options.target : TargetDescription::host();

  PassManager passes(module->getName());
  passes.enableVerifier(true);
  passes.addInstrumentation(std::make_unique<NameFailedPass>());
  if (options.printAfterChange)
    passes.enableIRPrinting([](Pass *, Operation *) { return false; },
                            [](Pass *, Operation *) { return true; },
                            /*printModuleScope=*/false, /*printAfterOnlyOnChange=*/true,
                            /*printAfterOnlyOnFailure=*/false, llvm::errs(),
                            OpPrintingFlags().elideLargeElementsAttrs().elideLargeResourceString());
  if (options.timing)
    passes.enableTiming();
  buildPipeline(passes, options, state);
  LogicalResult result = passes.run(module);

  if (options.removed)
    *options.removed = state->removed.removedFrom(module);
  if (options.searches)
    *options.searches = std::move(state->searches);
  if (options.fuelUsed)
    *options.fuelUsed = state->fuel.used();
  if (options.lastApplied)
    *options.lastApplied = state->fuel.last();
  if (options.inputFault)
    *options.inputFault = state->inputFault;
  return result;
}

namespace {
/// The pipeline's options in tokamak-opt.
struct TextOptions : PassPipelineOptions<TextOptions> {
  Option<FusionMode> fusion{
      *this, "fusion", llvm::cl::desc("which partitioner"), llvm::cl::init(FusionMode::Full),
      llvm::cl::values(clEnumValN(FusionMode::None, "none", "every operator alone"),
                       clEnumValN(FusionMode::Dominator, "dominator", "the published baseline"),
                       clEnumValN(FusionMode::Full, "full", "by cost"))};
  Option<int64_t> fuel{*this, "fuel", llvm::cl::desc("applied rewrites and merges at most"),
                       llvm::cl::init(-1)};
  ListOption<std::string> disable{*this, "disable", llvm::cl::desc("passes to leave out")};
  ListOption<std::string> force{*this, "force-rewrite", llvm::cl::desc("as of the command")};
  Option<bool> exact{*this, "exact", llvm::cl::desc("as of the command"), llvm::cl::init(false)};
  Option<int64_t> threads{*this, "threads", llvm::cl::desc("that run the program; 0: one a core"),
                          llvm::cl::init(0)};
  Option<std::string> targetCpu{*this, "target-cpu", llvm::cl::desc("as of the command"),
                                llvm::cl::init("native")};
  Option<std::string> targetDescription{*this, "target-description", llvm::cl::desc("as of the command")};
};
} // namespace

void tokamak::registerAllPasses() {
  registerTokamakPasses();
  // Not through PassPipelineRegistration, whose builders cannot refuse.
  registerPassPipeline(
      "tokamak-pipeline", "All passes from graph to groups.",
      [](OpPassManager &passes, StringRef text, function_ref<LogicalResult(const Twine &)> refuse) {
        TextOptions options;
        if (failed(options.parseFromString(text)))
          return failure();
        llvm::Expected<TargetDescription> target =
            resolveTarget(options.targetCpu, options.targetDescription);
        if (!target)
          return refuse(llvm::toString(target.takeError()));
        PipelineOptions pipeline;
        pipeline.fusion = options.fusion;
        pipeline.disabledPasses = {options.disable.begin(), options.disable.end()};
        pipeline.threads = options.threads;
        pipeline.exact = options.exact;
        pipeline.forcedRewrites = {options.force.begin(), options.force.end()};
        if (std::string reason = whyNotForced(pipeline); !reason.empty())
          return refuse(reason);
        auto state = std::make_shared<PassState>();
        state->target = std::move(*target);
        state->fuel = Fuel(options.fuel);
        buildPipeline(passes, pipeline, state);
        return success();
      },
      [](function_ref<void(const detail::PassOptions &)> show) { show(TextOptions()); });
}
