//===- Normalization.cpp - BatchNormalization, LayerNormalization, LRN and their kin -------===//
#include "import/ops/Common.h"

namespace tokamak::import {

using tk::ReduceKind;

namespace {

/// (x - mean) / sqrt(variance + epsilon) over `axes`, with the two statistics.
struct Standardized {
  Value value, mean, inverseDeviation;
};
Standardized standardize(Body &b, Value x, IntsRef axes, double epsilon) {
  Value mean = b.mean(x, axes, true), centred = b.sub(x, mean);
  // Two passes: the mean of squares less the square of the mean cancels.
  Value variance = b.mean(b.mul(centred, centred), axes, true);
  Value inverse = b.div(b.scalarLike(x, 1), b.unary("sqrt", b.add(variance, b.scalarLike(x, epsilon))));
  return {b.mul(centred, inverse), mean, inverse};
}

/// The widest of the computing types of the operands.
DataType commonWideType(ValueRange operands) {
  DataType type = DataType::Float32;
  for (Value v : operands)
    if (typeOf(v) == DataType::Float64)
      type = DataType::Float64;
  return type;
}

Values firstInputs(NodeContext &n, int64_t count) {
  Values operands;
  for (int64_t i = 0; i < count; ++i)
    operands.push_back(n.input(i));
  return operands;
}

/// Normalises by the batch's own statistics and updates the running ones (opset 14, training_mode).
Result importBatchNormalizationTraining(NodeContext &n, double epsilon) {
  double momentum = n.floatAttr("momentum", 0.9);
  Values operands = firstInputs(n, 5);
  DataType type = typeOf(n.input(0)), statistics = typeOf(n.input(3));
  return n.composite(operands, [&](Body &b, ValueRange xs) {
    DataType wide = commonWideType(xs);
    Values x;
    for (Value v : xs)
      x.push_back(b.cast(v, wide));
    int64_t rank = rankOf(x[0]);
    Ints axes = axisRange(0, rank);
    axes.erase(axes.begin() + 1);
    Value mean = b.mean(x[0], axes, true), centred = b.sub(x[0], mean);
    Value variance = b.mean(b.mul(centred, centred), axes, true);
    Value deviation = b.unary("sqrt", b.add(variance, b.scalarLike(variance, epsilon)));
    Value y =
        b.add(b.mul(b.div(centred, deviation), alongAxis(b, x[1], 1, rank)), alongAxis(b, x[2], 1, rank));
    auto running = [&](Value old, Value current) {
      Value kept = b.mul(old, b.scalarLike(old, momentum));
      Value flat = b.reshape(current, shapeOf(old));
      return b.cast(b.add(kept, b.mul(flat, b.scalarLike(old, 1 - momentum))), statistics);
    };
    return Values{b.cast(y, type), running(x[3], mean), running(x[4], variance)};
  });
}

/// spatial=0 of the opsets before 9: scale, bias and statistics have the input's shape but for the batch.
Result importBatchNormalizationByPosition(NodeContext &n, double epsilon) {
  Result result = wideComposite(n, firstInputs(n, 5), [&](Body &b, ValueRange x) {
    Value deviation = b.unary("sqrt", b.add(x[4], b.scalarLike(x[4], epsilon)));
    return b.add(b.mul(b.div(b.sub(x[0], x[3]), deviation), x[1]), x[2]);
  });
  if (result)
    result->resize(std::max<int64_t>(n.outputCount(), 1));
  return result;
}

Result importBatchNormalization(NodeContext &n) {
  n.takesInputs(5);
  double epsilon = n.floatAttr("epsilon", 1e-5);
  // The training form: an attribute since opset 14, more than one output from 7 on, is_test=0 before.
  bool training = n.opset() >= 14  ? n.intAttr("training_mode", 0) != 0
                  : n.opset() >= 7 ? n.wantsOutput(1)
                                   : n.intAttr("is_test", 0) == 0;
  IntsRef shape = shapeOf(n.input(0));
  bool byPosition = n.opset() < 9 && n.intAttr("spatial", 1) == 0 && shape.size() >= 2;
  Ints parameters = byPosition ? Ints(shape.drop_front()) : Ints{shape.size() < 2 ? 1 : shape[1]};
  for (int64_t i = 1; i < 5; ++i)
    if (shapeOf(n.input(i)) != IntsRef(parameters))
      return n.error("input " + llvm::Twine(i) + " must have shape " + text(parameters) + ", not " +
                     text(shapeOf(n.input(i))) + "; export the model again");
  if (training) {
    if (n.opset() < 14 || rankOf(n.input(0)) < 2)
      return n.error("this is the training form of the operator; export the model for inference");
    return importBatchNormalizationTraining(n, epsilon);
  }
  if (byPosition)
    return importBatchNormalizationByPosition(n, epsilon);
  Values operands = firstInputs(n, 5);
  DataType type = typeOf(n.input(0));
  bool oneType = llvm::all_of(operands, [&](Value v) { return typeOf(v) == type; });
  Result result = n.composite1(operands, [&](Body &b, ValueRange xs) {
    Values x;
    for (Value v : xs)
      x.push_back(oneType ? v : b.cast(v, commonWideType(xs)));
    return b.cast(b.op("batch_norm", x, b.attr("epsilon", epsilon)), type);
  });
  if (result)
    result->resize(std::max<int64_t>(n.outputCount(), 1));
  return result;
}

Result importInstanceNormalization(NodeContext &n) {
  n.takesInputs(3);
  Value x = n.input(0);
  if (rankOf(x) < 2)
    return n.error("the input must be [N, C, ...], not " + text(shapeOf(x)));
  for (int64_t i : {1, 2})
    if (shapeOf(n.input(i)) != shapeOf(x).slice(1, 1))
      return n.error("scale and bias need one element a channel of " + text(shapeOf(x)));
  double epsilon = n.floatAttr("epsilon", 1e-5);
  return wideComposite(n, firstInputs(n, 3), [&](Body &b, ValueRange xs) {
    int64_t rank = rankOf(xs[0]);
    Value y = standardize(b, xs[0], axisRange(2, rank), epsilon).value;
    return b.add(b.mul(y, alongAxis(b, xs[1], 1, rank)), alongAxis(b, xs[2], 1, rank));
  });
}

/// The type in which a norm is computed: stash_type, but never below that of the data.
DataType stashType(NodeContext &n, DataType data) {
  DataType stash = dataType(n.intAttr("stash_type", 1));
  if (!isFloat(stash))
    fault("stash_type must be a floating-point type");
  return data == DataType::Float64 ? data : wideType(stash);
}

Result importLayerNormalization(NodeContext &n) {
  n.takesInputs(3);
  Value x = n.input(0);
  int64_t axis = normalizeAxis(n.intAttr("axis", -1), rankOf(x));
  double epsilon = n.floatAttr("epsilon", 1e-5);
  Values operands = firstInputs(n, n.has(2) ? 3 : 2);
  DataType type = typeOf(x), stash = stashType(n, type), outputStash = dataType(n.intAttr("stash_type", 1));
  return n.composite(operands, [&](Body &b, ValueRange xs) {
    Standardized s = standardize(b, b.cast(xs[0], stash), axisRange(axis, rankOf(xs[0])), epsilon);
    Value y = b.mul(s.value, b.cast(xs[1], stash));
    if (xs.size() > 2)
      y = b.add(y, b.cast(xs[2], stash));
    Values results{b.cast(y, type)};
    if (n.outputCount() > 1)
      results.push_back(b.cast(s.mean, outputStash));
    if (n.outputCount() > 2)
      results.push_back(b.cast(s.inverseDeviation, outputStash));
    return results;
  });
}

Result importRMSNormalization(NodeContext &n) {
  Value x = n.input(0);
  int64_t axis = normalizeAxis(n.intAttr("axis", -1), rankOf(x));
  double epsilon = n.floatAttr("epsilon", 1e-5);
  DataType type = typeOf(x), stash = stashType(n, type);
  return n.composite1(firstInputs(n, 2), [&](Body &b, ValueRange xs) {
    Value v = b.cast(xs[0], stash);
    Value square = b.mean(b.mul(v, v), axisRange(axis, rankOf(v)), true);
    Value norm = b.div(v, b.unary("sqrt", b.add(square, b.scalarLike(v, epsilon))));
    return b.cast(b.mul(norm, b.cast(xs[1], stash)), type);
  });
}

/// Scale and bias are one a group in opset 18, one a channel from 21 on.
Result importGroupNormalization(NodeContext &n) {
  Value x = n.input(0);
  IntsRef shape = shapeOf(x);
  int64_t groups = n.intAttr("num_groups", 0), rank = rankOf(x);
  if (rank < 3 || groups < 1 || shape[1] % groups != 0)
    return n.error("num_groups " + llvm::Twine(groups) + " does not divide the channels of " + text(shape));
  bool perChannel = n.opset() >= 21;
  for (int64_t i : {1, 2})
    if (shapeOf(n.input(i)) != IntsRef{perChannel ? shape[1] : groups})
      return n.error("scale and bias must have shape " + text({perChannel ? shape[1] : groups}));
  double epsilon = n.floatAttr("epsilon", 1e-5);
  DataType type = typeOf(x), stash = stashType(n, type);
  int64_t groupSize = product(shape.drop_front(2)) * (shape[1] / groups);
  return n.composite1(firstInputs(n, 3), [&](Body &b, ValueRange xs) {
    Value grouped = b.reshape(b.cast(xs[0], stash), {shape[0], groups, groupSize});
    Value y = standardize(b, grouped, {2}, epsilon).value;
    Value scale = b.cast(xs[1], stash), bias = b.cast(xs[2], stash);
    if (perChannel)
      y = b.reshape(y, shape);
    y = b.add(b.mul(y, alongAxis(b, scale, 1, rankOf(y))), alongAxis(b, bias, 1, rankOf(y)));
    return b.cast(b.reshape(y, shape), type);
  });
}

/// x / norm; a zero norm gives zeros.
Result importLpNormalization(NodeContext &n) {
  Value x = n.input(0);
  int64_t axis = normalizeAxis(n.intAttr("axis", -1), rankOf(x)), p = n.intAttr("p", 2);
  if (p != 1 && p != 2)
    return n.error("p must be 1 or 2");
  return wideComposite(n, {x}, [&](Body &b, ValueRange xs) {
    Value powers = p == 1 ? b.unary("abs", xs[0]) : b.mul(xs[0], xs[0]);
    Value norm = b.reduce(ReduceKind::Sum, powers, {axis}, true);
    if (p == 2)
      norm = b.unary("sqrt", norm);
    Value isZero = b.compare(tk::Predicate::Equal, norm, b.scalarLike(norm, 0));
    return b.div(xs[0], b.select(isZero, b.scalarLike(norm, 1), norm));
  });
}

/// x / (bias + alpha / size * sum of squares over `size` neighbouring channels) ^ beta.
Result importLRN(NodeContext &n) {
  Value x = n.input(0);
  IntsRef shape = shapeOf(x);
  int64_t size = n.intAttr("size", 0);
  if (rankOf(x) < 2 || size < 1 || size > (int64_t(1) << 30))
    return n.error("a positive size and an input [N, C, ...] are required");
  double alpha = n.floatAttr("alpha", 1e-4), beta = n.floatAttr("beta", 0.75), bias = n.floatAttr("bias", 1);
  return wideComposite(n, {x}, [&](Body &b, ValueRange xs) {
    // The channels become the first spatial axis of a window.
    Value squares = b.reshape(b.mul(xs[0], xs[0]), {shape[0], 1, shape[1], product(shape.drop_front(2))});
    Value sum = b.op("window", {squares},
                     {b.attr("kind", tk::ReduceKindAttr::get(b.builder.getContext(), ReduceKind::Sum)),
                      b.attr("kernel", {size, 1}), b.attr("strides", {1, 1}), b.attr("dilations", {1, 1}),
                      b.attr("pads_low", {(size - 1) / 2, 0}), b.attr("pads_high", {size / 2, 0})});
    Value base =
        b.add(b.scalarLike(sum, bias), b.mul(sum, b.scalarLike(sum, alpha / static_cast<double>(size))));
    return b.div(xs[0], b.pow(b.reshape(base, shape), b.scalarLike(base, beta)));
  });
}

Result importMeanVarianceNormalization(NodeContext &n) {
  Value x = n.input(0);
  Ints axes = normalizeAxes(n.intsAttr("axes").value_or(Ints{0, 2, 3}), rankOf(x));
  return wideComposite(n, {x}, [&](Body &b, ValueRange xs) {
    Value centred = b.sub(xs[0], b.mean(xs[0], axes, true));
    Value deviation = b.unary("sqrt", b.mean(b.mul(centred, centred), axes, true));
    return b.div(centred, b.add(deviation, b.scalarLike(deviation, 1e-9)));
  });
}

} // namespace

void registerNormalization(Registry &registry) {
  registry.add("BatchNormalization", importBatchNormalization);
  registry.add("GroupNormalization", importGroupNormalization);
  registry.add("InstanceNormalization", importInstanceNormalization);
  registry.add("LRN", importLRN);
  registry.add("LayerNormalization", importLayerNormalization);
  registry.add("LpNormalization", importLpNormalization);
  registry.add("MeanVarianceNormalization", importMeanVarianceNormalization);
  registry.add("RMSNormalization", importRMSNormalization);
}

} // namespace tokamak::import
