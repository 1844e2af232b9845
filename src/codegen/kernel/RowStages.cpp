//===- RowStages.cpp - which values of a row are computed once ----------------------------------===//
#include "codegen/kernel/RowStages.h"

namespace tokamak::codegen {

using namespace mlir;

namespace {

// In units of one cheap instruction on a vector; a load is one. What a stage takes besides its value: a
// store, two loads, and the loop around them.
constexpr int64_t expensiveOperator = 16, keeping = 5, unbounded = int64_t(1) << 32;

bool isExpensive(Operation &op) { return op.hasTrait<tk::IsExpensive>(); }

/// True where a loop that reads `op` would compute each of its elements so often that keeping them is for
/// free.
bool isRepeated(Operation &op) {
  const int64_t own = tk::tensorType(op.getResult(0)).getNumElements(), manyTimes = isExpensive(op) ? 2 : 16;
  return llvm::any_of(op.getUsers(), [&](Operation *user) {
    return user->getNumResults() > 0 &&
           tk::tensorType(user->getResult(0)).getNumElements() / manyTimes >= own;
  });
}

/// True where `op` has more than one use: else staging what uses it keeps more.
bool isFork(Operation &op) { return !op.getResult(0).hasOneUse(); }

} // namespace

void RowStages::Loops::add(const Loops &other) {
  several |= other.several || (first && other.first && first != other.first);
  if (!first)
    first = other.first;
}

RowStages::RowStages(KernelBody &body) : body(body) {
  for (Operation *op : body.heavyOperators())
    heavy.insert(op);
  staged = heavy;
}

void RowStages::walkConsumersFirst(llvm::function_ref<void(Operation &, const Loops &)> visit) {
  llvm::DenseMap<Operation *, Loops> loops;
  for (Value result : body.results())
    if (Operation *op = result.getDefiningOp())
      loops[op].add({result.getAsOpaquePointer(), false});
  for (Operation &op : llvm::reverse(body.block().without_terminator())) {
    visit(op, loops[&op]);
    Loops readers = staged.contains(&op) ? Loops{&op, false} : loops[&op];
    for (Value operand : op.getOperands())
      if (Operation *producer = operand.getDefiningOp())
        loops[producer].add(readers);
  }
}

void RowStages::addExpensive() {
  walkConsumersFirst([&](Operation &op, const Loops &loops) {
    if (isExpensive(op) && loops.several)
      staged.insert(&op);
  });
}

void RowStages::addWorthwhile(llvm::function_ref<std::optional<int64_t>(Value)> bytes, int64_t budget) {
  llvm::DenseSet<Operation *> severalLoops;
  walkConsumersFirst([&](Operation &op, const Loops &loops) {
    if (loops.several)
      severalLoops.insert(&op);
  });

  // Producers first, so that the cost of a chain starts at the last stage. Operators that two branches share
  // count in both: an overestimate, of values that cost enough anyway.
  llvm::DenseMap<Value, int64_t> costs;
  auto costOf = [&](Value value) -> int64_t {
    Operation *op = value.getDefiningOp();
    if (!op || staged.contains(op))
      return 1;
    return isa<tk::ConstantOp>(op) ? 0 : costs.lookup(value);
  };
  for (Operation &op : body.block().without_terminator()) {
    if (isa<tk::ConstantOp>(op) || op.getNumResults() != 1 || staged.contains(&op))
      continue;
    int64_t cost = isExpensive(op) ? expensiveOperator : 1;
    for (auto [i, operand] : llvm::enumerate(op.getOperands()))
      if (!llvm::is_contained(op.getOperands().take_front(i), operand))
        cost = std::min(cost + costOf(operand), unbounded);
    Value value = op.getResult(0);
    costs[value] = cost;
    bool forks = severalLoops.contains(&op) && isFork(op) && cost > keeping;
    bool repeats = isRepeated(op) && cost > 1;
    if (!forks && !repeats)
      continue;
    std::optional<int64_t> room = bytes(value);
    if (!room || *room > budget)
      continue;
    budget -= *room;
    staged.insert(&op);
  }
  // What only one loop still reads, a new stage as a rule, is kept for nothing.
  walkConsumersFirst([&](Operation &op, const Loops &loops) {
    if (staged.contains(&op) && !heavy.contains(&op) && !loops.several && !isRepeated(op))
      staged.erase(&op);
  });
}

std::vector<Value> RowStages::values() {
  std::vector<Value> result;
  for (Operation &op : body.block().without_terminator())
    if (staged.contains(&op))
      result.push_back(op.getResult(0));
  return result;
}

} // namespace tokamak::codegen
