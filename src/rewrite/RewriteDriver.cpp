//===- RewriteDriver.cpp - folders and patterns, one counted step at a time ------------------===//
#include "rewrite/RewriteDriver.h"
#include "analysis/Blocks.h"
#include "ir/Tk.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Rewrite/PatternApplicator.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include <optional>
#include <vector>

using namespace mlir;
using namespace tokamak;

namespace {

class Driver : RewriterBase::Listener {
public:
  Driver(Operation *root, const FrozenRewritePatternSet &patterns, PassState &state, llvm::StringRef pass)
      : root(root), applicator(patterns), state(state), pass(pass), rewriter(root->getContext()) {
    applicator.applyDefaultCostModel();
    rewriter.setListener(this);
  }

  void run() {
    // Each sweep applies at least one step, and every step makes the graph smaller or a chain shorter.
    while (sweep() && !state.fuel.isEmpty()) {
    }
  }

private:
  /// Offers every operator once; true if any changed.
  bool sweep() {
    std::vector<Operation *> order;
    analysis::forEachGraphBlock(root, [&](Block &block) {
      for (Operation &op : block)
        order.push_back(&op);
    });
    erased.clear();
    bool changed = false;
    for (Operation *op : order)
      changed |= !erased.contains(op) && (fold(op) || rewrite(op));
    return changed;
  }

  /// Replaces `op` by values that it folds to, or changes it in place.
  bool fold(Operation *op) {
    llvm::SmallVector<Value> operands(op->getOperands());
    llvm::SmallVector<OpFoldResult> folded;
    if (op->hasTrait<OpTrait::ConstantLike>() || state.fuel.isEmpty() || failed(op->fold(folded)))
      return false;
    Location loc = op->getLoc();
    if (!folded.empty()) {
      std::optional<llvm::SmallVector<Value>> values = materialize(op, folded);
      if (!values)
        return false;
      rewriter.replaceOp(op, *values);
      state.removed.identity(loc);
    }
    state.fuel.take(pass, loc);
    eraseUnused(operands, loc);
    return true;
  }

  /// Fold results as values; nothing where the dialect has no constant for one.
  std::optional<llvm::SmallVector<Value>> materialize(Operation *op, llvm::ArrayRef<OpFoldResult> folded) {
    rewriter.setInsertionPoint(op);
    llvm::SmallVector<Value> values;
    for (auto [result, original] : llvm::zip_equal(folded, op->getResults())) {
      auto value = llvm::dyn_cast<Value>(result);
      if (!value) {
        Operation *constant = op->getDialect()->materializeConstant(rewriter, llvm::cast<Attribute>(result),
                                                                    original.getType(), op->getLoc());
        if (!constant)
          return std::nullopt;
        value = constant->getResult(0);
      }
      values.push_back(value);
    }
    return values;
  }

  bool rewrite(Operation *op) {
    if (state.fuel.isEmpty())
      return false;
    Location loc = op->getLoc();
    llvm::SmallVector<Value> operands(op->getOperands());
    replacement = loc;
    rewriter.setInsertionPoint(op);
    if (failed(applicator.matchAndRewrite(op, rewriter)))
      return false;
    state.fuel.take(pass, loc);
    eraseUnused(operands, replacement);
    return true;
  }

  /// Erases definitions that have lost their last user to the operator at `into`, and what they alone used.
  void eraseUnused(llvm::ArrayRef<Value> values, Location into) {
    // Several values may have one definition, which goes once.
    llvm::SmallSetVector<Operation *, 4> definitions;
    for (Value value : values)
      if (Operation *definition = value.getDefiningOp())
        definitions.insert(definition);
    for (Operation *definition : definitions) {
      if (erased.contains(definition) || !isOpTriviallyDead(definition))
        continue;
      llvm::SmallVector<Value> operands(definition->getOperands());
      if (!definition->hasTrait<OpTrait::ConstantLike>())
        state.removed.merged(definition->getLoc(), into);
      rewriter.eraseOp(definition);
      eraseUnused(operands, into);
    }
  }

  // A pattern has replaced an operator: its work is now done by the replacement.
  void notifyOperationReplaced(Operation *op, ValueRange values) override {
    for (Value value : values)
      if (Operation *by = value.getDefiningOp(); by && !by->hasTrait<OpTrait::ConstantLike>()) {
        state.removed.merged(op->getLoc(), by->getLoc());
        replacement = by->getLoc();
      }
  }
  void notifyOperationErased(Operation *op) override { erased.insert(op); }
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    erased.erase(op);
    // Patterns of the dialect join locations, however many there are.
    op->setLoc(mergeLocations(op->getLoc(), op->getLoc()));
  }

  struct Rewriter : PatternRewriter {
    explicit Rewriter(MLIRContext *context) : PatternRewriter(context) {}
  };

  Operation *root;
  PatternApplicator applicator;
  PassState &state;
  llvm::StringRef pass;
  Rewriter rewriter;
  Location replacement = UnknownLoc::get(root->getContext()); ///< of the operator that the running step makes
  llvm::DenseSet<Operation *> erased;
};

} // namespace

void rewrite::applyRewrites(Operation *root, const FrozenRewritePatternSet &patterns, PassState &state,
                            llvm::StringRef pass) {
  Driver(root, patterns, state, pass).run();
}
