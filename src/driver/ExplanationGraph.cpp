//===- ExplanationGraph.cpp - the operators of a partition and what passes between them ------------===//
#include "driver/ExplanationGraph.h"
#include "analysis/PostDominatorTree.h"
#include "driver/ValueNames.h"
#include "fusion/CostModel.h"
#include "fusion/NodeNames.h"
#include "ir/Tk.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

namespace tokamak::driver {

namespace {
class GraphBuilder {
public:
  GraphBuilder(mlir::func::FuncOp main, llvm::ArrayRef<import::ModelNode> onnxNodes,
               llvm::ArrayRef<Decision> decisions)
      : main(main), names(onnxNodes, main) {
    for (auto [index, decision] : llvm::enumerate(decisions))
      decided.try_emplace({decision.producer, decision.consumer}, index);
  }
  /// `scalars`: the constants that lay in groups.
  ExplanationGraph build(const llvm::DenseMap<mlir::Operation *, size_t> &groupOf,
                         llvm::DenseSet<mlir::Operation *> scalars, const TargetDescription &target);

private:
  void addEnd(OperatorNode::Role role, std::string name, mlir::Value value);
  analysis::Traffic trafficApart(mlir::Operation *op) const;
  void addOperator(mlir::Operation *op, std::optional<size_t> group);
  void addEdges(mlir::Operation *op, size_t consumer);
  void addEdge(mlir::Value value, mlir::Operation *reader, size_t consumer);
  void addTree(mlir::Block &block);
  void addLevels(llvm::ArrayRef<mlir::Operation *> operators, const TargetDescription &target);
  std::optional<size_t> decisionOn(mlir::Operation *producer, mlir::Operation *reader) const;

  mlir::func::FuncOp main;
  ValueNames names;
  std::map<std::pair<std::string, std::string>, size_t> decided;
  llvm::DenseSet<mlir::Operation *> scalars;
  llvm::DenseMap<mlir::Operation *, size_t> index;
  ExplanationGraph graph;
};
} // namespace

/// "1x64xf32"; empty for what is no tensor.
static std::string typeOf(mlir::Value value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType())) {
    for (int64_t extent : type.getShape())
      os << extent << 'x';
    os << type.getElementType();
  }
  return text;
}

static std::string operatorOf(mlir::Operation *op) {
  if (auto composite = llvm::dyn_cast<tk::CompositeOp>(op))
    return composite.getName().lower();
  return op->getName().stripDialect().str();
}

/// An input or output of the graph.
void GraphBuilder::addEnd(OperatorNode::Role role, std::string name, mlir::Value value) {
  OperatorNode node;
  node.role = role;
  node.name = std::move(name);
  node.type = typeOf(value);
  graph.nodes.push_back(std::move(node));
}

/// The traffic of `op` as a kernel of its own, which holds the same scalars as its group does.
analysis::Traffic GraphBuilder::trafficApart(mlir::Operation *op) const {
  analysis::Traffic traffic = analysis::trafficOf(op);
  llvm::SmallPtrSet<mlir::Operation *, 4> held;
  for (mlir::Value operand : op->getOperands()) {
    mlir::Operation *definition = operand.getDefiningOp();
    if (scalars.contains(definition) && held.insert(definition).second)
      traffic.weightBytes -= analysis::tensorBytes(operand);
  }
  return traffic;
}

void GraphBuilder::addOperator(mlir::Operation *op, std::optional<size_t> group) {
  OperatorNode node;
  node.name = fusion::nodeName(op);
  node.op = operatorOf(op);
  node.kind = stringifyFusionKind(analysis::kindOf(op)).str();
  if (op->getNumResults() > 0)
    node.type = typeOf(op->getResult(0));
  node.group = group;
  if (auto around = index.find(op->getParentOp()); around != index.end())
    node.inside = around->second;
  // The operators in its body count for themselves.
  if (!llvm::isa<tk::IfOp, tk::LoopOp>(op))
    node.traffic = trafficApart(op);
  index[op] = graph.nodes.size();
  graph.nodes.push_back(std::move(node));
}

std::optional<size_t> GraphBuilder::decisionOn(mlir::Operation *producer, mlir::Operation *reader) const {
  // What a body reads from outside was decided for the control flow around it.
  for (mlir::Operation *consumer = reader; consumer && index.contains(consumer);
       consumer = consumer->getParentOp()) {
    auto decision = decided.find({fusion::nodeName(producer), fusion::nodeName(consumer)});
    if (decision != decided.end())
      return decision->second;
  }
  return std::nullopt;
}

void GraphBuilder::addEdge(mlir::Value value, mlir::Operation *reader, size_t consumer) {
  OperatorEdge edge;
  edge.consumer = consumer;
  edge.type = typeOf(value);
  if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) {
    if (argument.getOwner() != &main.getBody().front())
      return;
    edge.producer = argument.getArgNumber();
  } else {
    auto producer = index.find(value.getDefiningOp());
    if (producer == index.end())
      return;
    edge.producer = producer->second;
    edge.decision = decisionOn(value.getDefiningOp(), reader);
  }
  edge.value = names(value);
  edge.bytes = analysis::tensorBytes(value);
  graph.edges.push_back(std::move(edge));
}

