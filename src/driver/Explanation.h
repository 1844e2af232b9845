//===- Explanation.h - what became of each ONNX node, as data ----------------------------------===//
#pragma once
#include "driver/ExplanationGraph.h"
#include "driver/Pipeline.h"

namespace tokamak::driver {

/// One kernel or library call.
struct GroupReport {
  int64_t id = 0;
  std::string kernel; ///< "conv_add_relu"; equal groups share a name
  std::string kind;   ///< the largest pattern kind in it
  /// Results of a tile along both axes where its convolution goes by minimal filtering (docs/winograd.md);
  /// else 0.
  int64_t winograd = 0;
  std::vector<std::string> nodes; ///< ONNX node names; behind them the If or Loop whose body it is in
  std::vector<std::string> inputs, outputs; ///< ONNX value names; weights are not listed
  analysis::Traffic traffic;
  analysis::Traffic apart;            ///< the sum if each of its operators were a kernel
  analysis::LevelTraffic levels;      ///< by memory level, with what is read again and again
  analysis::LevelTraffic apartLevels; ///< the same if each of its operators were a kernel
  size_t wave = 0;                    ///< groups of one number run at the same time, in one dispatch
  fusion::GroupCost cost;             ///< what the model expects of it, its traffic by memory level included
};

/// A partition in the words of the ONNX file.
struct Explanation {
  int64_t onnxNodes = 0;           ///< of the file, subgraphs included, Constant nodes not
  std::vector<GroupReport> groups; ///< in the order in which they run; bodies of control flow in place
  size_t waves = 0;                ///< dispatches: groups, but for those that run beside others
  std::vector<Decision> decisions;
  std::vector<SearchReport> searches; ///< where rewrite-search changed the graph
  /// ONNX node -> "folded", "dead", "identity" or "merged into NAME", in the order of the file: every node
  /// that is in no group. Those of a branch that is not taken are dead.
  std::vector<std::pair<std::string, std::string>> removed;
  analysis::Traffic unfused, fused; ///< of one run; `kernels` counts groups
  /// Of one run, by memory level: without fusion, and of the groups.
  analysis::LevelTraffic unfusedLevels, fusedLevels;
  double unfusedSeconds = 0, fusedSeconds = 0; ///< of one run, modelled
  TargetDescription target;                    ///< the machine that this is modelled for
  ExplanationGraph graph;
};

/// Partitions `model` as `options` say, and once more without fusion to compare with.
llvm::Expected<Explanation> explainModel(const import::Model &model, const CompileOptions &options);

} // namespace tokamak::driver
