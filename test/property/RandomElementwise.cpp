//===- RandomElementwise.cpp - random tk graphs: elementwise operators
//------------------------------------===//
#include "RandomGraph.h"
#include <cmath>

namespace tokamak::test {

using namespace mlir;

namespace {

DataType typeOf(Value value) { return *fromMlir(tk::tensorType(value).getElementType()); }
bool isReal(Value value) { return isFloat(typeOf(value)); }

/// Marks a rounded value in the domain of special values; no result is off by so little.
constexpr double onceRounded = 1e-320;

struct RealFunction {
  const char *name;
  double low, high; ///< applied where the operand lies in here
  double slope;     ///< largest |derivative| there
  double least, most;
};

const RealFunction realFunctions[] = {
    {"exp", -6, 4, 55, 0, 55},      {"log", 0.1, 1e6, 10, -3, 14},        {"sin", -100, 100, 1, -1, 1},
    {"cos", -100, 100, 1, -1, 1},   {"tan", -1, 1, 3.5, -1.6, 1.6},       {"asin", -0.9, 0.9, 2.3, -1.2, 1.2},
    {"acos", -0.9, 0.9, 2.3, 0, 3}, {"atan", -1e6, 1e6, 1, -1.6, 1.6},    {"sinh", -4, 4, 28, -28, 28},
    {"cosh", -4, 4, 28, 1, 28},     {"tanh", -1e6, 1e6, 1, -1, 1},        {"asinh", -1e6, 1e6, 1, -15, 15},
    {"acosh", 1.5, 1e6, 1, 0, 15},  {"atanh", -0.9, 0.9, 5.3, -1.5, 1.5}, {"erf", -1e6, 1e6, 1.13, -1, 1},
};

} // namespace

double jitter(DataType type, double magnitude) {
  return (type == DataType::Float16 || type == DataType::BFloat16 ? 2 : 1) * roundingError(type) * magnitude +
         1e-35;
}

void RandomGraph::unary() {
  if (chance(25)) {
    Value x = value(isReal);
    if (!x || boundsOf(x).error > 0)
      return;
    Bounds known = boundsOf(x);
    switch (pick(0, 4)) {
    case 0:
      add(emit("is_nan", x), {0, 1, 0, true});
      return;
    case 1:
      add(emit("is_inf", x, {flag("positive", chance(50)), flag("negative", chance(50))}), {0, 1, 0, true});
      return;
    default:
      add(emit(oneOf({"floor", "ceil", "round"}), x),
          {std::floor(known.low), std::ceil(known.high), 0, true});
    }
    return;
  }
  Value x = value([](Value v) { return typeOf(v) != DataType::Bool; });
  if (!x)
    return;
  Bounds known = boundsOf(x);
  bool real = isReal(x);
  switch (pick(0, 2)) {
  case 0:
    add(emit("neg", x),
        real ? Bounds{-known.high, -known.low, known.error, known.integral} : Bounds{-1e30, 1e30});
    return;
  case 1:
    add(emit("abs", x),
        real ? Bounds{0, known.magnitude(), known.error, known.integral} : Bounds{-1e30, 1e30});
    return;
  default:
    if (known.error == 0)
      add(emit("sign", x), {isUnsigned(typeOf(x)) ? 0.0 : -1.0, 1, 0, true});
  }
}

void RandomGraph::realFunction() {
  Value x = value(isReal);
  if (!x)
    return;
  if (domain == Domain::Special) {
    if (boundsOf(x).error == 0)
      add(emit("sqrt", x), {0, 0, onceRounded, false});
    return;
  }
  if (chance(15)) { // rounds once, so it stays exact
    Value positive =
        add(emit("abs", x), {0, boundsOf(x).magnitude(), boundsOf(x).error, boundsOf(x).integral});
    if (!positive || boundsOf(positive).error > 0)
      return;
    double most = std::sqrt(boundsOf(positive).high);
    add(emit("sqrt", positive), {0, most * 1.01, 0, false});
    return;
  }
  const RealFunction &f = realFunctions[pick(0, std::size(realFunctions) - 1)];
  x = clamp(x, f.low, f.high);
  if (!x)
    return;
  DataType type = typeOf(x);
  Bounds known = boundsOf(x);
  double magnitude = std::max(std::abs(f.least), std::abs(f.most));
  // 4e-6 of the result's size for a polynomial in float32.
  double error = f.slope * known.error + jitter(type, magnitude);
  error += (type == DataType::Float64 ? 16 * roundingError(type) : 4e-6) * magnitude;
  // A clamped bound is rounded to the element type and may lie outside a little.
  add(emit(f.name, x), {f.least, f.most, error + f.slope * 4e-3 * (known.error > 0), false});
}

void RandomGraph::binary() {
  Value x = value([](Value v) { return typeOf(v) != DataType::Bool; });
  if (!x)
    return;
  DataType type = typeOf(x);
  Value y = broadcastPartner(x, type);
  const char *name = oneOf({"add", "add", "sub", "mul", "mul", "div", "max", "min", "mod", "pow"});
  StringRef op = name;
  bool real = isFloat(type);
  Attributes attributes;
  if (op == "mod")
    attributes.push_back(flag("truncated", chance(50)));
  if (!real) {
    if (chance(50))
      std::swap(x, y);
    // Selections keep an index in its range.
    Bounds a = boundsOf(x), c = boundsOf(y), whole{-1e30, 1e30};
    if (op == "max" || op == "min")
      whole = {std::min(a.low, c.low), std::max(a.high, c.high)};
    else if (op == "add")
      whole = {a.low + c.low, a.high + c.high};
    add(emit(op, {x, y}, attributes), whole);
    return;
  }
  if (domain == Domain::Special) {
    arithmetic(oneOf({"add", "sub", "mul", "div", "max", "min"}), x, y);
    return;
  }
  if (op == "div" || op == "mod") {
    if (op == "mod" && (boundsOf(x).error > 0 || boundsOf(y).error > 0))
      return;
    // A divisor of at least one half.
    Value size = emit("abs", y);
    bounds[size] = {0, boundsOf(y).magnitude(), boundsOf(y).error, boundsOf(y).integral};
    y = emit("max", {size, scalar(type, 0.5)});
    bounds[y] = {0.5, std::max(0.5, boundsOf(size).high), boundsOf(size).error, false};
  } else if (op == "pow") {
    Value size = emit("abs", x);
    bounds[size] = {0, boundsOf(x).magnitude(), boundsOf(x).error, boundsOf(x).integral};
    x = emit("max", {clamp(size, 0, 4), scalar(type, 0.25)});
    bounds[x] = {0.25, 4, boundsOf(size).error, false};
    y = chance(50) ? scalar(type, oneOf({0.5, 1.0, 2.0, 3.0, -1.0, 0.0})) : clamp(y, -3, 3);
  } else if (chance(50)) {
    std::swap(x, y);
  }
  if (!x || !y)
    return;
  if (op != "mod" && op != "pow") {
    arithmetic(op, x, y);
    return;
  }
  Bounds a = boundsOf(x), c = boundsOf(y), result;
  double ma = a.magnitude(), mc = c.magnitude();
  if (op == "mod")
    result = {-mc - ma, mc + ma, 0, a.integral && c.integral};
  else
    result = {0, 64,
              770 * a.error + 90 * c.error + jitter(type, 64) +
                  64 * (type == DataType::Float64 ? 0x1p-50 : 0x1p-21),
              false};
  add(emit(op, {x, y}, attributes), result);
}

Value RandomGraph::arithmetic(StringRef op, Value x, Value y) {
  if (!x || !y)
    return nullptr;
  DataType type = typeOf(x);
  Bounds a = boundsOf(x), c = boundsOf(y), result;
  bool selects = op == "max" || op == "min";
  if (domain == Domain::Special && !selects) {
    // A constant may be joined with another one, or its reciprocal taken.
    if (a.error > 0 || c.error > 0 || x.getDefiningOp<tk::ConstantOp>() || y.getDefiningOp<tk::ConstantOp>())
      return nullptr;
    // A divisor may be a zero whose sign is not defined.
    if (op == "div" && !signs)
      return nullptr;
    return add(emit(op, {x, y}), {0, 0, onceRounded, false});
  }
  double ma = a.magnitude(), mc = c.magnitude();
  bool integral = a.integral && c.integral;
  if (op == "add")
    result = {a.low + c.low, a.high + c.high, a.error + c.error, integral};
  else if (op == "sub")
    result = {a.low - c.high, a.high - c.low, a.error + c.error, integral};
  else if (op == "mul")
    result = {-ma * mc, ma * mc, ma * c.error + mc * a.error + a.error * c.error, integral};
  else if (op == "div")
    result = {-2 * ma, 2 * ma, 2 * a.error + 4 * ma * c.error, false};
  else if (op == "max")
    result = {std::max(a.low, c.low), std::max(a.high, c.high), std::max(a.error, c.error), integral};
  else if (op == "min")
    result = {std::min(a.low, c.low), std::min(a.high, c.high), std::max(a.error, c.error), integral};
  // Rewrites may join it with its neighbours, which rounds in other places.
  if (!selects && (!integral || op == "div"))
    result.error += jitter(type, result.magnitude());
  return add(emit(op, {x, y}), result);
}

void RandomGraph::logical() {
  Value x = value([](Value v) { return typeOf(v) == DataType::Bool; });
  if (!x)
    return;
  if (chance(25)) {
    add(emit("not", x), {0, 1, 0, true});
    return;
  }
  add(emit(oneOf({"and", "or", "xor"}), {x, broadcastPartner(x, DataType::Bool)}), {0, 1, 0, true});
}

void RandomGraph::bits() {
  Value x = value([](Value v) { return isInteger(typeOf(v)); });
  if (!x)
    return;
  if (chance(20)) {
    add(emit("bit_not", x), {-1e30, 1e30});
    return;
  }
  add(emit(oneOf({"bit_and", "bit_or", "bit_xor", "shift_left", "shift_right"}),
           {x, broadcastPartner(x, typeOf(x))}),
      {-1e30, 1e30});
}

void RandomGraph::compare() {
  Value x = value([&](Value v) { return boundsOf(v).error == 0; });
  if (!x)
    return;
  Value y = broadcastPartner(x, typeOf(x));
  if (!y || boundsOf(y).error > 0)
    return;
  auto predicate = static_cast<tk::Predicate>(pick(0, 4));
  add(emit("compare", {x, y}, {choice<tk::PredicateAttr>("predicate", predicate)}), {0, 1, 0, true});
}

void RandomGraph::select() {
  Value x = anyValue();
  if (!x)
    return;
  Value y = broadcastPartner(x, typeOf(x)), condition = broadcastPartner(x, DataType::Bool);
  if (!y || !condition)
    return;
  Bounds a = boundsOf(x), c = boundsOf(y);
  add(emit("select", {condition, x, y}), {std::min(a.low, c.low), std::max(a.high, c.high),
                                          std::max(a.error, c.error), a.integral && c.integral});
}

void RandomGraph::cast() {
  Value x = anyValue();
  if (!x)
    return;
  DataType from = typeOf(x), to = elementType();
  Bounds known = boundsOf(x);
  if (from == to || (!isFloat(to) && known.error > 0))
    return;
  if (isFloat(to)) {
    double lost = known.integral && known.magnitude() <= 0.5 / roundingError(to) ? 0
                  : known.error > 0                                              ? 1
                                                                                 : 0;
    known.error += lost * jitter(to, known.magnitude());
    // Beyond half precision's range lies infinity.
    if (to == DataType::Float16 && known.magnitude() > 60000)
      known.low = std::min(known.low, -1e30), known.high = std::max(known.high, 1e30);
    // A rounded bound may grow a little.
    known.low -= std::abs(known.low) * roundingError(to),
        known.high += std::abs(known.high) * roundingError(to);
    if (!known.integral || known.magnitude() > 0.5 / roundingError(to))
      known.integral = known.integral && known.error == 0;
  } else {
    known = {std::trunc(known.low), std::trunc(known.high), 0, true};
  }
  add(emit("cast", x, {type("to", to), flag("saturate", chance(30))}), known);
}

void RandomGraph::batchNorm() {
  Value x = value([](Value v) { return isReal(v) && tk::tensorType(v).getRank() > 0; });
  if (!x || isolated || domain == Domain::Special)
    return;
  auto shape = tk::tensorType(x).getShape();
  int64_t channels = shape.size() > 1 ? shape[1] : 1;
  DataType type = typeOf(x);
  bool constants = chance(80);
  Domain saved = std::exchange(domain, Domain::Reals);
  Value scale = fresh(type, {channels}, -2, 2, constants), bias = fresh(type, {channels}, -2, 2, constants);
  Value mean = fresh(type, {channels}, -2, 2, constants),
        variance = fresh(type, {channels}, 0.5, 2, constants);
  domain = saved;
  Bounds known = boundsOf(x);
  double most = (known.magnitude() + 2) * 2 / std::sqrt(0.5) + 2;
  // Folded into a convolution or made a multiply-add, the operator rounds in other places; half types round
  // each.
  double error = known.error * 2 / std::sqrt(0.5) + 12 * jitter(type, most);
  add(emit("batch_norm", {x, scale, bias, mean, variance},
           {b.getNamedAttr("epsilon", b.getF64FloatAttr(1e-5))}),
      {-most, most, error, false});
}

} // namespace tokamak::test
