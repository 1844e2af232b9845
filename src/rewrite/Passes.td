//===- Passes.td - every pass, once ------------------------------------*- tablegen -*-===//
// A pass is found in three places: its entry here (what it does, one sentence), its file of the same name, its test of
// the same name. Passes talk to each other only through the graph.
#ifndef TOKAMAK_PASSES
#define TOKAMAK_PASSES

include "mlir/Pass/PassBase.td"

// All run on the module, regions of control flow included; bodies of composites and groups are left alone.
class Tk_Pass<string argument, string name> : Pass<argument, "::mlir::ModuleOp"> {
  let constructor = "::tokamak::create" # name # "Pass()";
  let dependentDialects = ["::tokamak::tk::TkDialect"];
}

//===--------------------------------------------------------------------------------------------------------===//
// Graph to graph (src/rewrite)
//===--------------------------------------------------------------------------------------------------------===//

def FoldConstants : Tk_Pass<"fold-constants", "FoldConstants"> {
  let summary = "Evaluates operators whose operands are all constants, unless the result would be much larger, and takes "
                "the branch of an if whose condition is constant.";
}
def SimplifyMovementChains : Tk_Pass<"simplify-movement-chains", "SimplifyMovementChains"> {
  let summary = "Removes operators that change nothing and joins chains of reshapes, transposes and lossless casts.";
}
def EliminateCommonSubexpressions
    : Tk_Pass<"eliminate-common-subexpressions", "EliminateCommonSubexpressions"> {
  let summary = "Computes equal operators on equal operands once.";
}
def ApplyRules : Tk_Pass<"apply-rules", "ApplyRules"> {
  let summary = "Applies the rewrite rules of --rules, each compared with the evaluator first.";
  let dependentDialects = ["::tokamak::tk::TkDialect", "::mlir::pdl::PDLDialect"];
  let options = [ListOption<"rules", "rules", "std::string", "files FILE.pdll, or names of shipped rules">,
                 Option<"trust", "trust", "bool", "false", "do not compare the rules with the evaluator">];
}
def FoldBatchNorm : Tk_Pass<"fold-batch-norm", "FoldBatchNorm"> {
  let summary = "Merges an inference batch norm into the weights and the bias of the convolution that it alone follows.";
}
def DecomposeBatchNorm : Tk_Pass<"decompose-batch-norm", "DecomposeBatchNorm"> {
  let summary = "Turns the remaining batch norms with constant statistics into one multiplication and one addition.";
}
def InlineComposites : Tk_Pass<"inline-composites", "InlineComposites"> {
  let summary = "Replaces composites by their operators where those share a kernel either way.";
}
def TransposedToPointwise : Tk_Pass<"transposed-to-pointwise", "TransposedToPointwise"> {
  let summary = "Turns transposed convolutions of few channels whose taps do not overlap into 1x1 convolutions.";
}
def SimplifySlices : Tk_Pass<"simplify-slices", "SimplifySlices"> {
  let summary = "Joins slices and concatenations, and removes what they undo of each other.";
}
def SinkReshapes : Tk_Pass<"sink-reshapes", "SinkReshapes"> {
  let summary = "Moves reshapes behind the elementwise operators that they keep apart from a product or convolution.";
}
def SinkTransposes : Tk_Pass<"sink-transposes", "SinkTransposes"> {
  let summary = "Moves transposes behind elementwise operators to where they meet the next transpose.";
}
def FoldTransposes : Tk_Pass<"fold-transposes", "FoldTransposes"> {
  let summary = "Lets matrix products read operands in place whose last two axes are exchanged.";
}
def FoldPadding : Tk_Pass<"fold-padding", "FoldPadding"> {
  let summary = "Lets convolutions and windows do the padding in front of them.";
}
def ReduceStrength : Tk_Pass<"reduce-strength", "ReduceStrength"> {
  let summary = "Turns powers and divisions into multiplications, and removes signs.";
}
def JoinClips : Tk_Pass<"join-clips", "JoinClips"> {
  let summary = "Joins minima and maxima with constants in a row.";
}
def GatherConstants : Tk_Pass<"gather-constants", "GatherConstants"> {
  let summary = "Joins the constants that chains of additions and multiplications contain.";
}
def FoldScaleShift : Tk_Pass<"fold-scale-shift", "FoldScaleShift"> {
  let summary = "Merges scales and shifts of channels into the weights and the bias of convolutions and matrix products.";
}
def ReassociateProducts : Tk_Pass<"reassociate-products", "ReassociateProducts"> {
  let summary = "Multiplies two constant matrices of a chain where one product by the result costs less than two.";
}
def MergeSiblings : Tk_Pass<"merge-siblings", "MergeSiblings"> {
  let summary = "Merges convolutions, and matrix products, that read one value with equal geometry.";
}
def EnlargeKernels : Tk_Pass<"enlarge-kernels", "EnlargeKernels"> {
  let summary = "Gives a centred convolution the larger kernel of its sibling, with zeros around its own; "
                "finite inputs only.";
}
def ResidualToConvolution : Tk_Pass<"residual-to-convolution", "ResidualToConvolution"> {
  let summary = "Makes what is added to a convolution of the same split an identity convolution; finite inputs only.";
}
def MergeSums : Tk_Pass<"merge-sums", "MergeSums"> {
  let summary = "Makes one convolution, or matrix product, of the sum of two.";
}
def RewriteSearch : Tk_Pass<"rewrite-search", "RewriteSearch"> {
  let summary = "Searches for sequences of the four rewrites above that lower the modelled cost (--fusion full).";
  let constructor = "::tokamak::createRewriteSearchPass()";
  let options = [ListOption<"force", "force", "std::string", "rewrites to apply wherever they are legal">,
                 Option<"bound", "bound", "int64_t", "32", "states modelled in one neighbourhood at most">,
                 Option<"exact", "exact", "bool", "false", "choose-winograd will not run">];
}
def EliminateDeadCode : Tk_Pass<"eliminate-dead-code", "EliminateDeadCode"> {
  let summary = "Removes operators whose results nothing uses.";
}

