//===- OutlineGroups.cpp - groups as tk.fusion regions --------------------------------------------===//
// A group's operands are its block arguments, but for constants of one element, which are copied inside so
// that kernels see them as numbers. Reshapes alone are views and need no kernel.
#include "analysis/Blocks.h"
#include "fusion/Groups.h"
#include "fusion/NodeNames.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/IRMapping.h"
#include "rewrite/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tokamak {
#define GEN_PASS_DEF_OUTLINEGROUPS
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;

namespace {

using Members = llvm::SmallVector<Operation *>;

/// The groups of a block in order of their last members. An operator without a number is one alone.
std::vector<Members> groupsOf(Block &block) {
  llvm::MapVector<int64_t, Members> numbered;
  std::vector<Members> groups;
  for (Operation &op : block) {
    if (!fusion::isGroupable(&op))
      continue;
    if (auto number = op.getAttrOfType<IntegerAttr>(fusion::groupAttribute))
      numbered[number.getInt()].push_back(&op);
    else
      groups.push_back({&op});
  }
  for (auto &[number, members] : numbered)
    groups.push_back(std::move(members));
  llvm::erase_if(groups, [](const Members &members) {
    return llvm::all_of(members, [](Operation *op) { return llvm::isa<tk::ReshapeOp>(op); });
  });
  llvm::sort(groups, [](const Members &a, const Members &b) { return a.back()->isBeforeInBlock(b.back()); });
  return groups;
}

bool isSingleConstant(Value value) {
  Operation *definition = value.getDefiningOp();
  return definition && definition->hasTrait<OpTrait::ConstantLike>() &&
         tk::tensorType(value).getNumElements() == 1;
}

/// An operation outside of the group that lies on a path from one member to another, or null.
Operation *onCycle(const Members &members) {
  Block *block = members.front()->getBlock();
  llvm::SmallPtrSet<Operation *, 16> inside(members.begin(), members.end());
  // What depends on a member, as far as the last one can read it.
  llvm::SmallSetVector<Operation *, 16> behind;
  auto follow = [&](Operation *op) {
    for (Operation *user : op->getUsers()) {
      Operation *reader = block->findAncestorOpInBlock(*user);
      if (inside.contains(reader) && !inside.contains(op))
        return true;
      if (!inside.contains(reader) && reader->isBeforeInBlock(members.back()))
        behind.insert(reader);
    }
    return false;
  };
  for (Operation *member : members)
    follow(member);
  for (size_t i = 0; i < behind.size(); ++i)
    if (follow(behind[i]))
      return behind[i];
  return nullptr;
}

Location locationOf(const Members &members) {
  llvm::SmallVector<Location> locations;
  for (Operation *op : members)
    locations.push_back(op->getLoc());
  return FusedLoc::get(members.front()->getContext(), locations);
}

void outline(const Members &members) {
  llvm::SmallPtrSet<Operation *, 16> inside(members.begin(), members.end());
  llvm::SetVector<Value> inputs, outputs;
  llvm::SmallSetVector<Operation *, 8> scalars;
  for (Operation *op : members) {
    for (Value operand : op->getOperands()) {
      if (isSingleConstant(operand))
        scalars.insert(operand.getDefiningOp());
      else if (!inside.contains(operand.getDefiningOp()))
        inputs.insert(operand);
    }
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !inside.contains(user); }))
        outputs.insert(result);
  }

  if (outputs.empty()) { // dead, and dead code was not removed
    for (Operation *op : llvm::reverse(members))
      op->erase();
    return;
  }

  OpBuilder builder(members.back());
  auto group =
      builder.create<tk::FusionOp>(locationOf(members), ValueRange(outputs.getArrayRef()).getTypes(),
                                   inputs.getArrayRef(), builder.getStringAttr(fusion::groupName(members)));
  Block &body = group.getBody().emplaceBlock();
  IRMapping inner;
  for (Value input : inputs)
    inner.map(input, body.addArgument(input.getType(), input.getLoc()));
  builder.setInsertionPointToStart(&body);
  for (Operation *constant : scalars)
    builder.clone(*constant, inner);
  for (Operation *op : members)
    builder.clone(*op, inner)->removeAttr(fusion::groupAttribute);
  llvm::SmallVector<Value> yielded;
  for (Value output : outputs)
    yielded.push_back(inner.lookup(output));
  builder.create<tk::YieldOp>(group.getLoc(), yielded);

  for (auto [output, result] : llvm::zip_equal(outputs.takeVector(), group.getOutputs()))
    output.replaceAllUsesWith(result);
  for (Operation *op : llvm::reverse(members))
    op->erase();
  for (Operation *constant : scalars)
    if (constant->use_empty())
      constant->erase();
  // The group sits at its last member; what reads another member may stand before that.
  Block *block = group->getBlock();
  if (llvm::any_of(group->getUsers(), [&](Operation *user) {
        return block->findAncestorOpInBlock(*user)->isBeforeInBlock(group);
      }))
    sortTopologically(block);
}

struct OutlineGroups : tokamak::impl::OutlineGroupsBase<OutlineGroups> {
  void runOnOperation() override {
    bool failedAny = false;
    analysis::forEachGraphBlock(getOperation(), [&](Block &block) {
      for (Members &members : groupsOf(block)) {
        // Outlining another group may have moved them.
        llvm::sort(members, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
        if (Operation *outsider = onCycle(members)) {
          outsider->emitError("lies between the operators of a group, which would depend on itself");
          failedAny = true;
          return;
        }
        outline(members);
      }
      for (Operation &op : block) // views
        op.removeAttr(fusion::groupAttribute);
    });
    if (failedAny)
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> tokamak::createOutlineGroupsPass() { return std::make_unique<OutlineGroups>(); }
