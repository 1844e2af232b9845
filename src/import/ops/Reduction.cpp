//===- Reduction.cpp - Reduce*, ArgMax, the softmax family ---------------------------------===//
#include "import/ops/Common.h"

namespace tokamak::import {

using tk::ReduceKind;

namespace {

/// What a Reduce operator does with the input, the axes and keepdims.
using Formula = std::function<Value(Body &, Value, IntsRef, bool)>;

/// Axes are an attribute or an input. None given: all axes, or with noop_with_empty_axes none, where the work
/// before and after the sum is still done (so ReduceSumSquare squares).
Result importReduce(NodeContext &n, bool doubleForIntegers, const Formula &formula) {
  Value x = n.input(0);
  std::optional<Ints> given = n.intsAttr("axes");
  if (n.has(1))
    given = n.constantInts(1, "the list of axes");
  Ints axes = given ? normalizeAxes(*given, rankOf(x)) : Ints();
  if (axes.empty() && n.intAttr("noop_with_empty_axes", 0) == 0)
    axes = axisRange(0, rankOf(x));
  bool keepDims = n.intAttr("keepdims", 1) != 0;
  DataType type = typeOf(x), compute = wideType(type);
  if (type == DataType::Bool)
    compute = DataType::UInt8; // ReduceMax and ReduceMin of opset 20
  else if (!isFloat(type) && doubleForIntegers)
    compute = DataType::Float64;
  return n.composite1({x}, [&](Body &b, ValueRange xs) {
    return b.cast(formula(b, b.cast(xs[0], compute), axes, keepDims), type);
  });
}

ImportFn reduction(const Formula &formula, bool doubleForIntegers = false) {
  return [=](NodeContext &n) { return importReduce(n, doubleForIntegers, formula); };
}

ImportFn plain(ReduceKind kind) {
  return reduction(
      [kind](Body &b, Value x, IntsRef axes, bool keep) { return b.reduce(kind, x, axes, keep); });
}

Value sum(Body &b, Value x, IntsRef axes, bool keep) { return b.reduce(ReduceKind::Sum, x, axes, keep); }

/// log(sum(e^x)) shifted by the maximum; an infinite maximum is not subtracted (inf - inf is NaN).
Value logSumExp(Body &b, Value x, IntsRef axes, bool keep) {
  Value top = b.reduce(ReduceKind::Max, x, axes, true);
  Value shift = b.select(b.unary("is_inf", top), b.scalarLike(x, 0), top);
  Value total = sum(b, b.unary("exp", b.sub(x, shift)), axes, keep);
  Value flatShift = keep ? shift : b.reshape(shift, shapeOf(total));
  return b.add(b.unary("log", total), flatShift);
}

Result importArg(NodeContext &n, ReduceKind kind) {
  Value x = n.input(0);
  Body &b = n.body();
  if (rankOf(x) == 0)
    return n.error("the input has no axis");
  int64_t axis = normalizeAxis(n.intAttr("axis", 0), rankOf(x));
  if (shapeOf(x)[axis] == 0)
    return n.error("axis " + llvm::Twine(axis) + " of " + text(shapeOf(x)) + " has no elements");
  return Values{b.op("arg_reduce", {x},
                     {b.attr("kind", tk::ReduceKindAttr::get(b.builder.getContext(), kind)),
                      b.attr("axis", axis), b.attr("keep_dims", n.intAttr("keepdims", 1) != 0),
                      b.attr("select_last", n.intAttr("select_last_index", 0) != 0)})};
}

/// Axes over which Softmax and its kin normalise: one axis, or before opset 13 all from `axis` on.
Ints softmaxAxes(NodeContext &n, int64_t rank) {
  bool flattens = n.opset() < 13;
  int64_t axis = n.intAttr("axis", flattens ? 1 : -1);
  if (rank == 0 || (flattens && axis == rank))
    return {};
  axis = normalizeAxis(axis, rank);
  return flattens ? axisRange(axis, rank) : Ints{axis};
}

ImportFn softmax(bool logarithm) {
  return [logarithm](NodeContext &n) -> Result {
    Ints axes = softmaxAxes(n, rankOf(n.input(0)));
    return wideComposite(n, {n.input(0)},
                         [&](Body &b, ValueRange x) { return softmaxOver(b, x[0], axes, logarithm); });
  };
}

/// 1 at the first maximum, 0 elsewhere.
Result importHardmax(NodeContext &n) {
  Ints axes = softmaxAxes(n, rankOf(n.input(0)));
  return n.composite1({n.input(0)}, [&](Body &b, ValueRange xs) {
    Ints shape(shapeOf(xs[0]));
    // The normalised axes as one.
    size_t first = axes.empty() ? shape.size() : axes.front();
    Ints flat(shape.begin(), shape.begin() + first);
    flat.push_back(product(IntsRef(shape).slice(first, axes.size())));
    flat.append(shape.begin() + first + axes.size(), shape.end());
    Value x = b.reshape(xs[0], flat);
    int64_t axis = static_cast<int64_t>(first);
    Value index = b.op("arg_reduce", {x},
                       {b.attr("kind", tk::ReduceKindAttr::get(b.builder.getContext(), ReduceKind::Max)),
                        b.attr("axis", axis), b.attr("keep_dims", true)});
    Ints along(flat.size(), 1);
    along[first] = flat[first];
    Value hot = b.compare(tk::Predicate::Equal, b.iota(along, axis, DataType::Int64), index);
    return b.reshape(b.cast(hot, typeOf(x)), shape);
  });
}

} // namespace

void registerReduction(Registry &registry) {
  registry.add("ReduceMax", plain(ReduceKind::Max));
  registry.add("ReduceMin", plain(ReduceKind::Min));
  registry.add("ReduceProd", plain(ReduceKind::Product));
  registry.add("ReduceSum", plain(ReduceKind::Sum));
  registry.add("ReduceMean",
               reduction([](Body &b, Value x, IntsRef axes, bool keep) { return b.mean(x, axes, keep); }));
  registry.add("ReduceL1", reduction([](Body &b, Value x, IntsRef axes, bool keep) {
                 return sum(b, b.unary("abs", x), axes, keep);
               }));
  registry.add("ReduceL2",
               reduction([](Body &b, Value x, IntsRef axes,
                            bool keep) { return b.unary("sqrt", sum(b, b.mul(x, x), axes, keep)); },
                         /*doubleForIntegers=*/true));
  registry.add("ReduceSumSquare", reduction([](Body &b, Value x, IntsRef axes, bool keep) {
                 return sum(b, b.mul(x, x), axes, keep);
               }));
  registry.add("ReduceLogSum", reduction([](Body &b, Value x, IntsRef axes,
                                            bool keep) { return b.unary("log", sum(b, x, axes, keep)); },
                                         /*doubleForIntegers=*/true));
  registry.add("ReduceLogSumExp", reduction(logSumExp, /*doubleForIntegers=*/true));
  registry.add("ArgMax", [](NodeContext &n) { return importArg(n, ReduceKind::Max); });
  registry.add("ArgMin", [](NodeContext &n) { return importArg(n, ReduceKind::Min); });
  registry.add("Hardmax", importHardmax);
  registry.add("LogSoftmax", softmax(true));
  registry.add("Softmax", softmax(false));
}

} // namespace tokamak::import
