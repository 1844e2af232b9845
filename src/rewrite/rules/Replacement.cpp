//===- Replacement.cpp - what a rule puts in the place of a match -------------------------------===//
#include "rewrite/rules/Replacement.h"
#include "ir/Tk.h"
#include "mlir/IR/Diagnostics.h"
#include "rewrite/PassState.h"
#include "rewrite/rules/Guard.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rules;

void Replacement::discard() {
  for (Operation *op : llvm::reverse(created))
    op->erase();
  created.clear();
}

static std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

namespace {
class ReplacementBuilder : OpBuilder::Listener {
public:
  ReplacementBuilder(const Rule &rule, Match match)
      : rule(rule), match(std::move(match)), root(this->match.operations[0]), builder(root, this),
        loc(root->getLoc()) {
    for (Operation *op : llvm::drop_begin(this->match.operations))
      if (!op->hasTrait<OpTrait::ConstantLike>())
        loc = mergeLocations(loc, op->getLoc());
  }

  llvm::Expected<Replacement> run() {
    pdl::RewriteOp rewrite = pdl::PatternOp(rule.pattern).getRewriter();
    for (Operation &op : rewrite.getBodyRegion().front()) {
      llvm::Error error = llvm::Error::success();
      if (auto operation = llvm::dyn_cast<pdl::OperationOp>(op))
        error = create(operation);
      else if (auto call = llvm::dyn_cast<pdl::ApplyNativeRewriteOp>(op))
        error = apply(call);
      else if (auto replace = llvm::dyn_cast<pdl::ReplaceOp>(op))
        error = take(replace);
      if (!error)
        error = checkOperands();
      if (error) {
        result.discard();
        return std::move(error);
      }
    }
    return std::move(result);
  }

private:
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    result.created.push_back(op);
  }

  llvm::Error create(pdl::OperationOp pattern) {
    llvm::SmallVector<Value> operands;
    for (Value name : pattern.getOperandValues())
      llvm::append_range(operands, match.valuesOf(name));
    llvm::SmallVector<NamedAttribute> attributes;
    for (auto [name, attribute] : llvm::zip_equal(pattern.getAttributeValueNames().getAsRange<StringAttr>(),
                                                  pattern.getAttributeValues())) {
      Binding value = match.lookUp(attribute);
      if (auto *known = std::get_if<Attribute>(&value); known && *known)
        attributes.push_back({name, *known});
      else
        return ruleError(pattern.getLoc(), "attribute '" + name.getValue() + "' has no value");
    }

    std::string reason;
    ScopedDiagnosticHandler diagnostics(builder.getContext(), [&](Diagnostic &diagnostic) {
      if (reason.empty())
        reason = diagnostic.str();
      return success();
    });
    // Inference reads attributes without asking whether they are there and of the right kind.
    if (!hasValidAttributes(pattern, operands, attributes, reason))
      return ruleError(pattern.getLoc(), reason);
    reason.clear();
    FailureOr<Operation *> op = createOperation(pattern, operands, attributes);
    if (failed(op))
      return ruleError(pattern.getLoc(), reason);
    llvm::SmallVector<Type> types;
    for (Value name : pattern.getTypeValues()) {
      Binding binding = match.lookUp(name);
      if (auto *known = std::get_if<llvm::SmallVector<Type, 2>>(&binding))
        llvm::append_range(types, *known);
    }
    if (!types.empty() && !llvm::equal(types, (*op)->getResultTypes()))
      return ruleError(pattern.getLoc(), "'" + *pattern.getOpName() + "' gives " +
                                             textOf((*op)->getResult(0).getType()) + ", not " +
                                             textOf(types[0]));
    match.bindings[pattern.getOp()] = *op;
    return llvm::Error::success();
  }

  FailureOr<Operation *> createOperation(pdl::OperationOp pattern, ValueRange operands,
                                         llvm::ArrayRef<NamedAttribute> attributes) {
    // An operation that does not verify is erased by createChecked after the listener has seen it.
    const size_t before = result.created.size();
    FailureOr<Operation *> op = tk::createChecked(builder, loc, *pattern.getOpName(), operands, attributes);
    if (failed(op))
      result.created.truncate(before);
    return op;
  }

  /// Verifies the attributes alone, on an operation outside the graph whose result types are made up.
  bool hasValidAttributes(pdl::OperationOp pattern, ValueRange operands,
                          llvm::ArrayRef<NamedAttribute> attributes, std::string &reason) {
    OperationState state(loc, *pattern.getOpName());
    state.addOperands(operands);
    state.addAttributes(attributes);
    state.name.populateDefaultAttrs(state.attributes);
    state.types.assign(resultCount(state.name).value_or(1), root->getResult(0).getType());
    Operation *trial = Operation::create(state);
    // Attributes are verified before operands and types, which are createChecked's business.
    (void)state.name.verifyInvariants(trial);
    trial->destroy();
    return !llvm::StringRef(reason).contains("requires attribute '") &&
           !llvm::StringRef(reason).contains("failed to satisfy constraint");
  }

  /// What stands in front of the root cannot read it.
  llvm::Error checkOperands() {
    if (!result.created.empty() && llvm::any_of(result.created.back()->getOperands(),
                                                [&](Value v) { return v.getDefiningOp() == root; }))
      return ruleError(rule, "uses the root in its own replacement");
    return llvm::Error::success();
  }

  llvm::Error apply(pdl::ApplyNativeRewriteOp call) {
    std::string reason = "an argument is not one value";
    auto arguments = match.argumentsOf(call);
    Value value = arguments ? findRewrite(call.getName())->build(builder, loc, *arguments, reason) : Value();
    if (!value)
      return ruleError(call.getLoc(), reason);
    match.bindings[call->getResult(0)] = llvm::SmallVector<Value, 2>{value};
    return llvm::Error::success();
  }

  llvm::Error take(pdl::ReplaceOp replace) {
    if (Value by = replace.getReplOperation()) {
      Binding binding = match.lookUp(by);
      result.values.assign(std::get<Operation *>(binding)->result_begin(),
                           std::get<Operation *>(binding)->result_end());
    }
    for (Value name : replace.getReplValues())
      llvm::append_range(result.values, match.valuesOf(name));
    if (result.values.size() != root->getNumResults())
      return ruleError(replace.getLoc(), llvm::Twine(result.values.size()) + " values replace " +
                                             llvm::Twine(root->getNumResults()));
    for (auto [value, old] : llvm::zip_equal(result.values, root->getResults())) {
      if (value == old)
        return ruleError(replace.getLoc(), "the root is replaced by itself");
      if (value.getType() != old.getType())
        return ruleError(replace.getLoc(),
                         "a value of " + textOf(value.getType()) + " replaces one of " +
                             textOf(old.getType()) +
                             "; a condition such as SameType(root, x) keeps the rule from such places");
    }
    return llvm::Error::success();
  }

  const Rule &rule;
  Match match;
  Operation *root;
  OpBuilder builder;
  Location loc; ///< of all that the match replaces
  Replacement result;
};
} // namespace

llvm::Expected<Replacement> rules::buildReplacement(const Rule &rule, Match match) {
  return ReplacementBuilder(rule, std::move(match)).run();
}
