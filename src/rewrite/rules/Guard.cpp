//===- Guard.cpp - which patterns may be applied at all ---------------------------------------===//
#include "rewrite/rules/Guard.h"
#include "ir/Tk.h"
#include "rewrite/rules/Natives.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rules;

std::optional<unsigned> rules::resultCount(OperationName name) {
  if (name.hasTrait<OpTrait::OneResult>())
    return 1;
  if (name.hasTrait<OpTrait::NResults<2>::Impl>())
    return 2;
  return std::nullopt;
}

/// The operand count of operators of that name, where it does not vary.
static std::optional<unsigned> operandCount(OperationName name) {
  if (name.hasTrait<OpTrait::ZeroOperands>())
    return 0;
  if (name.hasTrait<OpTrait::OneOperand>())
    return 1;
  if (name.hasTrait<OpTrait::NOperands<2>::Impl>())
    return 2;
  if (name.hasTrait<OpTrait::NOperands<3>::Impl>())
    return 3;
  if (name.hasTrait<OpTrait::NOperands<4>::Impl>())
    return 4;
  if (name.hasTrait<OpTrait::NOperands<5>::Impl>())
    return 5;
  return std::nullopt;
}

/// How many values a name of the pattern stands for; nothing where a match decides.
static std::optional<unsigned> valueCount(Value value) {
  if (llvm::isa<pdl::ValueType>(value.getType()))
    return 1;
  if (auto results = value.getDefiningOp<pdl::ResultsOp>())
    if (auto op = results.getParent().getDefiningOp<pdl::OperationOp>(); op && op.getOpName())
      return resultCount(OperationName(*op.getOpName(), op.getContext()));
  return std::nullopt;
}

static llvm::Error checkName(pdl::OperationOp op) {
  if (!op.getOpName())
    return ruleError(op.getLoc(), "an operator without a name; write op<tk.NAME>");
  OperationName name(*op.getOpName(), op.getContext());
  if (!name.isRegistered() || name.getDialectNamespace() != tk::TkDialect::getDialectNamespace())
    return ruleError(op.getLoc(), "there is no operator '" + *op.getOpName() + "'");
  // Those with regions, and the end of a region, have no types that follow from operands.
  if (!name.hasInterface<InferTypeOpInterface>())
    return ruleError(op.getLoc(),
                     "operator '" + *op.getOpName() + "' has a region, which rules cannot handle");
  return llvm::Error::success();
}

static llvm::Error checkCount(pdl::OperationOp op, llvm::StringRef what, std::optional<unsigned> expected,
                              ValueRange given) {
  unsigned atLeast = 0, unknown = 0;
  for (Value value : given) {
    std::optional<unsigned> count = valueCount(value);
    atLeast += count.value_or(0);
    unknown += !count;
  }
  if (unknown > 1)
    return ruleError(op.getLoc(), "more than one list among the " + what + "s of '" + *op.getOpName() + "'");
  if (expected && (unknown ? atLeast > *expected : atLeast != *expected))
    return ruleError(op.getLoc(), "operator '" + *op.getOpName() + "' has " + llvm::Twine(*expected) + " " +
                                      what + (*expected == 1 ? "" : "s") + ", not " + llvm::Twine(atLeast));
  return llvm::Error::success();
}

static llvm::Error checkOperation(pdl::OperationOp op, bool isMatched) {
  if (llvm::Error error = checkName(op))
    return error;
  OperationName name(*op.getOpName(), op.getContext());
  for (auto attribute : op.getAttributeValueNames().getAsRange<StringAttr>())
    if (!llvm::is_contained(name.getAttributeNames(), attribute))
      return ruleError(op.getLoc(),
                       "operator '" + *op.getOpName() + "' has no attribute '" + attribute.getValue() + "'");
  if (llvm::Error error = checkCount(op, "operand", operandCount(name), op.getOperandValues()))
    return error;
  // Types are inferred where a replacement does not give them; in a match `types` stands for any.
  ValueRange types = op.getTypeValues();
  const bool anyTypes = types.empty() || llvm::isa<pdl::RangeType>(types[0].getType());
  if (isMatched && types.empty())
    return ruleError(op.getLoc(), "operator '" + *op.getOpName() + "' has results");
  if (auto count = resultCount(name); count && !anyTypes && types.size() != *count)
    return ruleError(op.getLoc(), "operator '" + *op.getOpName() + "' has " + llvm::Twine(*count) +
                                      " result" + (*count == 1 ? "" : "s") + ", not " +
                                      llvm::Twine(types.size()));
  return llvm::Error::success();
}

