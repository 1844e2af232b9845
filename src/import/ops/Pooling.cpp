//===- Pooling.cpp - MaxPool, AveragePool, LpPool, Global*, MaxUnpool ----------------------===//
#include "import/ops/Spatial.h"

namespace tokamak::import {

using tk::ReduceKind;

namespace {

Value window(Body &b, Value x, ReduceKind kind, const Spatial &s) {
  auto attrs = s.windowAttrs(b);
  attrs.push_back(b.attr("kind", tk::ReduceKindAttr::get(b.builder.getContext(), kind)));
  return b.op("window", {x}, attrs);
}

Result importMaxPool(NodeContext &n) {
  n.takesInputs(1);
  Spatial s = Spatial::ofPool(n, shapeOf(n.input(0)));
  Body &b = n.body();
  if (!n.wantsOutput(1)) {
    Values results{window(b, n.input(0), ReduceKind::Max, s)};
    results.resize(std::max<int64_t>(n.outputCount(), 1));
    return results;
  }
  auto attrs = s.windowAttrs(b);
  attrs.push_back(b.attr("column_major", n.choiceAttr("storage_order")));
  return b.ops("max_pool_indices", {n.input(0)}, attrs);
}

/// 1 / the number of elements that count in each window, over the output's spatial axes (rank 0 where all are
/// equal). With `includePad` the declared padding counts, but never what ceil_mode added behind it.
Value reciprocalCounts(Body &b, DataType type, IntsRef input, const Spatial &s, bool includePad) {
  // The count is a product of one factor an axis.
  std::vector<Ints> factors;
  bool uniform = true;
  for (auto [i, extent] : llvm::enumerate(input.drop_front(2))) {
    int64_t low = includePad ? -s.padsLow[i] : 0, high = extent + (includePad ? s.declaredHigh[i] : 0);
    Ints counts;
    for (int64_t o = 0; o < s.output[i]; ++o) {
      // Taps k with low <= start + k * dilation < high.
      int64_t start = o * s.strides[i] - s.padsLow[i], d = s.dilations[i];
      int64_t first = start >= low ? 0 : (low - start + d - 1) / d;
      int64_t end = start >= high ? 0 : std::min(s.kernel[i], (high - start + d - 1) / d);
      counts.push_back(std::max<int64_t>(end - first, 0));
      uniform &= counts.back() == counts.front();
    }
    factors.push_back(counts);
  }
  // A window that holds padding alone has sum 0; its mean is defined as 0.
  auto reciprocal = [](double count) { return count > 0 ? 1.0 / count : 0.0; };
  if (uniform) {
    double count = 1;
    for (const Ints &f : factors)
      count *= f.empty() ? 1.0 : static_cast<double>(f.front());
    return b.scalar(type, reciprocal(count));
  }
  Tensor table(type, s.output);
  for (int64_t i = 0; i < table.size(); ++i) {
    double count = 1;
    for (int64_t axis = static_cast<int64_t>(factors.size()) - 1, rest = i; axis >= 0; --axis) {
      count *= static_cast<double>(factors[axis][rest % s.output[axis]]);
      rest /= s.output[axis];
    }
    table.setDouble(i, reciprocal(count));
  }
  return b.constant(table);
}

Result importAveragePool(NodeContext &n) {
  n.takesInputs(1);
  IntsRef input = shapeOf(n.input(0));
  Spatial s = Spatial::ofPool(n, input);
  bool includePad = n.intAttr("count_include_pad", 0) != 0;
  checkTable(product(s.output));
  return wideComposite(n, {n.input(0)}, [&](Body &b, ValueRange x) {
    Value sum = window(b, x[0], ReduceKind::Sum, s);
    return b.mul(sum, reciprocalCounts(b, typeOf(x[0]), input, s, includePad));
  });
}

/// (sum |x|^p)^(1/p), where `sum` is over a window or all spatial axes.
Value lpNorm(NodeContext &n, Body &b, Value x, llvm::function_ref<Value(Value)> sum) {
  double p = n.opset() < 2 ? n.floatAttr("p", 2) : static_cast<double>(n.intAttr("p", 2));
  if (p <= 0)
    fault("p must be positive");
  if (p == 1)
    return sum(b.unary("abs", x));
  if (p == 2)
    return b.unary("sqrt", sum(b.mul(x, x)));
  Value power = b.pow(b.unary("abs", x), b.scalarLike(x, p));
  return b.pow(sum(power), b.scalarLike(x, 1 / p));
}

Result importLpPool(NodeContext &n) {
  Spatial s = Spatial::ofPool(n, shapeOf(n.input(0)));
  return wideComposite(n, {n.input(0)}, [&](Body &b, ValueRange x) {
    return lpNorm(n, b, x[0], [&](Value v) { return window(b, v, ReduceKind::Sum, s); });
  });
}

/// The spatial axes, all behind batch and channels.
Ints spatialAxes(Value x) {
  if (rankOf(x) < 2)
    fault("an input of shape " + text(shapeOf(x)) + " has no channels");
  return axisRange(2, rankOf(x));
}

Result importGlobalAveragePool(NodeContext &n) {
  n.takesInputs(1);
  return wideComposite(n, {n.input(0)},
                       [](Body &b, ValueRange x) { return b.mean(x[0], spatialAxes(x[0]), true); });
}

Result importGlobalMaxPool(NodeContext &n) {
  n.takesInputs(1);
  Value x = n.input(0);
  return Values{n.body().reduce(ReduceKind::Max, x, spatialAxes(x), true)};
}

Result importGlobalLpPool(NodeContext &n) {
  return wideComposite(n, {n.input(0)}, [&](Body &b, ValueRange x) {
    return lpNorm(n, b, x[0], [&](Value v) { return b.reduce(ReduceKind::Sum, v, spatialAxes(x[0]), true); });
  });
}

/// Values go back to where MaxPool found them. Indices count in the tensor that the attributes imply;
/// output_shape may be larger, the rest is zeros at the high end.
Result importMaxUnpool(NodeContext &n) {
  Value x = n.input(0), indices = n.input(1);
  IntsRef input = shapeOf(x);
  if (input.size() < 3)
    return n.error("an input of shape " + text(input) + " has no spatial axis");
  if (input != shapeOf(indices))
    return n.error("values of shape " + text(input) + " need as many indices, not " + text(shapeOf(indices)));
  checkExtents(input);
  Spatial s = Spatial::read(n, static_cast<int64_t>(input.size()) - 2, std::nullopt);
  Ints shape{input[0], input[1]};
  for (size_t i = 0; i + 2 < input.size(); ++i)
    shape.push_back((input[i + 2] - 1) * s.strides[i] - s.padsLow[i] - s.padsHigh[i] + s.kernel[i]);
  Ints result = n.has(2) ? n.constantInts(2, "output_shape") : shape;
  for (int64_t e : shape)
    if (e < 0)
      return n.error("kernel, strides and pads imply a negative extent");
  Body &b = n.body();
  int64_t count = product(shape);
  Value zeros = filled(b, typeOf(x), {count}, 0);
  Value flat =
      b.op("scatter_elements", {zeros, b.reshape(indices, {product(input)}), b.reshape(x, {product(input)})},
           {b.attr("axis", 0), b.attr("reduction", tk::ScatterReductionAttr::get(
                                                       b.builder.getContext(), tk::ScatterReduction::None))});
  Value placed = b.reshape(flat, shape);
  if (result == shape)
    return Values{placed};
  if (result.size() != shape.size())
    return n.error("output_shape " + text(result) + " does not have the rank of the input");
  Ints low(shape.size(), 0), high;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (result[i] < shape[i])
      return n.error("output_shape " + text(result) + " is smaller than " + text(shape));
    high.push_back(result[i] - shape[i]);
  }
  return Values{b.op("pad", {placed, b.scalarLike(x, 0)},
                     {b.attr("low", IntsRef(low)), b.attr("high", IntsRef(high))})};
}

} // namespace

void registerPooling(Registry &registry) {
  registry.add("AveragePool", importAveragePool);
  registry.add("GlobalAveragePool", importGlobalAveragePool);
  registry.add("GlobalLpPool", importGlobalLpPool);
  registry.add("GlobalMaxPool", importGlobalMaxPool);
  registry.add("LpPool", importLpPool);
  registry.add("MaxPool", importMaxPool);
  registry.add("MaxUnpool", importMaxUnpool);
}

} // namespace tokamak::import
