//===- Match.cpp - where a rule applies -------------------------------------------------------===//
#include "rewrite/rules/Match.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tokamak;
using namespace tokamak::rules;

using Values = llvm::SmallVector<Value, 2>;
using Types = llvm::SmallVector<Type, 2>;

Binding Match::lookUp(Value name) const {
  if (auto bound = bindings.find(name); bound != bindings.end())
    return bound->second;
  Operation *definition = name.getDefiningOp();
  if (auto literal = llvm::dyn_cast<pdl::AttributeOp>(definition))
    return literal.getValueAttr();
  if (auto literal = llvm::dyn_cast<pdl::TypeOp>(definition); literal && literal.getConstantTypeAttr())
    return Types{literal.getConstantTypeAttr().getValue()};
  if (auto literal = llvm::dyn_cast<pdl::TypesOp>(definition); literal && literal.getConstantTypesAttr())
    return Types(llvm::map_range(literal.getConstantTypesAttr().getAsValueRange<TypeAttr>(),
                                 [](Type t) { return t; }));
  if (!llvm::isa<pdl::ResultOp, pdl::ResultsOp>(definition))
    return {};
  Binding parent = lookUp(definition->getOperand(0));
  auto **op = std::get_if<Operation *>(&parent);
  if (!op)
    return {};
  if (auto result = llvm::dyn_cast<pdl::ResultOp>(definition))
    return result.getIndex() < (*op)->getNumResults() ? Values{(*op)->getResult(result.getIndex())}
                                                      : Values{};
  return Values((*op)->getResults());
}

Values Match::valuesOf(Value name) const {
  Binding binding = lookUp(name);
  auto *values = std::get_if<Values>(&binding);
  return values ? *values : Values{};
}

std::optional<llvm::SmallVector<NativeArgument>> Match::argumentsOf(Operation *call) const {
  llvm::SmallVector<NativeArgument> arguments;
  for (Value name : call->getOperands()) {
    Binding binding = lookUp(name);
    NativeArgument argument;
    if (auto *attribute = std::get_if<Attribute>(&binding))
      argument.attribute = *attribute;
    else if (auto *values = std::get_if<Values>(&binding); values && values->size() == 1)
      argument.value = values->front();
    if (!argument.attribute && !argument.value)
      return std::nullopt;
    arguments.push_back(argument);
  }
  return arguments;
}

/// The attribute, or the default where the operator has one and the operation leaves it out.
static Attribute attributeOrDefault(Operation *op, StringAttr name) {
  if (Attribute attribute = op->getAttr(name))
    return attribute;
  NamedAttrList defaults;
  op->getName().populateDefaultAttrs(defaults);
  return defaults.get(name);
}

namespace {

/// One attempt, with a fixed order of operands: what a name stands for is decided where it is met first.
class Matcher {
public:
  /// The operators of the pattern whose bit in `swapped` is set take their operands the other way round.
  Matcher(const Rule &rule, unsigned swapped) : rule(rule) { result.swapped = swapped; }

  std::optional<Match> run(Operation *root) {
    if (!operation(rule.root, root))
      return std::nullopt;
    for (auto call : pdl::PatternOp(rule.pattern).getBodyRegion().getOps<pdl::ApplyNativeConstraintOp>())
      if (!holds(call))
        return std::nullopt;
    return std::move(result);
  }

private:
  bool operation(pdl::OperationOp pattern, Operation *op) {
    if (!op)
      return false;
    if (auto bound = result.bindings.find(pattern.getOp()); bound != result.bindings.end())
      return std::get<Operation *>(bound->second) == op;
    if (op->getName().getStringRef() != *pattern.getOpName())
      return false;
    result.bindings[pattern.getOp()] = op;
    result.operations.push_back(op);
    for (auto [name, attribute] : llvm::zip_equal(pattern.getAttributeValueNames().getAsRange<StringAttr>(),
                                                  pattern.getAttributeValues()))
      if (!this->attribute(attribute, attributeOrDefault(op, name)))
        return false;
    Values operands(op->getOperands());
    if (isSwapped(pattern))
      std::swap(operands[0], operands[1]);
    return groups<Value>(pattern.getOperandValues(), operands,
                         [&](Value name, llvm::ArrayRef<Value> part) { return values(name, part); }) &&
           groups<Type>(pattern.getTypeValues(), Types(op->getResultTypes()),
                        [&](Value name, llvm::ArrayRef<Type> part) { return types(name, part); });
  }

