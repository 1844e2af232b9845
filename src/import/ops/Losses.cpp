//===- Losses.cpp - NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss ---------------------===//
#include "import/ops/Common.h"

namespace tokamak::import {

using tk::ReduceKind;

namespace {

/// -weight[target] * logProbability[target], reduced as the attribute says. The classes are axis 1 of
/// `logProbability` [N, C, ...], `target` is [N, ...]; `weight` [C] may be null.
Value negativeLogLikelihood(NodeContext &n, Body &b, Value logProbability, Value target, Value weight) {
  std::string reduction = n.stringAttr("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean")
    fault("reduction must be none, sum or mean, not '" + reduction + "'");
  Ints shape(shapeOf(logProbability));
  if (shape.size() < 2)
    fault("the input must be [N, C, ...], not " + text(shape));
  Ints targetShape = shape;
  targetShape.erase(targetShape.begin() + 1);
  if (shapeOf(target) != IntsRef(targetShape))
    fault("targets of shape " + text(shapeOf(target)) + " do not fit an input of shape " + text(shape));

  // An ignored target may lie outside the classes: it reads class 0 and counts with weight 0.
  Value ignored, zero = b.scalarLike(logProbability, 0);
  if (n.hasAttr("ignore_index")) {
    Value index = b.constant(Tensor::scalarInt(typeOf(target), n.intAttr("ignore_index", 0)));
    ignored = b.compare(tk::Predicate::Equal, target, index);
    target = b.select(ignored, b.constant(Tensor::scalarInt(typeOf(target), 0)), target);
  }
  Ints columnShape = shape;
  columnShape[1] = 1;
  Value picked = b.op("gather_elements", {logProbability, b.reshape(target, columnShape)}, b.attr("axis", 1));
  Value loss = b.unary("neg", b.reshape(picked, targetShape));
  if (weight) {
    weight = b.gather(weight, target, 0);
    loss = b.mul(loss, weight);
  }
  if (ignored) {
    loss = b.select(ignored, zero, loss);
    Value counted = weight ? weight : b.scalarLike(logProbability, 1);
    weight = b.select(ignored, zero, counted);
  }
  if (reduction == "none")
    return loss;
  Ints all = axisRange(0, rankOf(loss));
  if (reduction == "mean" && !weight)
    return b.mean(loss, all, false);
  Value sum = b.reduce(ReduceKind::Sum, loss, all, false);
  return reduction == "sum" ? sum : b.div(sum, b.reduce(ReduceKind::Sum, weight, all, false));
}

/// `withSoftmax`: the input holds scores, and the log-probabilities are a second output.
Result importLoss(NodeContext &n, bool withSoftmax) {
  Values operands{n.input(0), n.input(1)};
  if (n.has(2))
    operands.push_back(n.input(2));
  DataType type = typeOf(n.input(0));
  return n.composite(operands, [&](Body &b, ValueRange x) {
    Value logProbability = widen(b, x[0]);
    if (withSoftmax)
      logProbability = softmaxOver(b, logProbability, {normalizeAxis(1, rankOf(x[0]))}, /*logarithm=*/true);
    Value weight = x.size() > 2 ? widen(b, x[2]) : Value();
    Values results{b.cast(negativeLogLikelihood(n, b, logProbability, x[1], weight), type)};
    if (n.outputCount() > 1)
      results.push_back(b.cast(logProbability, type));
    return results;
  });
}

} // namespace

void registerLosses(Registry &registry) {
  registry.add("NegativeLogLikelihoodLoss", [](NodeContext &n) { return importLoss(n, false); });
  registry.add("SoftmaxCrossEntropyLoss", [](NodeContext &n) { return importLoss(n, true); });
}

} // namespace tokamak::import
