//===- FoldConstants.cpp - operators on constants, evaluated while compiling ------------------===//
// Contract: folds through the reference evaluator, which computes in double precision and rounds once to the
// element type; so each folded value is within half a unit in the last place of the operator's definition.
#include "analysis/Blocks.h"
#include "analysis/Traffic.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "reference/Evaluate.h"
#include "rewrite/Passes.h"
#include <algorithm>

namespace tokamak {
#define GEN_PASS_DEF_FOLDCONSTANTS
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;

/// A result may always be this large; beyond, it may take twice the bytes of the operands. Broadcasts and
/// iotas of whole activations are cheaper computed than read.
static constexpr int64_t smallBytes = 16 << 10;
/// The evaluator is made of plain loops: beyond this many operations compiling would take seconds.
static constexpr int64_t mostFlops = 50'000'000;

namespace {
struct FoldConstants : tokamak::impl::FoldConstantsBase<FoldConstants> {
  explicit FoldConstants(PassStatePtr state) : state(std::move(state)) {}

  void runOnOperation() override {
    for (Operation &func : *getOperation().getBody())
      runOn(&func);
  }

private:
  void runOn(Operation *holder) {
    for (Region &region : holder->getRegions())
      for (Block &block : region)
        for (Operation *op = block.empty() ? nullptr : &block.front(); op;)
          op = step(op);
  }

  /// Folds `op` if it can; returns the operation to go on with.
  Operation *step(Operation *op) {
    Operation *next = op->getNextNode();
    if (auto branch = llvm::dyn_cast<tk::IfOp>(op))
      if (Operation *first = takeBranch(branch))
        return first;
    if (!evaluate(op) && !analysis::isWhole(op))
      runOn(op);
    return next;
  }

  /// Puts the branch that a constant condition takes in place of the if; returns the first operation to go on
  /// with.
  Operation *takeBranch(tk::IfOp op) {
    std::optional<Tensor> condition = tk::constantValue(op.getCondition());
    if (!condition || condition->size() != 1 || !state->fuel.take(getArgument(), op.getLoc()))
      return nullptr;
    const bool taken = condition->intAt(0) != 0;
    Block &body = (taken ? op.getThenRegion() : op.getElseRegion()).front();
    Block &other = (taken ? op.getElseRegion() : op.getThenRegion()).front();
    for (Operation &dropped : other.without_terminator())
      dropped.walk([&](Operation *inner) { state->removed.dead(inner->getLoc()); });
    state->removed.folded(op.getLoc());

    Operation *yield = body.getTerminator();
    op->replaceAllUsesWith(yield->getOperands());
    Operation *first = &body.front() == yield ? op->getNextNode() : &body.front();
    yield->erase();
    op->getBlock()->getOperations().splice(op->getIterator(), body.getOperations());
    op->erase();
    return first;
  }

  /// Operators, not control flow: a loop on constants need not end.
  static bool isCandidate(Operation *op) {
    if (op->hasTrait<OpTrait::ConstantLike>() || op->hasTrait<OpTrait::IsTerminator>() ||
        !llvm::isa<tk::ReferenceInterface>(op) || !isMemoryEffectFree(op) || op->getNumResults() == 0)
      return false;
    if (op->getNumRegions() != 0 && !llvm::isa<tk::CompositeOp>(op))
      return false;
    auto isConstant = [](Value operand) {
      Operation *definition = operand.getDefiningOp();
      return definition && definition->hasTrait<OpTrait::ConstantLike>();
    };
    if (!llvm::all_of(op->getOperands(), isConstant))
      return false;
    int64_t read = 0, written = 0;
    for (Value operand : op->getOperands())
      read += analysis::tensorBytes(operand);
    for (Value result : op->getResults())
      written += analysis::tensorBytes(result);
    return written <= std::max(smallBytes, 2 * read) && analysis::trafficOf(op).flops <= mostFlops;
  }

  bool evaluate(Operation *op) {
    if (!isCandidate(op) || state->fuel.isEmpty())
      return false;
    llvm::SmallVector<Tensor> operands;
    for (Value operand : op->getOperands())
      operands.push_back(*tk::constantValue(operand));
    // Where the value is undefined (an index out of range), the run reports it, if it gets there at all.
    ScopedDiagnosticHandler silence(&getContext(), [](Diagnostic &) { return success(); });
    FailureOr<llvm::SmallVector<Tensor>> results = reference::evaluate(op, operands);
    if (failed(results))
      return false;
    state->fuel.take(getArgument(), op->getLoc());
    state->removed.folded(op->getLoc());
    OpBuilder builder(op);
    for (auto [result, tensor] : llvm::zip_equal(op->getResults(), *results))
      result.replaceAllUsesWith(
          builder.create<tk::ConstantOp>(op->getLoc(), result.getType(), tensor.toAttr(&getContext())));
    op->erase();
    return true;
  }

  PassStatePtr state;
};
} // namespace

std::unique_ptr<Pass> tokamak::createFoldConstantsPass(PassStatePtr state) {
  return std::make_unique<FoldConstants>(orFresh(std::move(state)));
}
