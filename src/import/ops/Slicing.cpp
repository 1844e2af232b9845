//===- Slicing.cpp - Slice, Pad, CenterCropPad, Trilu --------------------------------------===//
#include "import/ops/Common.h"

namespace tokamak::import {

namespace {

/// Pads and target extents beyond this are faults in the file; sums of them stay in range.
constexpr int64_t maxPad = int64_t(1) << 40;

/// One axis of a Slice after clamping: `size` elements from `start` by `step`.
struct AxisSlice {
  int64_t start, size, step;
};

/// Clamps as the standard says; every value of int64 is allowed.
AxisSlice clampSlice(int64_t start, int64_t end, int64_t step, int64_t extent) {
  if (step == 0)
    fault("a step is 0");
  // A longer step than the extent takes one element at most.
  int64_t longest = std::max<int64_t>(extent, 1);
  step = std::clamp(step, -longest, longest);
  auto fromFront = [&](int64_t i) { return i < 0 ? i + extent : i; };
  start = std::clamp<int64_t>(fromFront(start), 0, step > 0 ? extent : std::max<int64_t>(extent - 1, 0));
  end = std::clamp<int64_t>(fromFront(end), step > 0 ? 0 : -1,
                            step > 0 ? extent : std::max<int64_t>(extent - 1, -1));
  int64_t span = step > 0 ? end - start : start - end;
  if (span <= 0 || extent == 0)
    return {0, 0, 1};
  int64_t stride = step > 0 ? step : -step;
  int64_t size = (span + stride - 1) / stride;
  return {start, size, size == 1 ? 1 : step};
}

Result importSlice(NodeContext &n) {
  Value x = n.input(0);
  Ints starts, ends, axes, steps;
  if (n.opset() < 10) {
    starts = n.intsAttr("starts").value_or(Ints());
    ends = n.intsAttr("ends").value_or(Ints());
    axes = n.intsAttr("axes").value_or(axisRange(0, static_cast<int64_t>(starts.size())));
  } else {
    starts = n.constantInts(1, "the starts");
    ends = n.constantInts(2, "the ends");
    axes =
        n.has(3) ? n.constantInts(3, "the list of axes") : axisRange(0, static_cast<int64_t>(starts.size()));
  }
  steps = n.opset() >= 10 && n.has(4) ? n.constantInts(4, "the steps") : Ints(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    return n.error("starts, ends, axes and steps differ in length");
  normalizeAxes(axes, rankOf(x)); // refuses what is outside or named twice
  Ints first(rankOf(x), 0), sizes(shapeOf(x)), strides(rankOf(x), 1);
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t axis = normalizeAxis(axes[i], rankOf(x));
    AxisSlice s = clampSlice(starts[i], ends[i], steps[i], sizes[axis]);
    first[axis] = s.start;
    sizes[axis] = s.size;
    strides[axis] = s.step;
  }
  return Values{n.body().slice(x, first, sizes, strides)};
}

/// Crops by the negative entries of `low` and `high` (which become 0).
Value crop(Body &b, Value x, Ints &low, Ints &high) {
  Ints starts(rankOf(x), 0), sizes(shapeOf(x)), steps(rankOf(x), 1);
  for (int64_t i = 0; i < rankOf(x); ++i) {
    int64_t front = std::max<int64_t>(-low[i], 0), back = std::max<int64_t>(-high[i], 0);
    if (front > sizes[i] || back > sizes[i] - front)
      fault("pads remove more than extent " + llvm::Twine(sizes[i]) + " of axis " + llvm::Twine(i));
    sizes[i] -= front + back;
    starts[i] = sizes[i] == 0 ? 0 : front;
    low[i] = std::max<int64_t>(low[i], 0);
    high[i] = std::max<int64_t>(high[i], 0);
  }
  return b.slice(x, starts, sizes, steps);
}

/// Where element `i` of an axis (negative: in the padding) comes from in reflect, edge and wrap mode.
int64_t paddingSource(llvm::StringRef mode, int64_t i, int64_t extent) {
  auto modulo = [](int64_t a, int64_t m) { return (a % m + m) % m; };
  if (mode == "edge")
    return std::clamp<int64_t>(i, 0, extent - 1);
  if (mode == "wrap")
    return modulo(i, extent);
  if (extent == 1)
    return 0;
  int64_t period = 2 * (extent - 1), j = modulo(i, period);
  return j < extent ? j : period - j;
}

Result importPad(NodeContext &n) {
  Value x = n.input(0);
  int64_t rank = rankOf(x);
  std::string mode = n.stringAttr("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap")
    return n.error("mode '" + mode + "' is unknown; use constant, reflect, edge or wrap");
  Ints pads = n.opset() >= 11 ? n.constantInts(1, "the pads")
                              : n.intsAttr(n.opset() < 2 ? "paddings" : "pads").value_or(Ints());
  Ints axes = n.has(3) && n.opset() >= 18 ? n.constantInts(3, "the list of axes") : axisRange(0, rank);
  normalizeAxes(axes, rank);
  if (pads.size() != 2 * axes.size())
    return n.error(llvm::Twine(pads.size()) + " pads do not fit " + llvm::Twine(axes.size()) + " axes");
  Ints low(rank, 0), high(rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    low[normalizeAxis(axes[i], rank)] = pads[i];
    high[normalizeAxis(axes[i], rank)] = pads[i + axes.size()];
  }
  for (int64_t p : pads)
    if (p > maxPad || p < -maxPad)
      return n.error("pads " + text(pads) + " are out of range");
  Values operands{x};
  if (n.opset() >= 11 && n.has(2))
    operands.push_back(n.input(2));
  return n.composite1(operands, [&](Body &b, ValueRange xs) -> Value {
    Value result = crop(b, xs[0], low, high);
    if (llvm::all_of(low, [](int64_t p) { return p == 0; }) &&
        llvm::all_of(high, [](int64_t p) { return p == 0; }))
      return result;
    if (mode == "constant") {
      Value fill = xs.size() > 1 ? asScalar(b, xs[1], "the constant value")
                                 : b.scalarLike(result, n.opset() < 11 ? n.floatAttr("value", 0) : 0);
      return b.op("pad", {result, fill}, {b.attr("low", IntsRef(low)), b.attr("high", IntsRef(high))});
    }
    for (int64_t axis = 0; axis < rank; ++axis) {
      if (low[axis] == 0 && high[axis] == 0)
        continue;
      int64_t extent = shapeOf(result)[axis];
      if (extent == 0)
        fault("axis " + llvm::Twine(axis) + " has no elements to pad with");
      checkTable(extent + low[axis] + high[axis]);
      Ints sources;
      for (int64_t i = -low[axis]; i < extent + high[axis]; ++i)
        sources.push_back(paddingSource(mode, i, extent));
      result = b.gather(result, b.constant(Tensor::fromInts(sources)), axis);
    }
    return result;
  });
}

Result importCenterCropPad(NodeContext &n) {
  Value x = n.input(0);
  int64_t rank = rankOf(x);
  Ints shape = n.constantInts(1, "the target shape");
  Ints axes = n.intsAttr("axes").value_or(axisRange(0, rank));
  normalizeAxes(axes, rank);
  for (int64_t extent : shape)
    if (extent < 0 || extent > maxPad)
      return n.error("the target " + text(shape) + " is out of range");
  if (shape.size() != axes.size())
    return n.error("the target " + text(shape) + " does not fit " + llvm::Twine(axes.size()) + " axes");
  Ints low(rank, 0), high(rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t axis = normalizeAxis(axes[i], rank), more = shape[i] - shapeOf(x)[axis];
    // Of an odd difference the smaller half is in front, both when padding and when cropping.
    low[axis] = more / 2;
    high[axis] = more - low[axis];
  }
  return n.composite1({x}, [&](Body &b, ValueRange xs) {
    Value cropped = crop(b, xs[0], low, high);
    return b.op("pad", {cropped, b.scalarLike(cropped, 0)},
                {b.attr("low", IntsRef(low)), b.attr("high", IntsRef(high))});
  });
}

/// Keeps the upper (or lower) triangle: column - row >= k (or <= k). k may be known only when running.
Result importTrilu(NodeContext &n) {
  Value x = n.input(0);
  int64_t rank = rankOf(x);
  if (rank < 2)
    return n.error("the input must have rank 2 or more, not shape " + text(shapeOf(x)));
  bool upper = n.intAttr("upper", 1) != 0;
  Values operands{x};
  if (n.has(1))
    operands.push_back(n.input(1));
  return n.composite1(operands, [&](Body &b, ValueRange xs) {
    IntsRef matrix = shapeOf(x).take_back(2);
    Value column = b.iota({1, matrix[1]}, 1, DataType::Int64),
          row = b.iota({matrix[0], 1}, 0, DataType::Int64);
    Value k = xs.size() > 1 ? asScalar(b, xs[1], "k") : b.constant(Tensor::scalarInt(DataType::Int64, 0));
    Value kept = b.compare(upper ? tk::Predicate::GreaterOrEqual : tk::Predicate::LessOrEqual, column,
                           b.add(row, b.cast(k, DataType::Int64)));
    return b.select(kept, xs[0], b.scalarLike(xs[0], 0));
  });
}

} // namespace

void registerSlicing(Registry &registry) {
  registry.add("CenterCropPad", importCenterCropPad);
  registry.add("Pad", importPad);
  registry.add("Slice", importSlice);
  registry.add("Trilu", importTrilu);
}

} // namespace tokamak::import
