//===- Liveness.cpp - from where to where a value's memory is needed -----------------------===//
#include "analysis/Liveness.h"
#include "analysis/Traffic.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Operation.h"
#include <algorithm>

using namespace mlir;
using namespace tokamak::analysis;

BlockLiveness::BlockLiveness(Block &block) {
  llvm::DenseMap<Operation *, int64_t> position;
  for (Operation &op : block)
    position.try_emplace(&op, static_cast<int64_t>(position.size()));

  auto add = [&](Value value, int64_t first) {
    index[value] = all.size();
    all.push_back(LiveInterval{value, first, first});
  };
  for (BlockArgument argument : block.getArguments())
    add(argument, -1);
  for (Operation &op : block)
    if (!op.hasTrait<OpTrait::ConstantLike>())
      for (Value result : op.getResults())
        if (bufferOf(result) == result)
          add(result, position[&op]);

  auto extend = [&](Value value) {
    auto found = index.find(bufferOf(value));
    if (found == index.end())
      return;
    LiveInterval &interval = all[found->second];
    for (Operation *user : value.getUsers()) {
      Operation *ancestor = block.findAncestorOpInBlock(*user);
      interval.last = std::max(interval.last, position[ancestor]);
      interval.leavesBlock |= ancestor->hasTrait<OpTrait::IsTerminator>();
    }
  };
  for (BlockArgument argument : block.getArguments())
    extend(argument);
  for (Operation &op : block)
    for (Value result : op.getResults())
      extend(result);
}

const LiveInterval *BlockLiveness::find(Value value) const {
  auto found = index.find(bufferOf(value));
  return found == index.end() ? nullptr : &all[found->second];
}
