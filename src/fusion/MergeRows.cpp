//===- MergeRows.cpp - reductions share a kernel with what surrounds them -------------------------===//
// The baseline never fuses a reduction into what follows it, so a layer norm in primitive pieces is four
// kernels that read the same row four times. Here neighbouring groups of elementwise work and reductions
// merge where the result still runs row by row: every row stays in the cache between its first reading and
// its last writing. A value that others need becomes one more result of the kernel.
#include "analysis/Blocks.h"
#include "codegen/expression/Register.h"
#include "codegen/kernel/RowEstimate.h"
#include "fusion/CandidateGroup.h"
#include "fusion/EmissionLimits.h"
#include "fusion/Groups.h"
#include "fusion/NodeNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "rewrite/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <optional>

namespace tokamak {
#define GEN_PASS_DEF_MERGEROWS
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;

namespace {

using Members = llvm::SmallVector<Operation *>;

/// Elementwise work, reductions, and operators made of both (softmax, norms).
bool runsByRows(Operation *op) {
  if (fusion::holdsAnchorNest(op))
    return false;
  if (isa<tk::CompositeOp, tk::ReduceOp, tk::ArgReduceOp>(op))
    return true;
  auto kind = dyn_cast<tk::FusionKindInterface>(op);
  return kind && kind.getFusionKind() <= FusionKind::Broadcast;
}

bool isUsedOutside(Operation *op, const Members &members) {
  return llvm::any_of(op->getUsers(), [&](Operation *user) { return !llvm::is_contained(members, user); });
}

/// The groups of one block while they merge.
class RowMerger {
public:
  /// `next` is a group number that nobody has; it is counted up.
  RowMerger(Block &block, const TargetDescription &target, PassState &state, int64_t &next)
      : block(block), target(target), state(state) {
    for (Operation &op : block) {
      if (!fusion::isGroupable(&op))
        continue;
      if (!groupOf(&op)) // alone so far
        fusion::setGroup(&op, next++);
      groups[*groupOf(&op)].push_back(&op);
    }
  }

  void run() {
    // Producers first; a merged group is tried again with its new neighbours.
    for (bool changed = true; changed;) {
      changed = false;
      for (Operation &op : block) {
        for (Value result : op.getResults())
          for (Operation *user : llvm::make_early_inc_range(result.getUsers()))
            changed |= tryMerge(&op, user);
      }
    }
  }

private:
  std::optional<int64_t> groupOf(Operation *op) const {
    auto number =
        op->getBlock() == &block ? op->getAttrOfType<IntegerAttr>(fusion::groupAttribute) : IntegerAttr();
    return number ? std::optional<int64_t>(number.getInt()) : std::nullopt;
  }

  /// What becomes of an edge between two groups, and the numbers that decided.
  struct Verdict {
    Reason reason;
    std::string detail;
  };

