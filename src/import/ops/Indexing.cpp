//===- Indexing.cpp - Gather*, Scatter*, TopK, CumSum, OneHot, ReverseSequence -------------===//
#include "import/ops/Common.h"

namespace tokamak::import {

namespace {

Result importGather(NodeContext &n) {
  Value x = n.input(0);
  return Values{n.body().gather(x, n.input(1), normalizeAxis(n.intAttr("axis", 0), rankOf(x)))};
}

Result importGatherElements(NodeContext &n) {
  Value x = n.input(0);
  Body &b = n.body();
  return Values{b.op("gather_elements", {x, n.input(1)},
                     b.attr("axis", normalizeAxis(n.intAttr("axis", 0), rankOf(x))))};
}

Result importGatherND(NodeContext &n) {
  Body &b = n.body();
  return Values{
      b.op("gather_nd", {n.input(0), n.input(1)}, b.attr("batch_dims", n.intAttr("batch_dims", 0)))};
}

mlir::NamedAttribute scatterReduction(NodeContext &n) {
  std::string name = n.stringAttr("reduction", "none");
  std::optional<tk::ScatterReduction> reduction = tk::symbolizeScatterReduction(name);
  if (!reduction)
    fault("reduction '" + name + "' is unknown; use none, add, mul, max or min");
  Body &b = n.body();
  return b.attr("reduction", tk::ScatterReductionAttr::get(b.builder.getContext(), *reduction));
}

Result importScatterElements(NodeContext &n) {
  Value x = n.input(0);
  Body &b = n.body();
  return Values{b.op("scatter_elements", {x, n.input(1), n.input(2)},
                     {b.attr("axis", normalizeAxis(n.intAttr("axis", 0), rankOf(x))), scatterReduction(n)})};
}

Result importScatterND(NodeContext &n) {
  return Values{n.body().op("scatter_nd", {n.input(0), n.input(1), n.input(2)}, scatterReduction(n))};
}

Result importTopK(NodeContext &n) {
  Value x = n.input(0);
  int64_t axis = normalizeAxis(n.intAttr("axis", -1), rankOf(x)), k;
  if (n.opset() < 10) {
    k = n.intAttr("k", -1);
  } else {
    Ints given = n.constantInts(1, "k");
    if (given.size() != 1)
      return n.error("k must have one element");
    k = given[0];
  }
  if (k < 0 || k > shapeOf(x)[axis])
    return n.error("k = " + llvm::Twine(k) + " does not fit extent " + llvm::Twine(shapeOf(x)[axis]) +
                   " of axis " + llvm::Twine(axis));
  Body &b = n.body();
  return b.ops("top_k", {x},
               {b.attr("k", k), b.attr("axis", axis), b.attr("largest", n.intAttr("largest", 1) != 0),
                b.attr("sorted", n.intAttr("sorted", 1) != 0)});
}

Result importCumSum(NodeContext &n) {
  Value x = n.input(0);
  Ints axis = n.constantInts(1, "the axis");
  if (axis.size() != 1)
    return n.error("the axis must have one element");
  Body &b = n.body();
  return Values{b.op("cumsum", {x},
                     {b.attr("axis", normalizeAxis(axis[0], rankOf(x))),
                      b.attr("exclusive", n.intAttr("exclusive", 0) != 0),
                      b.attr("reverse", n.intAttr("reverse", 0) != 0)})};
}

/// values = [off, on]; an index outside [-depth, depth) gives a row of off.
Result importOneHot(NodeContext &n) {
  Ints depths = n.constantInts(1, "the depth");
  if (depths.size() != 1 || depths[0] < 0)
    return n.error("the depth must be one number >= 0");
  if (shapeOf(n.input(2)) != IntsRef{2})
    return n.error("values must be [off, on], not of shape " + text(shapeOf(n.input(2))));
  int64_t depth = depths[0], rank = rankOf(n.input(0)) + 1;
  int64_t axis = normalizeAxis(n.intAttr("axis", -1), rank);
  return n.composite1({n.input(0), n.input(2)}, [&](Body &b, ValueRange x) {
    Value index = b.cast(x[0], DataType::Int64);
    auto number = [&](int64_t v) { return b.constant(Tensor::scalarInt(DataType::Int64, v)); };
    Value wrapped =
        b.select(b.compare(tk::Predicate::Less, index, number(0)), b.add(index, number(depth)), index);
    Ints shape(shapeOf(index)), along(rank, 1);
    shape.insert(shape.begin() + axis, 1);
    along[axis] = depth;
    Value hot =
        b.compare(tk::Predicate::Equal, b.reshape(wrapped, shape), b.iota(along, axis, DataType::Int64));
    Value off = b.reshape(b.sliceAxis(x[1], 0, 0, 1), {}), on = b.reshape(b.sliceAxis(x[1], 0, 1, 1), {});
    return b.select(hot, on, off);
  });
}

/// Reverses the first lengths[batch] steps of each sequence: step t comes from t < length ? length - 1 - t :
/// t.
Result importReverseSequence(NodeContext &n) {
  Value x = n.input(0), lengths = n.input(1);
  int64_t rank = rankOf(x);
  if (rank < 2)
    return n.error("the input must have rank 2 or more, not shape " + text(shapeOf(x)));
  int64_t time = normalizeAxis(n.intAttr("time_axis", 0), rank),
          batch = normalizeAxis(n.intAttr("batch_axis", 1), rank);
  if (time == batch)
    return n.error("batch_axis and time_axis are the same");
  if (shapeOf(lengths) != IntsRef{shapeOf(x)[batch]})
    return n.error("sequence_lens of shape " + text(shapeOf(lengths)) + " does not fit " + text(shapeOf(x)));
  return n.composite1({x, lengths}, [&](Body &b, ValueRange xs) {
    Ints alongTime(rank, 1);
    alongTime[time] = shapeOf(xs[0])[time];
    Value step = b.iota(alongTime, time, DataType::Int64);
    Value length = alongAxis(b, b.cast(xs[1], DataType::Int64), batch, rank);
    Value last = b.sub(length, b.constant(Tensor::scalarInt(DataType::Int64, 1)));
    Value source = b.select(b.compare(tk::Predicate::Less, step, length), b.sub(last, step), step);
    return b.op("gather_elements", {xs[0], b.broadcast(source, shapeOf(xs[0]))}, b.attr("axis", time));
  });
}

} // namespace

void registerIndexing(Registry &registry) {
  registry.add("CumSum", importCumSum);
  registry.add("Gather", importGather);
  registry.add("GatherElements", importGatherElements);
  registry.add("GatherND", importGatherND);
  registry.add("OneHot", importOneHot);
  registry.add("ReverseSequence", importReverseSequence);
  registry.add("Scatter", importScatterElements);
  registry.add("ScatterElements", importScatterElements);
  registry.add("ScatterND", importScatterND);
  registry.add("TopK", importTopK);
}

} // namespace tokamak::import