void GraphBuilder::addEdges(mlir::Operation *op, size_t consumer) {
  llvm::SmallPtrSet<mlir::Value, 4> seen;
  for (mlir::Value operand : op->getOperands()) {
    if (seen.insert(operand).second)
      addEdge(operand, op, consumer);
  }
}

void GraphBuilder::addTree(mlir::Block &block) {
  analysis::PostDominatorTree tree(block);
  for (const analysis::PostDominatorTree::Node &node : tree.nodes()) {
    auto child = index.find(node.op);
    if (!node.parent || child == index.end())
      continue;
    auto parent = index.find(tree.nodes()[*node.parent].op);
    if (parent != index.end())
      graph.nodes[child->second].postDominator = parent->second;
  }
}

/// From which levels the bytes of each operator come where all of them are kernels.
void GraphBuilder::addLevels(llvm::ArrayRef<mlir::Operation *> operators, const TargetDescription &target) {
  std::vector<fusion::CostModel::Members> kernels;
  for (mlir::Operation *op : operators)
    if (!analysis::isFree(op) && !llvm::isa<tk::IfOp, tk::LoopOp>(op))
      kernels.push_back({op});
  for (auto [kernel, cost] : llvm::zip_equal(kernels, fusion::CostModel(target).program(kernels))) {
    analysis::LevelTraffic &levels = graph.nodes[index[kernel.front()]].levels;
    levels = cost.traffic;
    levels += cost.again;
  }
}

ExplanationGraph GraphBuilder::build(const llvm::DenseMap<mlir::Operation *, size_t> &groupOf,
                                     llvm::DenseSet<mlir::Operation *> held,
                                     const TargetDescription &target) {
  scalars = std::move(held);
  for (mlir::BlockArgument argument : main.getArguments())
    addEnd(OperatorNode::Role::Input, names(argument), argument);

  llvm::SmallVector<mlir::Operation *> operators, yields;
  main.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *op) {
    if (op == main.getOperation() || op->hasTrait<mlir::OpTrait::ConstantLike>())
      return mlir::WalkResult::advance();
    if (op->hasTrait<mlir::OpTrait::IsTerminator>()) {
      yields.push_back(op);
      return mlir::WalkResult::advance();
    }
    auto group = groupOf.find(op);
    addOperator(op, group == groupOf.end() ? std::nullopt : std::optional(group->second));
    operators.push_back(op);
    return llvm::isa<tk::IfOp, tk::LoopOp>(op) ? mlir::WalkResult::advance() : mlir::WalkResult::skip();
  });

  addLevels(operators, target);
  for (mlir::Operation *op : operators) {
    addEdges(op, index[op]);
    if (llvm::isa<tk::IfOp, tk::LoopOp>(op)) {
      for (mlir::Region &region : op->getRegions())
        addTree(region.front());
    }
  }
  addTree(main.getBody().front());
  for (mlir::Operation *yield : yields) {
    if (yield->getParentOp() != main.getOperation()) {
      addEdges(yield, index[yield->getParentOp()]);
      continue;
    }
    for (mlir::OpOperand &result : yield->getOpOperands()) {
      auto name = main.getResultAttrOfType<mlir::StringAttr>(result.getOperandNumber(), "tk.name");
      addEnd(OperatorNode::Role::Output, name ? name.str() : names(result.get()), result.get());
      addEdge(result.get(), yield, graph.nodes.size() - 1);
    }
  }
  return std::move(graph);
}

/// Puts the body of `group` in its place.
static void dissolve(tk::FusionOp group) {
  mlir::Block &body = group.getBody().front();
  for (auto [argument, operand] : llvm::zip_equal(body.getArguments(), group.getOperands()))
    argument.replaceAllUsesWith(operand);
  mlir::Operation *yield = body.getTerminator();
  for (auto [result, value] : llvm::zip_equal(group->getResults(), yield->getOperands()))
    result.replaceAllUsesWith(value);
  yield->erase();
  group->getBlock()->getOperations().splice(group->getIterator(), body.getOperations());
  group.erase();
}

ExplanationGraph dissolveGroups(mlir::func::FuncOp main, llvm::ArrayRef<mlir::Operation *> groups,
                                llvm::ArrayRef<import::ModelNode> onnxNodes,
                                llvm::ArrayRef<Decision> decisions, const TargetDescription &target) {
  llvm::DenseMap<mlir::Operation *, size_t> groupOf;
  llvm::DenseSet<mlir::Operation *> scalars;
  for (auto [id, op] : llvm::enumerate(groups)) {
    auto group = llvm::dyn_cast<tk::FusionOp>(op);
    if (!group) {
      groupOf[op] = id;
      continue;
    }
    for (mlir::Operation &inner : group.getBody().front().without_terminator()) {
      groupOf[&inner] = id;
      if (inner.hasTrait<mlir::OpTrait::ConstantLike>())
        scalars.insert(&inner);
    }
    dissolve(group);
  }
  // Views stand in the graph without a group, as reshapes do.
  llvm::SmallVector<tk::FusionOp> views;
  main.walk([&](tk::FusionOp view) { views.push_back(view); });
  llvm::for_each(views, dissolve);
  return GraphBuilder(main, onnxNodes, decisions).build(groupOf, std::move(scalars), target);
}

} // namespace tokamak::driver
