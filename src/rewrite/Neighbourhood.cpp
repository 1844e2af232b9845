//===- Neighbourhood.cpp - a few operations of a graph, to be tried on ------------------------------===//
#include "rewrite/Neighbourhood.h"
#include "analysis/Magnitude.h"
#include "analysis/PostDominatorTree.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "rewrite/GraphCost.h"
#include "rewrite/WeightedAnchor.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <queue>

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rewrite;

namespace {

constexpr size_t mostOperations = 64;
/// Anchors on a way forward: the rewritten ones, and those that read them.
constexpr int mostAnchors = 2;

class Collector {
public:
  std::vector<Operation *> run(const Site &site) {
    block = site.front()->getBlock();
    for (Operation *op : site) // whatever there is room for besides
      add(op, 0);
    for (Operation *op : site) {
      if (levels.size() >= mostOperations)
        break; // before all readers of a value are gone through once for each of them
      addBehind(op);
    }
    while (!pending.empty() && levels.size() < mostOperations) {
      Operation *op = pending.front();
      pending.pop();
      for (Value result : op->getResults())
        for (Operation *user : sortedUsers(result))
          add(user, levels[op]);
    }
    std::vector<Operation *> ops;
    for (auto &[op, level] : levels)
      ops.push_back(op);
    llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    return ops;
  }

private:
  /// Summands and the slices that they read, and all anchors beside.
  void addBehind(Operation *op) {
    llvm::SmallVector<Operation *> anchors = {op};
    if (!weightedAnchor(op))
      for (Value operand : op->getOperands())
        if (Operation *definition = operand.getDefiningOp(); definition && definition->getBlock() == block)
          anchors.push_back(definition);
    for (Operation *anchor : llvm::reverse(anchors)) {
      if (std::optional<WeightedAnchor> weighted = weightedAnchor(anchor)) {
        if (auto slice = weighted->input.getDefiningOp<tk::SliceOp>(); slice && slice->getBlock() == block)
          add(slice, 0);
        for (Operation *reader : sortedUsers(weighted->input))
          add(reader, 0);
      }
      add(anchor, 0);
    }
  }

  /// Within the block, in order: the order of a use list is an accident.
  llvm::SmallVector<Operation *> sortedUsers(Value value) const {
    llvm::SmallSetVector<Operation *, 8> users;
    for (Operation *user : value.getUsers())
      if (user->getBlock() == block)
        users.insert(user);
    llvm::SmallVector<Operation *> sorted(users.begin(), users.end());
    llvm::sort(sorted, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    return sorted;
  }

  void add(Operation *op, int anchorsBefore) {
    const int level = anchorsBefore + (weightedAnchor(op) ? 1 : 0);
    if (level > mostAnchors || levels.size() >= mostOperations || op->hasTrait<OpTrait::IsTerminator>() ||
        op->hasTrait<OpTrait::ConstantLike>() || isa<tk::IfOp, tk::LoopOp>(op))
      return;
    if (levels.insert({op, level}).second)
      pending.push(op);
  }

  Block *block = nullptr;
  llvm::MapVector<Operation *, int> levels;
  std::queue<Operation *> pending;
};

/// Whether a kernel computes the value: it is no input, no view, and control flow does not write it.
bool isComputed(Value value) {
  Operation *op = value.getDefiningOp();
  return op && analysis::kindOf(op) != FusionKind::Opaque &&
         !isa<tk::ReshapeOp, tk::SliceOp, tk::ConcatOp>(op);
}

/// Copies what a constant expression is made of, so that it is one in the copy as well.
void copyConstants(OpBuilder &builder, Value value, IRMapping &mapping) {
  if (mapping.contains(value))
    return;
  Operation *definition = value.getDefiningOp();
  for (Value operand : definition->getOperands())
    copyConstants(builder, operand, mapping);
  builder.clone(*definition, mapping);
}

} // namespace

std::vector<Operation *> rewrite::neighbourhoodOf(const Site &site) { return Collector().run(site); }

Block &GraphCopy::block() const { return module.get().lookupSymbol<func::FuncOp>("main").getBody().front(); }

GraphCopy rewrite::copyOperations(llvm::ArrayRef<Operation *> ops) {
  llvm::SmallPtrSet<Operation *, 32> inside(ops.begin(), ops.end());
  llvm::SetVector<Value> inputs, outputs;
  for (Operation *op : ops) {
    for (Value operand : op->getOperands())
      if (!inside.contains(operand.getDefiningOp()) && !isConstantExpression(operand))
        inputs.insert(operand);
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !inside.contains(user); }))
        outputs.insert(result);
  }
  Location loc = ops.front()->getLoc();
  GraphCopy copy;
  copy.module = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockEnd(copy.module->getBody());
  auto types = [](const llvm::SetVector<Value> &values) {
    return llvm::map_to_vector(values, [](Value value) { return value.getType(); });
  };
  auto function =
      builder.create<func::FuncOp>(loc, "main", builder.getFunctionType(types(inputs), types(outputs)));
  for (auto [i, input] : llvm::enumerate(inputs)) {
    const auto number = static_cast<unsigned>(i);
    if (isComputed(input))
      function.setArgAttr(number, computedAttribute, builder.getUnitAttr());
    if (isa<FloatType>(tk::tensorType(input).getElementType()))
      if (std::optional<double> bound = analysis::magnitudeBound(input))
        function.setArgAttr(number, analysis::boundAttribute, builder.getF64FloatAttr(*bound));
  }
  for (auto [i, output] : llvm::enumerate(outputs))
    if (llvm::any_of(output.getUsers(),
                     [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); }))
      function.setResultAttr(static_cast<unsigned>(i), returnedAttribute, builder.getUnitAttr());
  builder.setInsertionPointToStart(function.addEntryBlock());
  IRMapping mapping;
  mapping.map(inputs.getArrayRef(), function.getArguments());
  for (Operation *op : ops) {
    for (Value operand : op->getOperands())
      if (!inside.contains(operand.getDefiningOp()) && isConstantExpression(operand))
        copyConstants(builder, operand, mapping);
    copy.originals[builder.clone(*op, mapping)] = op;
  }
  builder.create<func::ReturnOp>(
      loc, llvm::map_to_vector(outputs, [&](Value value) { return mapping.lookup(value); }));
  return copy;
}