static llvm::Error checkArguments(Operation *call, llvm::StringRef name,
                                  llvm::ArrayRef<ArgumentKind> parameters) {
  bool agree = call->getNumOperands() == parameters.size();
  for (auto [argument, kind] : llvm::zip(call->getOperands(), parameters))
    agree &= kind == ArgumentKind::Number ? llvm::isa<pdl::AttributeType>(argument.getType())
                                          : valueCount(argument) == 1;
  if (!agree)
    return ruleError(call->getLoc(), "'" + name + "' is not called as the prelude declares it");
  for (auto [argument, kind] : llvm::zip(call->getOperands(), parameters)) {
    auto definition = argument.getDefiningOp<pdl::AttributeOp>();
    Attribute literal = definition ? definition.getValueAttr() : Attribute();
    if (kind == ArgumentKind::Number && literal && !numberOf(literal))
      return ruleError(call->getLoc(), "'" + name +
                                           "' takes a number that a double holds, as in "
                                           "attr<\"2.0 : f64\">");
  }
  return llvm::Error::success();
}

static llvm::Error checkConstraint(pdl::ApplyNativeConstraintOp call, Rule &rule) {
  const NativeConstraint *native = findConstraint(call.getName());
  if (!native)
    return ruleError(call.getLoc(), "there is no constraint '" + call.getName() +
                                        "'; rules can use those of the prelude, and no C++ code");
  if (call->getNumResults() != 0)
    return ruleError(call.getLoc(), "'" + native->name + "' is not called as the prelude declares it");
  if (llvm::Error error = checkArguments(call, native->name, native->parameters))
    return error;
  const bool isStatement = native->name == "Tolerance" || native->name == "AssumeFinite";
  if (isStatement && call.getIsNegated())
    return ruleError(call.getLoc(), "'not " + native->name + "' means nothing");
  if (native->name == "AssumeFinite")
    rule.assumesFinite = true;
  if (native->name == "Tolerance") {
    auto attribute = call->getOperand(0).getDefiningOp<pdl::AttributeOp>();
    auto number = llvm::dyn_cast_if_present<FloatAttr>(attribute ? attribute.getValueAttr() : Attribute());
    if (!number || !(number.getValueAsDouble() >= 0 && number.getValueAsDouble() < 1))
      return ruleError(call.getLoc(),
                       "a tolerance is a number of [0, 1), as in Tolerance(attr<\"1.0e-6 : f64\">)");
    rule.tolerance = number.getValueAsDouble();
  }
  return llvm::Error::success();
}

static llvm::Error checkRewrite(pdl::ApplyNativeRewriteOp call) {
  const NativeRewrite *native = findRewrite(call.getName());
  if (!native)
    return ruleError(call.getLoc(), "there is no rewrite '" + call.getName() +
                                        "'; rules can use those of the prelude, and no C++ code");
  if (call->getNumResults() != 1)
    return ruleError(call.getLoc(), "'" + native->name + "' is not called as the prelude declares it");
  return checkArguments(call, native->name, native->parameters);
}

/// Anything but operators and calls, in either half of a pattern.
static llvm::Error checkOther(Operation *op) {
  if (auto results = llvm::dyn_cast<pdl::ResultsOp>(op); results && results.getIndex())
    return ruleError(op->getLoc(),
                     "results by their name, which needs an operator definition; use .0, .1, ...");
  if (auto result = llvm::dyn_cast<pdl::ResultOp>(op)) {
    auto parent = result.getParent().getDefiningOp<pdl::OperationOp>();
    if (!parent)
      return ruleError(op->getLoc(), "a result of what is no operator");
    if (llvm::Error error = checkName(parent))
      return error;
    auto count = resultCount(OperationName(*parent.getOpName(), op->getContext()));
    if (count && result.getIndex() >= *count)
      return ruleError(op->getLoc(), "operator '" + *parent.getOpName() + "' has no result " +
                                         llvm::Twine(result.getIndex()));
  }
  if (llvm::isa<pdl::AttributeOp, pdl::TypeOp, pdl::TypesOp, pdl::OperandOp, pdl::OperandsOp, pdl::ResultOp,
                pdl::ResultsOp, pdl::RewriteOp>(op))
    return llvm::Error::success();
  return ruleError(op->getLoc(), "rules cannot use '" + op->getName().getStringRef() + "'");
}

