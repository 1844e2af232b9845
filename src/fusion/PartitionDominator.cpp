//===- PartitionDominator.cpp - the baseline as a pass ---------------------------------------------===//
#include "analysis/Blocks.h"
#include "fusion/DominatorPartitioner.h"
#include "rewrite/Passes.h"

namespace tokamak {
#define GEN_PASS_DEF_PARTITIONDOMINATOR
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;

namespace {
struct PartitionDominator : tokamak::impl::PartitionDominatorBase<PartitionDominator> {
  explicit PartitionDominator(PassStatePtr state) : state(std::move(state)) {}

  void runOnOperation() override {
    int64_t next = 0;
    analysis::forEachGraphBlock(getOperation(), [&](Block &block) {
      fusion::DominatorPartitioner partitioner(block, *state, getArgument());
      partitioner.run();
      next = partitioner.annotate(next);
    });
  }

  PassStatePtr state;
};
} // namespace

std::unique_ptr<Pass> tokamak::createPartitionDominatorPass(PassStatePtr state) {
  return std::make_unique<PartitionDominator>(orFresh(std::move(state)));
}
