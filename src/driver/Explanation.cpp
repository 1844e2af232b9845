//===- Explanation.cpp - what became of each ONNX node, as data --------------------------------===//
#include "driver/Explanation.h"
#include "driver/ValueNames.h"
#include "driver/VerifyFiltering.h"
#include "ir/Tk.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace tokamak::driver {

using llvm::StringRef;

/// The ONNX nodes of an operation and what is inside it, in order.
static llvm::SetVector<StringRef> nodesOf(mlir::Operation *op) {
  llvm::SetVector<StringRef> names;
  op->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *inner) {
    if (llvm::isa<tk::FusionOp, tk::ConstantOp, tk::YieldOp>(inner))
      return;
    for (const tk::OnnxNode &node : tk::onnxNodes(inner->getLoc()))
      names.insert(node.name);
  });
  return names;
}

/// The largest kind of the operators in a group.
static FusionKind kindOf(mlir::Operation *op) {
  if (auto simple = llvm::dyn_cast<tk::FusionKindInterface>(op))
    return simple.getFusionKind();
  FusionKind largest = FusionKind::Elementwise;
  for (mlir::Operation &inner : op->getRegion(0).front().without_terminator()) {
    if (auto kind = llvm::dyn_cast<tk::FusionKindInterface>(&inner))
      largest = std::max(largest, kind.getFusionKind());
  }
  return largest;
}

static GroupReport report(mlir::Operation *op, int64_t id, ValueNames &names,
                          const llvm::StringMap<std::string> &noted) {
  GroupReport group;
  group.id = id;
  auto fusion = llvm::dyn_cast<tk::FusionOp>(op);
  group.kernel = fusion && fusion.getName() ? fusion.getName()->str() : op->getName().stripDialect().str();
  group.kind = stringifyFusionKind(kindOf(op)).str();
  if (tk::ConvOp conv = fusion ? filteredConvolution(fusion) : nullptr)
    group.winograd = static_cast<int64_t>(*conv.getWinograd());
  // A node that was merged into another is reported as removed; its name stays in the location.
  for (StringRef node : nodesOf(op)) {
    if (!noted.contains(node))
      group.nodes.push_back(node.str());
  }
  for (mlir::Operation *around = op->getParentOp(); llvm::isa<tk::IfOp, tk::LoopOp>(around);
       around = around->getParentOp()) {
    for (const tk::OnnxNode &node : tk::onnxNodes(around->getLoc())) {
      if (!llvm::is_contained(group.nodes, node.name))
        group.nodes.push_back(node.name.str());
    }
  }
  llvm::SetVector<mlir::Value> read;
  for (mlir::Value operand : op->getOperands())
    read.insert(analysis::bufferOf(operand));
  for (mlir::Value value : read) {
    if (!tk::constantValue(value))
      group.inputs.push_back(names(value));
  }
  for (mlir::Value result : op->getResults())
    group.outputs.push_back(names(result));
  group.traffic = analysis::trafficOf(op);
  return group;
}

/// Kernels and library calls, those in bodies of control flow included.
static llvm::SmallVector<mlir::Operation *> groupsOf(mlir::ModuleOp module) {
  llvm::SmallVector<mlir::Operation *> groups;
  module.lookupSymbol<mlir::func::FuncOp>("main").walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *op) {
    if (llvm::isa<mlir::func::FuncOp, tk::IfOp, tk::LoopOp>(op))
      return mlir::WalkResult::advance();
    if (!analysis::isFree(op))
      groups.push_back(op);
    return mlir::WalkResult::skip();
  });
  return groups;
}

static analysis::Traffic totals(mlir::ModuleOp module) {
  auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
  analysis::Traffic traffic = analysis::trafficOf(main.getBody().front());
  traffic.kernels = static_cast<int64_t>(groupsOf(module).size());
  return traffic;
}

static analysis::LevelTraffic levelsOf(llvm::ArrayRef<Prediction> steps) {
  analysis::LevelTraffic levels;
  for (const Prediction &step : steps) {
    levels += step.cost.traffic.times(step.calls);
    levels += step.cost.again.times(step.calls);
  }
  return levels;
}

/// Names of the nodes on which the outputs depend.
static llvm::StringSet<> liveNodes(llvm::ArrayRef<import::ModelNode> nodes,
                                   const import::ModelSignature &signature) {
  // Two branches of an If may use one name.
  llvm::StringMap<llvm::SmallVector<const import::ModelNode *, 1>> producers;
  for (const import::ModelNode &node : nodes) {
    for (const std::string &output : node.outputs)
      producers[output].push_back(&node);
  }
  std::vector<std::string> worklist;
  for (const auto &output : signature.outputs)
    worklist.push_back(output.name);
  llvm::StringSet<> live;
  while (!worklist.empty()) {
    auto producer = producers.find(worklist.back());
    worklist.pop_back();
    if (producer == producers.end())
      continue;
    for (const import::ModelNode *node : producer->second) {
      if (live.insert(node->name).second)
        worklist.insert(worklist.end(), node->inputs.begin(), node->inputs.end());
    }
  }
  return live;
}

