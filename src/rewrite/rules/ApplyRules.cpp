//===- ApplyRules.cpp - rules that a user writes ------------------------------------------------===//
// File by file, until no rule of it applies. Contract: what each rule states (Tolerance, AssumeFinite), exact
// where it states nothing; compared with the evaluator where a rule applies to operators and types that it
// has not met yet.
#include "analysis/Blocks.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "rewrite/Passes.h"
#include "rewrite/rules/Sameness.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <deque>

namespace tokamak {
#define GEN_PASS_DECL_APPLYRULES
#define GEN_PASS_DEF_APPLYRULES
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rules;

namespace {

/// Applies the rules of one file.
class Driver {
public:
  Driver(const RuleFile &file, bool trust, PassState &state, llvm::StringRef pass)
      : file(file.name), trust(trust), state(state), pass(pass) {
    for (const Rule &rule : file.rules) {
      byRoot[*const_cast<Rule &>(rule).root.getOpName()].push_back(&rule);
      depth = std::max(depth, rule.depth);
    }
  }

  llvm::Error run(ModuleOp module) {
    analysis::forEachGraphBlock(module, [&](Block &block) {
      for (Operation &op : block)
        enqueue(&op);
    });
    // Rules that end in less than this are useful; those that do not, most likely never end.
    const size_t limit = 1000 + 8 * queue.size();
    while (!queue.empty() && !state.fuel.isEmpty()) {
      Operation *op = queue.front();
      queue.pop_front();
      if (!queued.erase(op))
        continue; // it has been erased
      auto rules = byRoot.find(op->getName().getStringRef());
      if (rules == byRoot.end())
        continue;
      for (const Rule *rule : rules->second) {
        std::optional<Match> found = match(*rule, op);
        if (!found)
          continue;
        if (++applied > limit)
          return ruleError(*rule, "is still applied after " + llvm::Twine(limit) +
                                      " rewrites of this file: it seems to undo itself, or another rule");
        if (llvm::Error error = apply(*rule, *found))
          return error;
        break;
      }
    }
    return llvm::Error::success();
  }

private:
  void enqueue(Operation *op) {
    if (queued.insert(op).second)
      queue.push_back(op);
  }

  llvm::Error apply(const Rule &rule, const Match &found) {
    llvm::Expected<Replacement> replacement = buildReplacement(rule, found);
    if (!replacement)
      return replacement.takeError();
    if (!trust && checked[&rule].insert(signatureOf(found)).second)
      if (llvm::Error error = checkSameness(rule, found, *replacement)) {
        replacement->discard();
        return error;
      }
    Operation *root = found.operations[0];
    std::string step = pass.str() + " (" + nameOf(rule) + ")";
    if (!state.fuel.take(step, root->getLoc())) {
      replacement->discard();
      return llvm::Error::success();
    }
    // What reads the new values, as far away as a pattern sees.
    llvm::SmallVector<Operation *> users(root->user_begin(), root->user_end());
    Operation *by = replacement->values[0].getDefiningOp();
    Location into = by ? by->getLoc() : root->getLoc();
    root->replaceAllUsesWith(replacement->values);
    erase(root, into);
    for (Operation *op : replacement->created)
      enqueue(op);
    // A created operator that nothing uses is dead now, others later; the pass for dead code sees to it.
    enqueueWithUsers(users);
    return llvm::Error::success();
  }

  /// "HardSwish of my.pdll", or "at line 12 of my.pdll" where it has no name.
  std::string nameOf(const Rule &rule) const {
    auto place = const_cast<Rule &>(rule).pattern.getLoc()->findInstanceOf<FileLineColLoc>();
    std::string name = !rule.name.empty() ? rule.name
                       : place            ? "at line " + std::to_string(place.getLine())
                                          : "a rule";
    return name + " of " + file.str();
  }

  /// Erases an operator without users and what it alone used; their work is done by the operator at `into`.
  void erase(Operation *op, Location into) {
    llvm::SmallVector<Operation *> dead = {op};
    while (!dead.empty()) {
      Operation *next = dead.pop_back_val();
      llvm::SmallSetVector<Operation *, 4> definitions;
      for (Value operand : next->getOperands())
        if (Operation *definition = operand.getDefiningOp())
          definitions.insert(definition);
      if (!next->hasTrait<OpTrait::ConstantLike>())
        state.removed.merged(next->getLoc(), into);
      queued.erase(next);
      next->erase();
      for (Operation *definition : definitions)
        if (isOpTriviallyDead(definition))
          dead.push_back(definition);
    }
  }

  void enqueueWithUsers(llvm::ArrayRef<Operation *> users) {
    llvm::SmallVector<Operation *> front(users);
    llvm::DenseSet<Operation *> seen(front.begin(), front.end());
    for (unsigned level = 0; level < depth && !front.empty(); ++level) {
      llvm::SmallVector<Operation *> next;
      for (Operation *op : front) {
        enqueue(op);
        for (Operation *user : op->getUsers())
          if (seen.insert(user).second)
            next.push_back(user);
      }
      front = std::move(next);
    }
  }

  llvm::StringRef file;
  bool trust;
  PassState &state;
  llvm::StringRef pass;
  llvm::StringMap<llvm::SmallVector<const Rule *>> byRoot;
  unsigned depth = 0; ///< of the deepest pattern
  std::deque<Operation *> queue;
  llvm::DenseSet<Operation *> queued; ///< the live part of the queue
  llvm::DenseMap<const Rule *, llvm::StringSet<>> checked;
  size_t applied = 0;
};

struct ApplyRules : tokamak::impl::ApplyRulesBase<ApplyRules> {
  ApplyRules() : state(orFresh(nullptr)) {}
  ApplyRules(std::vector<std::string> files, bool trust, PassStatePtr state)
      : files(std::move(files)), trusts(trust), state(orFresh(std::move(state))) {}

  void runOnOperation() override {
    // In tokamak-opt they are the pass' own options.
    std::vector<std::string> names =
        files.empty() ? std::vector<std::string>(rules.begin(), rules.end()) : files;
    for (const std::string &name : names)
      if (llvm::Error error = applyFile(name)) {
        state->inputFault = true;
        emitError(UnknownLoc::get(&getContext())) << toString(std::move(error));
        return signalPassFailure();
      }
  }

private:
  llvm::Error applyFile(const std::string &name) {
    llvm::Expected<RuleFile> file = loadRules(name, getContext());
    if (!file)
      return file.takeError();
    if (llvm::Error error = Driver(*file, trusts || trust, *state, getArgument()).run(getOperation()))
      return error;
    std::string reason;
    ScopedDiagnosticHandler diagnostics(&getContext(), [&](Diagnostic &diagnostic) {
      if (reason.empty())
        reason = diagnostic.str();
      return success();
    });
    if (failed(verify(getOperation())))
      return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                     name + ": its rules leave a graph that is not valid: " + reason);
    return llvm::Error::success();
  }

  std::vector<std::string> files;
  bool trusts = false;
  PassStatePtr state;
};
} // namespace

std::unique_ptr<Pass> tokamak::createApplyRulesPass() { return std::make_unique<ApplyRules>(); }
std::unique_ptr<Pass> tokamak::createApplyRulesPass(std::vector<std::string> files, bool trust,
                                                    PassStatePtr state) {
  return std::make_unique<ApplyRules>(std::move(files), trust, std::move(state));
}
