//===- PartitionNone.cpp - every operator a group of its own -----------------------------------------===//
#include "analysis/Blocks.h"
#include "analysis/PostDominatorTree.h"
#include "fusion/Groups.h"
#include "fusion/NodeNames.h"
#include "rewrite/Passes.h"

namespace tokamak {
#define GEN_PASS_DEF_PARTITIONNONE
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;

namespace {
struct PartitionNone : tokamak::impl::PartitionNoneBase<PartitionNone> {
  explicit PartitionNone(PassStatePtr state) : state(std::move(state)) {}

  void runOnOperation() override {
    int64_t next = 0;
    analysis::forEachGraphBlock(getOperation(), [&](Block &block) {
      for (Operation &op : block)
        if (fusion::isGroupable(&op))
          fusion::setGroup(&op, next++);
      if (state->decisions)
        logEdges(block);
    });
  }

private:
  void logEdges(Block &block) {
    analysis::PostDominatorTree tree(block);
    for (const auto &node : tree.nodes()) {
      for (const auto &edge : node.consumers) {
        Decision decision = fusion::newDecision(node.op, tree.nodes()[edge.consumer].op);
        decision.reason = Reason::FusionOff;
        state->decisions->decisions.push_back(std::move(decision));
      }
    }
  }

  PassStatePtr state;
};
} // namespace

std::unique_ptr<Pass> tokamak::createPartitionNonePass(PassStatePtr state) {
  return std::make_unique<PartitionNone>(orFresh(std::move(state)));
}