  bool isSwapped(pdl::OperationOp pattern) const {
    for (auto [i, op] : llvm::enumerate(rule.swappable))
      if (op == pattern)
        return result.swapped >> i & 1;
    return false;
  }

  /// Deals `items` out to the names: one each, and what is left to the only list among them.
  template <typename T>
  bool groups(ValueRange names, llvm::ArrayRef<T> items,
              llvm::function_ref<bool(Value, llvm::ArrayRef<T>)> matchPart) {
    auto isList = [](Value name) {
      return llvm::isa<pdl::RangeType>(name.getType()) && !name.getDefiningOp<pdl::ResultsOp>();
    };
    const size_t lists = llvm::count_if(names, isList), singles = names.size() - lists;
    if (lists ? items.size() < singles : items.size() != singles)
      return false;
    const size_t listLength = items.size() - singles;
    for (Value name : names) {
      const size_t length = isList(name) ? listLength : 1;
      if (!matchPart(name, items.take_front(length)))
        return false;
      items = items.drop_front(length);
    }
    return true;
  }

  /// Binds `name` unless it is bound: then `items` must be equal.
  template <typename T>
  bool bind(Value name, llvm::ArrayRef<T> items) {
    Binding &binding = result.bindings[name];
    if (auto *bound = std::get_if<llvm::SmallVector<T, 2>>(&binding))
      return llvm::equal(*bound, items);
    binding = llvm::SmallVector<T, 2>(items);
    return true;
  }

  bool values(Value name, llvm::ArrayRef<Value> values) {
    Operation *definition = name.getDefiningOp();
    if (llvm::isa<pdl::ResultOp, pdl::ResultsOp>(definition)) {
      auto parent = definition->getOperand(0).getDefiningOp<pdl::OperationOp>();
      auto index =
          llvm::isa<pdl::ResultOp>(definition) ? llvm::cast<pdl::ResultOp>(definition).getIndex() : 0;
      auto operand = llvm::dyn_cast<OpResult>(values[0]);
      return operand && operand.getResultNumber() == index && operation(parent, operand.getOwner());
    }
    // pdl.operand and pdl.operands, perhaps with types.
    if (definition->getNumOperands() == 1 &&
        !types(definition->getOperand(0), Types(ValueRange(values).getTypes())))
      return false;
    return bind(name, values);
  }

  bool types(Value name, llvm::ArrayRef<Type> types) {
    Binding literal = result.lookUp(name);
    if (auto *expected = std::get_if<Types>(&literal))
      return llvm::equal(*expected, types);
    return bind(name, types);
  }

  bool attribute(Value name, Attribute attribute) {
    auto definition = name.getDefiningOp<pdl::AttributeOp>();
    if (!attribute || (definition.getValueAttr() && definition.getValueAttr() != attribute))
      return false;
    if (Value type = definition.getValueType()) {
      auto typed = llvm::dyn_cast<TypedAttr>(attribute);
      if (!typed || !types(type, typed.getType()))
        return false;
    }
    Binding &binding = result.bindings[name];
    if (auto *bound = std::get_if<Attribute>(&binding))
      return *bound == attribute;
    binding = attribute;
    return true;
  }

  bool holds(pdl::ApplyNativeConstraintOp call) {
    auto arguments = result.argumentsOf(call);
    return arguments && findConstraint(call.getName())->holds(*arguments) != call.getIsNegated();
  }

  const Rule &rule;
  Match result;
};

} // namespace

std::optional<Match> rules::match(const Rule &rule, Operation *root) {
  for (unsigned swapped = 0; swapped < 1u << rule.swappable.size(); ++swapped)
    if (std::optional<Match> found = Matcher(rule, swapped).run(root))
      return found;
  return std::nullopt;
}
