//===- Elementwise.cpp - arithmetic, comparisons, logic, casts -----------------------------===//
#include "import/ops/Common.h"

namespace tokamak::import {

using tk::Predicate;

namespace {

/// The second operand of a binary operator. Before opset 7 it broadcast only where `broadcast` was set, and
/// `axis` then said which axis of the first operand its first axis meets.
Value secondOperand(NodeContext &n, Body &b, Value lhs, Value rhs) {
  if (n.opset() >= 7 || n.intAttr("broadcast", 0) == 0 || !n.hasAttr("axis"))
    return rhs;
  int64_t axis = normalizeAxis(n.intAttr("axis", 0), rankOf(lhs));
  Ints shape(shapeOf(rhs));
  if (axis + rankOf(rhs) > rankOf(lhs))
    fault("axis " + llvm::Twine(axis) + " leaves no room for an operand of shape " + text(shape));
  shape.append(rankOf(lhs) - axis - rankOf(rhs), 1);
  return b.reshape(rhs, shape);
}

ImportFn unary(llvm::StringRef name) {
  return [name](NodeContext &n) -> Result {
    n.takesInputs(1);
    return Values{n.body().unary(name, n.input(0))};
  };
}

ImportFn binary(llvm::StringRef name) {
  return [name](NodeContext &n) -> Result {
    n.takesInputs(2);
    return n.composite1({n.input(0), n.input(1)}, [&](Body &b, ValueRange x) {
      return b.op(name, {x[0], secondOperand(n, b, x[0], x[1])});
    });
  };
}

ImportFn comparison(Predicate predicate) {
  return [predicate](NodeContext &n) -> Result {
    n.takesInputs(2);
    return n.composite1({n.input(0), n.input(1)}, [&](Body &b, ValueRange x) {
      return b.compare(predicate, x[0], secondOperand(n, b, x[0], x[1]));
    });
  };
}

/// Sum, Max, Min, Mean of any number of operands.
ImportFn variadic(llvm::StringRef name, bool mean = false) {
  return [name, mean](NodeContext &n) -> Result {
    Values operands;
    for (int64_t i = 0; i < n.inputCount(); ++i)
      operands.push_back(n.input(i));
    if (operands.empty())
      return n.error("at least one input is required");
    if (operands.size() == 1)
      return operands;
    auto build = [&](Body &b, ValueRange x) {
      Value result = x[0];
      for (Value next : x.drop_front())
        result = b.op(name, {result, next});
      return mean ? b.div(result, b.scalarLike(result, static_cast<double>(x.size()))) : result;
    };
    // A single operator on halves rounds once anyway.
    return operands.size() == 2 && !mean ? n.composite1(operands, build) : wideComposite(n, operands, build);
  };
}

Result importPow(NodeContext &n) {
  n.takesInputs(2);
  DataType base = typeOf(n.input(0)), exponent = typeOf(n.input(1));
  return n.composite1({n.input(0), n.input(1)}, [&](Body &b, ValueRange x) {
    Value e = secondOperand(n, b, x[0], x[1]);
    if (base == exponent)
      return b.pow(x[0], e);
    // The result has the type of the base. Integers stay exact, and those of another type come to it in the
    // end.
    DataType type = !isFloat(base) && !isFloat(exponent)  ? DataType::Int64
                    : isFloat(base) && !isFloat(exponent) ? wideType(base)
                                                          : DataType::Float64;
    return b.cast(b.pow(b.cast(x[0], type), b.cast(e, type)), base);
  });
}

Result importMod(NodeContext &n) {
  n.takesInputs(2);
  Body &b = n.body();
  return Values{b.op("mod", {n.input(0), n.input(1)}, b.attr("truncated", n.intAttr("fmod", 0) != 0))};
}

Result importBitShift(NodeContext &n) {
  n.takesInputs(2);
  std::string direction = n.stringAttr("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return n.error("direction must be LEFT or RIGHT, not '" + direction + "'");
  llvm::StringRef name = direction == "LEFT" ? "shift_left" : "shift_right";
  return Values{n.body().op(name, {n.input(0), n.input(1)})};
}

Result importReciprocal(NodeContext &n) {
  n.takesInputs(1);
  return n.composite1({n.input(0)}, [](Body &b, ValueRange x) { return b.div(b.scalarLike(x[0], 1), x[0]); });
}

Result importWhere(NodeContext &n) {
  n.takesInputs(3);
  return Values{n.body().select(n.input(0), n.input(1), n.input(2))};
}

Result importIsInf(NodeContext &n) {
  n.takesInputs(1);
  Body &b = n.body();
  return Values{b.op("is_inf", {n.input(0)},
                     {b.attr("positive", n.intAttr("detect_positive", 1) != 0),
                      b.attr("negative", n.intAttr("detect_negative", 1) != 0)})};
}

Result importCast(NodeContext &n) {
  n.takesInputs(1);
  if (!n.hasAttr("to"))
    return n.error("attribute 'to' is missing");
  return Values{n.body().cast(n.input(0), dataType(n.intAttr("to", 0)))};
}

Result importCastLike(NodeContext &n) {
  n.takesInputs(2);
  return Values{n.body().cast(n.input(0), typeOf(n.input(1)))};
}

/// Identity when not training; the mask is then all true (opset 12), or ones of the type of the data before.
Result importDropout(NodeContext &n) {
  n.takesInputs(3);
  if (n.opset() >= 12 && n.has(2)) {
    Tensor training = n.constantInput(2, "training_mode");
    bool keepsAll = n.has(1) && n.constantInput(1, "the ratio").doubleAt(0) == 0;
    if (training.size() == 1 && training.intAt(0) != 0 && !keepsAll)
      return n.error("in training mode Dropout draws random numbers; export the model for inference");
  }
  Values results{n.input(0)};
  if (n.outputCount() > 1) {
    DataType maskType = n.opset() >= 10 ? DataType::Bool : typeOf(n.input(0));
    results.push_back(filled(n.body(), maskType, shapeOf(n.input(0)), 1));
  }
  return results;
}

} // namespace

void registerElementwise(Registry &registry) {
  for (auto [onnx, tk] : std::initializer_list<std::pair<const char *, const char *>>{
           {"Abs", "abs"},     {"Acos", "acos"},   {"Acosh", "acosh"},  {"Asin", "asin"},
           {"Asinh", "asinh"}, {"Atan", "atan"},   {"Atanh", "atanh"},  {"BitwiseNot", "bit_not"},
           {"Ceil", "ceil"},   {"Cos", "cos"},     {"Cosh", "cosh"},    {"Erf", "erf"},
           {"Exp", "exp"},     {"Floor", "floor"}, {"IsNaN", "is_nan"}, {"Log", "log"},
           {"Neg", "neg"},     {"Not", "not"},     {"Round", "round"},  {"Sign", "sign"},
           {"Sin", "sin"},     {"Sinh", "sinh"},   {"Sqrt", "sqrt"},    {"Tan", "tan"},
           {"Tanh", "tanh"}})
    registry.add(onnx, unary(tk));
  for (auto [onnx, tk] :
       std::initializer_list<std::pair<const char *, const char *>>{{"Add", "add"},
                                                                    {"And", "and"},
                                                                    {"BitwiseAnd", "bit_and"},
                                                                    {"BitwiseOr", "bit_or"},
                                                                    {"BitwiseXor", "bit_xor"},
                                                                    {"Div", "div"},
                                                                    {"Mul", "mul"},
                                                                    {"Or", "or"},
                                                                    {"Sub", "sub"},
                                                                    {"Xor", "xor"}})
    registry.add(onnx, binary(tk));
  registry.add("Equal", comparison(Predicate::Equal));
  registry.add("Greater", comparison(Predicate::Greater));
  registry.add("GreaterOrEqual", comparison(Predicate::GreaterOrEqual));
  registry.add("Less", comparison(Predicate::Less));
  registry.add("LessOrEqual", comparison(Predicate::LessOrEqual));
  registry.add("Max", variadic("max"));
  registry.add("Mean", variadic("add", /*mean=*/true));
  registry.add("Min", variadic("min"));
  registry.add("Sum", variadic("add"));
  registry.add("BitShift", importBitShift);
  registry.add("Cast", importCast);
  registry.add("CastLike", importCastLike);
  registry.add("Dropout", importDropout);
  registry.add("IsInf", importIsInf);
  registry.add("Mod", importMod);
  registry.add("Pow", importPow);
  registry.add("Reciprocal", importReciprocal);
  registry.add("Where", importWhere);
}

} // namespace tokamak::import
