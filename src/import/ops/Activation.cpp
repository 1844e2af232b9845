//===- Activation.cpp - Relu, Sigmoid, Gelu, Clip and their kin ----------------------------===//
#include "import/ops/Common.h"
#include <cmath>

namespace tokamak::import {

using tk::Predicate;

namespace {

/// An activation of one input whose formula is `build`, computed in the wide type.
ImportFn activation(std::function<Value(NodeContext &, Body &, Value)> build) {
  return [build](NodeContext &n) -> Result {
    n.takesInputs(1);
    return wideComposite(n, {n.input(0)}, [&](Body &b, ValueRange x) { return build(n, b, x[0]); });
  };
}

Value zero(Body &b, Value like) { return b.scalarLike(like, 0); }
Value one(Body &b, Value like) { return b.scalarLike(like, 1); }
Value less(Body &b, Value x, Value y) { return b.compare(Predicate::Less, x, y); }
Value scaled(Body &b, Value x, double factor) { return factor == 1 ? x : b.mul(x, b.scalarLike(x, factor)); }

Value sigmoid(NodeContext &, Body &b, Value x) {
  return b.div(one(b, x), b.add(one(b, x), b.unary("exp", b.unary("neg", x))));
}

/// log(1 + e^x) as max(x, 0) + log(1 + e^-|x|), whose exponential cannot overflow.
Value softplus(Body &b, Value x) {
  Value decay = b.unary("exp", b.unary("neg", b.unary("abs", x)));
  return b.add(b.max(x, zero(b, x)), b.unary("log", b.add(one(b, x), decay)));
}

Value elu(NodeContext &n, Body &b, Value x) {
  Value negative = scaled(b, b.sub(b.unary("exp", x), one(b, x)), n.floatAttr("alpha", 1));
  return b.select(less(b, x, zero(b, x)), negative, x);
}

Value celu(NodeContext &n, Body &b, Value x) {
  double alpha = n.floatAttr("alpha", 1);
  if (alpha == 0)
    fault("alpha must not be 0");
  Value e = b.unary("exp", alpha == 1 ? x : b.div(x, b.scalarLike(x, alpha)));
  Value negative = scaled(b, b.sub(e, one(b, x)), alpha);
  return b.add(b.max(x, zero(b, x)), b.min(negative, zero(b, x)));
}

Value selu(NodeContext &n, Body &b, Value x) {
  double alpha = n.floatAttr("alpha", n.opset() < 6 ? 1.6732 : 1.67326319217681884765625);
  double gamma = n.floatAttr("gamma", n.opset() < 6 ? 1.0507 : 1.05070102214813232421875);
  Value negative = b.mul(b.sub(b.unary("exp", x), one(b, x)), b.scalarLike(x, alpha * gamma));
  return b.select(b.compare(Predicate::LessOrEqual, x, zero(b, x)), negative, scaled(b, x, gamma));
}

Value leakyRelu(NodeContext &n, Body &b, Value x) {
  return b.select(less(b, x, zero(b, x)), b.mul(x, b.scalarLike(x, n.floatAttr("alpha", 0.01))), x);
}

Value gelu(NodeContext &n, Body &b, Value x) {
  std::string form = n.stringAttr("approximate", "none");
  Value inner;
  if (form == "none") {
    inner = b.unary("erf", b.mul(x, b.scalarLike(x, 0.70710678118654752440)));
  } else if (form == "tanh") {
    Value cubic = b.mul(b.scalarLike(x, 0.044715), b.mul(x, b.mul(x, x)));
    inner = b.unary("tanh", b.mul(b.scalarLike(x, 0.79788456080286535588), b.add(x, cubic)));
  } else {
    fault("approximate must be none or tanh, not '" + form + "'");
  }
  return b.mul(b.mul(x, b.scalarLike(x, 0.5)), b.add(one(b, x), inner));
}

/// max(0, min(1, alpha x + beta)).
Value hardSigmoid(Body &b, Value x, double alpha, double beta) {
  Value line = b.add(b.mul(x, b.scalarLike(x, alpha)), b.scalarLike(x, beta));
  return b.max(zero(b, x), b.min(one(b, x), line));
}

Value thresholdedRelu(NodeContext &n, Body &b, Value x) {
  Value above = b.compare(Predicate::Greater, x, b.scalarLike(x, n.floatAttr("alpha", 1)));
  return b.select(above, x, zero(b, x));
}

Value softsign(NodeContext &, Body &b, Value x) { return b.div(x, b.add(one(b, x), b.unary("abs", x))); }

/// Integers too: `lambd` and `bias` are real numbers, so they are computed in double.
Result importShrink(NodeContext &n) {
  n.takesInputs(1);
  DataType type = typeOf(n.input(0));
  double bias = n.floatAttr("bias", 0), lambda = n.floatAttr("lambd", 0.5);
  return n.composite1({n.input(0)}, [&](Body &b, ValueRange xs) {
    Value x = b.cast(xs[0], isFloat(type) ? wideType(type) : DataType::Float64);
    Value low = less(b, x, b.scalarLike(x, -lambda));
    Value high = b.compare(Predicate::Greater, x, b.scalarLike(x, lambda));
    // Integers that are shifted by one stay exact; doubles hold 53 bits of them.
    if (!isFloat(type) && bias == std::floor(bias) && std::abs(bias) <= 127 &&
        (bias >= 0 || !isUnsigned(type)))
      x = xs[0];
    Value shift = b.scalarLike(x, bias);
    Value result = b.select(low, b.add(x, shift), b.select(high, b.sub(x, shift), zero(b, x)));
    return b.cast(result, type);
  });
}

Result importRelu(NodeContext &n) {
  n.takesInputs(1);
  return n.composite1({n.input(0)}, [](Body &b, ValueRange x) { return b.max(x[0], zero(b, x[0])); });
}

/// Before opset 7 the slope has one element or one a channel (axis 1); later it broadcasts as usual.
Result importPRelu(NodeContext &n) {
  n.takesInputs(2);
  return wideComposite(n, {n.input(0), n.input(1)}, [&](Body &b, ValueRange x) {
    Value slope = x[1];
    if (n.opset() < 7 && rankOf(slope) == 1 && shapeOf(slope)[0] > 1) {
      if (rankOf(x[0]) < 2)
        fault("a slope a channel needs an input of rank 2 or more");
      slope = alongAxis(b, slope, 1, rankOf(x[0]));
    }
    return b.select(less(b, x[0], zero(b, x[0])), b.mul(x[0], slope), x[0]);
  });
}

/// Bounds are attributes before opset 11, then optional inputs, which may be known only when running.
Result importClip(NodeContext &n) {
  n.takesInputs(n.opset() >= 11 ? 3 : 1);
  Values operands{n.input(0)};
  bool inputs = n.opset() >= 11;
  bool low = inputs ? n.has(1) : n.hasAttr("min"), high = inputs ? n.has(2) : n.hasAttr("max");
  if (inputs && low)
    operands.push_back(n.input(1));
  if (inputs && high)
    operands.push_back(n.input(2));
  if (!low && !high)
    return Values{n.input(0)};
  return n.composite1(operands, [&](Body &b, ValueRange x) {
    // min before max: where min > max the result is max.
    Value result = x[0];
    if (low)
      result = b.max(result, inputs ? asScalar(b, x[1], "min") : b.scalarLike(x[0], n.floatAttr("min", 0)));
    if (high)
      result =
          b.min(result, inputs ? asScalar(b, x.back(), "max") : b.scalarLike(x[0], n.floatAttr("max", 0)));
    return result;
  });
}

} // namespace

void registerActivation(Registry &registry) {
  registry.add("Celu", activation(celu));
  registry.add("Clip", importClip);
  registry.add("Elu", activation(elu));
  registry.add("Gelu", activation(gelu));
  registry.add("HardSigmoid", activation([](NodeContext &n, Body &b, Value x) {
                 return hardSigmoid(b, x, n.floatAttr("alpha", 0.2), n.floatAttr("beta", 0.5));
               }));
  registry.add("HardSwish", activation([](NodeContext &, Body &b, Value x) {
                 return b.mul(x, hardSigmoid(b, x, 1.0 / 6, 0.5));
               }));
  registry.add("LeakyRelu", activation(leakyRelu));
  registry.add("Mish", activation([](NodeContext &, Body &b, Value x) {
                 return b.mul(x, b.unary("tanh", softplus(b, x)));
               }));
  registry.add("PRelu", importPRelu);
  registry.add("Relu", importRelu);
  registry.add("Selu", activation(selu));
  registry.add("Shrink", importShrink);
  registry.add("Sigmoid", activation(sigmoid));
  registry.add("Softplus", activation([](NodeContext &, Body &b, Value x) { return softplus(b, x); }));
  registry.add("Softsign", activation(softsign));
  registry.add("ThresholdedRelu", activation(thresholdedRelu));
}

} // namespace tokamak::import