  bool tryMerge(Operation *producer, Operation *consumer) {
    auto from = groupOf(producer), to = groupOf(consumer);
    if (!from || !to || *from == *to || refused.contains({*from, *to}))
      return false;
    Members merged = groups[*from];
    llvm::append_range(merged, groups[*to]);
    llvm::sort(merged, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    std::optional<Verdict> verdict = judge(*from, *to, merged);
    if (verdict && verdict->reason == Reason::Fused && !state.fuel.take("merge-rows", consumer->getLoc()))
      verdict = Verdict{Reason::OutOfFuel, ""};
    if (verdict)
      log(*from, *to, *verdict);
    if (!verdict || verdict->reason != Reason::Fused) {
      refused.insert({*from, *to});
      return false;
    }
    for (Operation *op : groups[*from])
      fusion::setGroup(op, *to);
    groups[*to] = std::move(merged);
    groups.erase(*from);
    return true;
  }

  codegen::RowEstimate estimate(const Members &members) {
    OwningOpRef<ModuleOp> copy = fusion::copyAsGroup(members);
    return codegen::estimateRows(*copy->getOps<tk::FusionOp>().begin(), target);
  }

  /// Merging saves writing and reading the values between the groups. It must not lose the rows that threads
  /// share, nor need more scratch than the cache keeps beside what streams through. Nothing where merging is
  /// not this pass's business, so that the baseline's reason stands.
  std::optional<Verdict> judge(int64_t from, int64_t to, const Members &merged) {
    if (!llvm::all_of(merged, runsByRows) || llvm::none_of(merged, [](Operation *op) {
          return isa<tk::ReduceOp, tk::ArgReduceOp, tk::CompositeOp>(op);
        }))
      return std::nullopt;
    // What nothing uses becomes no kernel.
    if (llvm::none_of(groups[to], [&](Operation *op) { return isUsedOutside(op, groups[to]); }))
      return std::nullopt;
    if (merged.size() > mostOperators)
      return Verdict{Reason::TooManyOperators, std::to_string(merged.size()) + " operators, the limit is " +
                                                   std::to_string(mostOperators)};
    codegen::RowEstimate together = estimate(merged);
    int64_t apart = std::min(estimate(groups[from]).rows, estimate(groups[to]).rows);
    int64_t wanted = std::min<int64_t>(apart, enoughRows);
    int64_t scratchLimit = target.l2Bytes / 4;
    std::string rows = std::to_string(together.rows) + " rows";
    std::string scratch = std::to_string(together.scratchBytes) + " bytes of scratch";
    if (together.rows < wanted)
      return Verdict{Reason::TooFewRows, rows + ", at least " + std::to_string(wanted) + " wanted"};
    if (together.scratchBytes > scratchLimit)
      return Verdict{Reason::TooMuchScratch, scratch + ", the limit is " + std::to_string(scratchLimit)};
    if (closesCycle(merged))
      return Verdict{Reason::Cycle, ""};
    return Verdict{Reason::Fused, rows + ", " + scratch};
  }

  /// Whether a path leads from a member through the outside to another member.
  bool closesCycle(const Members &merged) {
    llvm::SmallPtrSet<Operation *, 16> inside(merged.begin(), merged.end());
    llvm::DenseSet<int64_t> behindGroups;
    llvm::SmallPtrSet<Operation *, 16> behind;
    // To a fixed point: a group depends on all that any of its members depends on.
    for (bool changed = true; changed;) {
      changed = false;
      for (Operation &op : block) {
        bool isInside = inside.contains(&op), depends = false;
        op.walk([&](Operation *inner) {
          for (Value operand : inner->getOperands()) {
            Operation *definition = operand.getDefiningOp();
            if (!definition || definition->getBlock() != &block)
              continue;
            auto group = groupOf(definition);
            depends |= behind.contains(definition) || (group && behindGroups.contains(*group)) ||
                       (!isInside && inside.contains(definition));
          }
        });
        if (!depends)
          continue;
        if (isInside)
          return true;
        changed |= behind.insert(&op).second;
        if (auto group = groupOf(&op))
          changed |= behindGroups.insert(*group).second;
      }
    }
    return false;
  }

  /// Notes the verdict on every edge from one group to the other, over what the baseline said.
  void log(int64_t from, int64_t to, const Verdict &verdict) {
    if (!state.decisions)
      return;
    llvm::SmallPtrSet<Operation *, 16> producers(groups[from].begin(), groups[from].end());
    for (Operation *consumer : groups[to])
      for (Value operand : consumer->getOperands())
        if (Operation *producer = operand.getDefiningOp(); producer && producers.contains(producer))
          log(producer, consumer, verdict);
  }

  void log(Operation *producer, Operation *consumer, const Verdict &verdict) {
    Decision decision = fusion::newDecision(producer, consumer);
    decision.fused = verdict.reason == Reason::Fused;
    decision.reason = verdict.reason;
    decision.detail = verdict.detail;
    // Several operators may come from one node: what is fused already is another edge of the same names.
    auto isSame = [&](const Decision &other) {
      return other.producer == decision.producer && other.consumer == decision.consumer;
    };
    auto &decisions = state.decisions->decisions;
    auto open =
        llvm::find_if(decisions, [&](const Decision &other) { return isSame(other) && !other.fused; });
    if (open != decisions.end())
      *open = decision;
    else if (llvm::none_of(decisions, isSame))
      decisions.push_back(decision);
  }

  /// Rows beyond which more parallelism is of no use.
  static constexpr int64_t enoughRows = 32;
  /// Planning a row kernel takes time that grows with the square of its operators, and what the stages share
  /// is computed again in each; a chain of some eight layer norms is long enough to have saved the traffic.
  static constexpr size_t mostOperators = 64;

  Block &block;
  const TargetDescription &target;
  PassState &state;
  llvm::MapVector<int64_t, Members> groups;
  llvm::DenseSet<std::pair<int64_t, int64_t>> refused;
};

struct MergeRows : tokamak::impl::MergeRowsBase<MergeRows> {
  explicit MergeRows(PassStatePtr state) : state(std::move(state)) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    MergeRowsBase::getDependentDialects(registry);
    codegen::registerExpressionModels(registry);
    // Candidates are emitted on trial.
    registry.insert<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                    scf::SCFDialect, vector::VectorDialect>();
  }

  void runOnOperation() override {
    int64_t next = 0;
    getOperation().walk([&](Operation *op) {
      if (auto number = op->getAttrOfType<IntegerAttr>(fusion::groupAttribute))
        next = std::max(next, number.getInt() + 1);
    });
    analysis::forEachGraphBlock(getOperation(),
                                [&](Block &block) { RowMerger(block, state->target, *state, next).run(); });
  }

  PassStatePtr state;
};

} // namespace

std::unique_ptr<Pass> tokamak::createMergeRowsPass(PassStatePtr state) {
  return std::make_unique<MergeRows>(orFresh(std::move(state)));
}