/// Why each node that is in no group is not: as the passes noted, else as follows from the graph.
static std::vector<std::pair<std::string, std::string>>
removedNodes(const import::Model &model, const llvm::StringMap<std::string> &noted,
             const PartitionedModel &partitioned, const std::vector<GroupReport> &groups) {
  llvm::StringSet<> present, called, views;
  for (const GroupReport &group : groups) {
    for (StringRef node : group.nodes) {
      present.insert(node);
      // Nodes of functions are CALL/NODE, nested ones CALL/CALL/NODE.
      for (size_t at = node.find('/'); at != StringRef::npos; at = node.find('/', at + 1))
        called.insert(node.take_front(at));
    }
  }
  // What is left but makes no kernel moves nothing: a reshape or another view between kernels,
  // control flow that only chooses.
  partitioned.module.get().walk([&](mlir::Operation *op) {
    if (llvm::isa<tk::ReshapeOp, tk::IfOp, tk::LoopOp>(op) || op->hasAttr(analysis::viewAttribute)) {
      for (const tk::OnnxNode &node : tk::onnxNodes(op->getLoc()))
        views.insert(node.name);
    }
  });

  std::vector<import::ModelNode> nodes = model.nodes();
  llvm::StringSet<> live = liveNodes(nodes, model.signature());
  // A branch of which nothing is left was not taken.
  llvm::StringSet<> liveGraphs;
  for (const import::ModelNode &node : nodes) {
    if (present.contains(node.name) || called.contains(node.name) || views.contains(node.name)) {
      StringRef graph = node.graph;
      for (size_t end = 0; end <= graph.size(); ++end) {
        if (end == graph.size() || graph[end] == '/')
          liveGraphs.insert(graph.take_front(std::min(end + 1, graph.size())));
      }
    }
  }
  std::vector<std::pair<std::string, std::string>> removed;
  for (const import::ModelNode &node : nodes) {
    auto reason = noted.find(node.name);
    if (reason == noted.end() && (present.contains(node.name) || called.contains(node.name)))
      continue;
    if (!live.contains(node.name) || (!node.graph.empty() && !liveGraphs.contains(node.graph)))
      removed.emplace_back(node.name, "dead");
    else if (views.contains(node.name))
      removed.emplace_back(node.name, "identity");
    else if (reason != noted.end())
      removed.emplace_back(node.name, reason->second);
    else if (node.opType == "Identity" || node.opType == "Dropout")
      removed.emplace_back(node.name, "identity");
    else // during import
      removed.emplace_back(node.name, "folded");
  }
  return removed;
}

llvm::Expected<Explanation> explainModel(const import::Model &model, const CompileOptions &options) {
  llvm::Expected<PartitionedModel> partitioned = partitionModel(model, options);
  if (!partitioned)
    return partitioned.takeError();
  CompileOptions unfusedOptions = options;
  unfusedOptions.fusion = Fusion::None;
  unfusedOptions.forcedRewrites.clear();
  unfusedOptions.printAfterChange = false;
  unfusedOptions.timing = false;
  llvm::Expected<PartitionedModel> unfused = partitionModel(model, unfusedOptions);
  if (!unfused)
    return unfused.takeError();

  Explanation explanation;
  explanation.onnxNodes = partitioned->onnxNodes;
  auto main = partitioned->module->lookupSymbol<mlir::func::FuncOp>("main");
  std::vector<import::ModelNode> nodes = model.nodes();
  ValueNames names(nodes, main);
  llvm::StringMap<std::string> noted;
  for (const auto &[node, reason] : partitioned->removed)
    noted.try_emplace(node, reason);
  llvm::SmallVector<mlir::Operation *> groups = groupsOf(*partitioned->module);
  for (mlir::Operation *op : groups)
    explanation.groups.push_back(report(op, static_cast<int64_t>(explanation.groups.size()), names, noted));
  explanation.removed = removedNodes(model, noted, *partitioned, explanation.groups);
  explanation.decisions = partitioned->decisions.decisions;
  explanation.searches = partitioned->searches;
  explanation.fused = totals(*partitioned->module);
  explanation.unfused = totals(*unfused->module);
  explanation.target = partitioned->target;
  const int64_t threads = options.threads;
  std::vector<Prediction> steps = predictSteps(*partitioned->module, explanation.target, threads);
  for (auto [group, step] : llvm::zip_equal(explanation.groups, steps)) {
    group.wave = step.wave;
    group.cost = step.cost, group.levels = step.cost.traffic, group.levels += step.cost.again;
  }
  explanation.waves = steps.empty() ? 0 : steps.back().wave + 1;
  std::vector<Prediction> unfusedSteps = predictSteps(*unfused->module, explanation.target, threads);
  explanation.fusedLevels = levelsOf(steps);
  explanation.unfusedLevels = levelsOf(unfusedSteps);
  explanation.fusedSeconds = predictedSeconds(steps, explanation.target, threads);
  explanation.unfusedSeconds = predictedSeconds(unfusedSteps, explanation.target, threads);
  // Last: it takes the groups apart.
  explanation.graph = dissolveGroups(main, groups, nodes, explanation.decisions, explanation.target);
  for (const OperatorNode &node : explanation.graph.nodes) {
    if (!node.group)
      continue;
    explanation.groups[*node.group].apart += node.traffic;
    explanation.groups[*node.group].apartLevels += node.levels;
  }
  return explanation;
}

} // namespace tokamak::driver