static llvm::Error checkMatch(Rule &rule) {
  for (Operation &op : rule.pattern.getBodyRegion().front()) {
    llvm::Error error = llvm::Error::success();
    if (auto operation = llvm::dyn_cast<pdl::OperationOp>(op))
      error = checkOperation(operation, /*isMatched=*/true);
    else if (auto call = llvm::dyn_cast<pdl::ApplyNativeConstraintOp>(op))
      error = checkConstraint(call, rule);
    else
      error = checkOther(&op);
    if (error)
      return error;
  }
  return llvm::Error::success();
}

static constexpr llvm::StringLiteral neverReplaced = "the root is never replaced";

static llvm::Error checkReplacement(const Rule &rule, pdl::RewriteOp rewrite) {
  if (rewrite.getName() || rewrite.getBodyRegion().empty())
    return ruleError(rewrite.getLoc(), "a replacement in C++; rules write theirs in PDLL");
  unsigned replacements = 0;
  for (Operation &op : rewrite.getBodyRegion().front()) {
    llvm::Error error = llvm::Error::success();
    if (auto operation = llvm::dyn_cast<pdl::OperationOp>(op)) {
      error = checkOperation(operation, /*isMatched=*/false);
    } else if (auto call = llvm::dyn_cast<pdl::ApplyNativeRewriteOp>(op)) {
      error = checkRewrite(call);
    } else if (llvm::isa<pdl::EraseOp>(op)) {
      error = ruleError(op.getLoc(),
                        "'erase' would leave the users of a result without it; replace the root, and "
                        "what it alone used goes by itself");
    } else if (auto replace = llvm::dyn_cast<pdl::ReplaceOp>(op)) {
      if (replace.getOpValue().getDefiningOp() != rule.root)
        error =
            ruleError(op.getLoc(), "only the root of a pattern can be replaced: others may come before what "
                                   "replaces them");
      else if (replacements++)
        error = ruleError(op.getLoc(), "the root is replaced twice");
    } else {
      error = checkOther(&op);
    }
    if (error)
      return error;
  }
  if (replacements == 0)
    return ruleError(rewrite.getLoc(), neverReplaced);
  return llvm::Error::success();
}

llvm::Error rules::checkBodies(ModuleOp file) {
  for (auto pattern : file.getOps<pdl::PatternOp>()) {
    pdl::RewriteOp rewrite = pattern.getRewriter();
    if (!rewrite.getName() && (rewrite.getBodyRegion().empty() || rewrite.getBodyRegion().front().empty()))
      return ruleError(rewrite.getLoc(), neverReplaced);
  }
  return llvm::Error::success();
}

/// The operators that a match from `op` along its operands reaches, each with the length of the longest path
/// to it from an operand of the pattern. The verifier of pdl sees to it that there are no cycles.
static unsigned collectReached(pdl::OperationOp op, llvm::DenseMap<Operation *, unsigned> &reached) {
  if (auto known = reached.find(op); known != reached.end())
    return known->second;
  unsigned deepest = 0;
  for (Value operand : op.getOperandValues())
    if (Operation *result = operand.getDefiningOp(); llvm::isa<pdl::ResultOp, pdl::ResultsOp>(result))
      deepest =
          std::max(deepest, collectReached(result->getOperand(0).getDefiningOp<pdl::OperationOp>(), reached));
  return reached[op] = deepest + 1;
}

llvm::Expected<Rule> rules::checkPattern(pdl::PatternOp pattern) {
  Rule rule;
  rule.pattern = pattern;
  rule.name = pattern.getSymName().value_or("").str();
  pdl::RewriteOp rewrite = pattern.getRewriter();
  if (rewrite.getRoot())
    rule.root = rewrite.getRoot().getDefiningOp<pdl::OperationOp>();
  if (!rule.root)
    return ruleError(rewrite.getLoc(),
                     "a pattern without a root; write 'replace ROOT with' or 'rewrite ROOT with'");
  if (llvm::Error error = checkMatch(rule))
    return std::move(error);
  if (llvm::Error error = checkReplacement(rule, rewrite))
    return std::move(error);

  llvm::DenseMap<Operation *, unsigned> reached;
  rule.depth = collectReached(rule.root, reached);
  for (auto op : pattern.getBodyRegion().getOps<pdl::OperationOp>()) {
    if (!reached.contains(op))
      return ruleError(op.getLoc(), "an operator that does not feed the root of its pattern");
    // Beyond six the orders would be more than it pays to try; the remaining operators match as written.
    if (op.getOperandValues().size() == 2 && rule.swappable.size() < 6 &&
        OperationName(*op.getOpName(), op.getContext()).hasTrait<OpTrait::IsCommutative>())
      rule.swappable.push_back(op);
  }
  return rule;
}