//===--------------------------------------------------------------------------------------------------------===//
// Fusion (src/fusion)
//===--------------------------------------------------------------------------------------------------------===//

def PartitionNone : Tk_Pass<"partition-none", "PartitionNone"> {
  let summary = "Puts every operator into a group of its own (--fusion none).";
}
def PartitionDominator : Tk_Pass<"partition-dominator", "PartitionDominator"> {
  let summary = "Groups operators by the post-dominator tree, as the published baseline does (--fusion dominator).";
}
def ChooseWinograd : Tk_Pass<"choose-winograd", "ChooseWinograd"> {
  let summary = "Marks convolutions of 3x3 taps that take less time by minimal filtering; not with --exact.";
}
def SeparateRepeats : Tk_Pass<"separate-repeats", "SeparateRepeats"> {
  let summary = "Takes expensive producers out of groups whose kernels would compute each element again and again "
                "(--fusion full).";
}
def MergeRows : Tk_Pass<"merge-rows", "MergeRows"> {
  let summary = "Merges groups around reductions that still run row by row (--fusion full).";
}
def MergeOutputs : Tk_Pass<"merge-outputs", "MergeOutputs"> {
  let summary = "Merges a group into one that reads it although others need its value too, which the kernel then stores "
                "(--fusion full).";
}
def RecomputeProducers : Tk_Pass<"recompute-producers", "RecomputeProducers"> {
  let summary = "Computes cheap values inside the kernels that read them, again in each, anchors included "
                "(--fusion full).";
}
def MergeAnchors : Tk_Pass<"merge-anchors", "MergeAnchors"> {
  let summary = "Computes an anchor inside the kernel of the one that reads it, band by band, where the values between "
                "them would leave the cache (--fusion full).";
}
def SplitReductions : Tk_Pass<"split-reductions", "SplitReductions"> {
  let summary = "Lets convolutions add up their results, band by band, where a reduction over space reads them "
                "(--fusion full).";
}
def OutlineGroups : Tk_Pass<"outline-groups", "OutlineGroups"> {
  let summary = "Turns each group, and each operator without one, into a tk.fusion region.";
}
def ScheduleWaves : Tk_Pass<"schedule-waves", "ScheduleWaves"> {
  let summary = "Puts kernels that do not depend on each other into waves, each one dispatch, where threads would idle "
                "(--fusion full).";
  let constructor = "::tokamak::createScheduleWavesPass()";
  let options = [Option<"threads", "threads", "int64_t", "0", "that run the program; 0: one a core of the target">];
}

//===--------------------------------------------------------------------------------------------------------===//
// For the developer's tool
//===--------------------------------------------------------------------------------------------------------===//

def PrintPostDominatorTree : Tk_Pass<"print-post-dominator-tree", "PrintPostDominatorTree"> {
  let summary = "Prints the post-dominator tree of every function and region on standard output.";
}

#endif
