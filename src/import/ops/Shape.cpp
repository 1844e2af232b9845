//===- Shape.cpp - Reshape, Transpose, Expand, Tile, Concat, Split and their kin -----------===//
#include "import/ops/Common.h"
#include <cmath>

namespace tokamak::import {

namespace {

/// Axes from the attribute, or from input `i` where the opset has them there; nothing where absent.
std::optional<Ints> axesOf(NodeContext &n, int64_t i) {
  if (n.has(i))
    return n.constantInts(i, "the list of axes");
  return n.intsAttr("axes");
}

Result importShape(NodeContext &n) {
  n.takesInputs(1);
  IntsRef shape = shapeOf(n.input(0));
  int64_t rank = static_cast<int64_t>(shape.size());
  auto clamped = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
  int64_t start = clamped(n.intAttr("start", 0)), end = clamped(n.intAttr("end", rank));
  return Values{n.body().constant(Tensor::fromInts(shape.slice(start, std::max<int64_t>(end - start, 0))))};
}

Result importSize(NodeContext &n) {
  return Values{n.body().constant(Tensor::scalarInt(DataType::Int64, product(shapeOf(n.input(0)))))};
}

/// Resolves the 0 (copy the extent) and -1 (what is left) of a Reshape target.
Ints resolveReshape(IntsRef input, IntsRef target, bool allowZero) {
  Ints shape(target);
  int64_t unknown = -1;
  // Extents copied as 0 stand on both sides, so they do not decide what is left.
  int64_t have = 1, want = 1;
  std::vector<bool> copied(input.size(), false);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !allowZero) {
      if (i >= input.size())
        fault("the target " + text(target) + " copies axis " + llvm::Twine(i) + " of an input of shape " +
              text(input));
      shape[i] = input[i];
      copied[i] = true;
    } else if (shape[i] == -1) {
      if (unknown >= 0)
        fault("the target " + text(target) + " has more than one -1");
      unknown = static_cast<int64_t>(i);
    } else if (shape[i] < 0) {
      fault("the target " + text(target) + " has a negative extent");
    } else {
      want = product({want, shape[i]});
    }
  }
  if (unknown >= 0) {
    for (size_t i = 0; i < input.size(); ++i)
      if (!copied[i])
        have = product({have, input[i]});
    if (want == 0 || have % want != 0)
      fault("an input of shape " + text(input) + " does not fill the target " + text(target));
    shape[unknown] = have / want;
  }
  if (product(shape) != product(input))
    fault("an input of shape " + text(input) + " does not fill the target " + text(target));
  return shape;
}

Result importReshape(NodeContext &n) {
  n.takesInputs(2);
  Value x = n.input(0);
  Ints target = n.opset() < 5 ? n.intsAttr("shape").value_or(Ints()) : n.constantInts(1, "the target shape");
  return Values{n.body().reshape(x, resolveReshape(shapeOf(x), target, n.intAttr("allowzero", 0) != 0))};
}

Result importFlatten(NodeContext &n) {
  n.takesInputs(1);
  Value x = n.input(0);
  IntsRef shape = shapeOf(x);
  int64_t axis = n.intAttr("axis", 1), rank = rankOf(x);
  if (axis < -rank || axis > rank)
    return n.error("axis " + llvm::Twine(axis) + " does not fit a tensor of rank " + llvm::Twine(rank));
  axis += axis < 0 ? rank : 0;
  return Values{n.body().reshape(x, {product(shape.take_front(axis)), product(shape.drop_front(axis))})};
}

Result importSqueeze(NodeContext &n) {
  n.takesInputs(2);
  Value x = n.input(0);
  std::optional<Ints> given = axesOf(n, 1);
  Ints axes = given ? normalizeAxes(*given, rankOf(x)) : Ints(), shape;
  for (auto [i, extent] : llvm::enumerate(shapeOf(x))) {
    bool dropped = given ? llvm::is_contained(axes, static_cast<int64_t>(i)) : extent == 1;
    if (dropped && extent != 1)
      return n.error("axis " + llvm::Twine(i) + " of " + text(shapeOf(x)) + " does not have extent 1");
    if (!dropped)
      shape.push_back(extent);
  }
  return Values{n.body().reshape(x, shape)};
}

Result importUnsqueeze(NodeContext &n) {
  n.takesInputs(2);
  Value x = n.input(0);
  std::optional<Ints> given = axesOf(n, 1);
  if (!given)
    return n.error("axes are missing");
  Ints axes = normalizeAxes(*given, rankOf(x) + static_cast<int64_t>(given->size())), shape(shapeOf(x));
  for (int64_t axis : axes)
    shape.insert(shape.begin() + axis, 1);
  return Values{n.body().reshape(x, shape)};
}

Result importTranspose(NodeContext &n) {
  n.takesInputs(1);
  Value x = n.input(0);
  Ints reversed = axisRange(0, rankOf(x));
  std::reverse(reversed.begin(), reversed.end());
  Ints permutation = n.intsAttr("perm").value_or(reversed);
  if (normalizeAxes(permutation, rankOf(x)).size() != reversed.size())
    return n.error("perm " + text(permutation) + " does not fit a tensor of rank " + llvm::Twine(rankOf(x)));
  for (int64_t &axis : permutation)
    axis = normalizeAxis(axis, rankOf(x));
  return Values{n.body().transpose(x, permutation)};
}

Ints broadcastTo(IntsRef a, IntsRef b) {
  auto shape = tk::broadcastShapes(a, b);
  if (mlir::failed(shape))
    fault("shapes " + text(a) + " and " + text(b) + " do not broadcast");
  return Ints(*shape);
}

/// A shape given as an input: no negative extents.
Ints shapeInput(NodeContext &n, int64_t i, llvm::StringRef what) {
  Ints shape = n.constantInts(i, what);
  for (int64_t e : shape)
    if (e < 0)
      fault(what + " " + text(shape) + " has a negative extent");
  return shape;
}

Result importExpand(NodeContext &n) {
  n.takesInputs(2);
  Value x = n.input(0);
  return Values{n.body().broadcast(x, broadcastTo(shapeOf(x), shapeInput(n, 1, "the target shape")))};
}

/// An axis of extent d repeated r times: [d] -> [1, d] -> [r, d] -> [r * d].
Result importTile(NodeContext &n) {
  Value x = n.input(0);
  IntsRef shape = shapeOf(x);
  Ints repeats = shapeInput(n, 1, "the repeats");
  if (n.opset() < 6) { // one number of tiles and the axis
    Ints axis = n.constantInts(2, "the axis");
    if (repeats.size() != 1 || axis.size() != 1)
      return n.error("tiles and axis must have one element");
    Ints all(shape.size(), 1);
    all[normalizeAxis(axis[0], rankOf(x))] = repeats[0];
    repeats = all;
  }
  if (repeats.size() != shape.size())
    return n.error(llvm::Twine(repeats.size()) + " repeats do not fit a tensor of rank " +
                   llvm::Twine(shape.size()));
  Ints split, repeated, result;
  for (auto [extent, repeat] : llvm::zip(shape, repeats)) {
    if (repeat != 1 && extent != 1) {
      split.push_back(1);
      repeated.push_back(repeat);
    }
    split.push_back(extent);
    repeated.push_back(repeat != 1 && extent == 1 ? repeat : extent);
    result.push_back(product({extent, repeat}));
  }
  return n.composite1({x}, [&](Body &b, ValueRange xs) {
    return b.reshape(b.broadcast(b.reshape(xs[0], split), repeated), result);
  });
}

Result importConcat(NodeContext &n) {
  Values operands;
  for (int64_t i = 0; i < n.inputCount(); ++i)
    operands.push_back(n.input(i));
  if (operands.empty())
    return n.error("at least one input is required");
  if (n.opset() >= 4 && !n.hasAttr("axis"))
    return n.error("attribute 'axis' is missing");
  return Values{n.body().concat(operands, normalizeAxis(n.intAttr("axis", 1), rankOf(operands[0])))};
}

/// Parts of given sizes, or as many equal ones as there are outputs (the last one may be smaller).
Result importSplit(NodeContext &n) {
  Value x = n.input(0);
  int64_t axis = normalizeAxis(n.intAttr("axis", 0), rankOf(x)), extent = shapeOf(x)[axis];
  std::optional<Ints> sizes = n.intsAttr("split");
  if (n.has(1))
    sizes = n.constantInts(1, "the sizes of the parts");
  if (!sizes || sizes->empty()) {
    int64_t parts = n.outputCount();
    if (int64_t declared = n.intAttr("num_outputs", parts); declared != parts)
      return n.error("num_outputs is " + llvm::Twine(declared) + ", but there are " + llvm::Twine(parts) +
                     " outputs");
    if (parts == 0)
      return n.error("there are no outputs");
    if (n.opset() < 18 && extent % parts != 0)
      return n.error("extent " + llvm::Twine(extent) + " does not split into " + llvm::Twine(parts) +
                     " equal parts");
    int64_t size = (extent + parts - 1) / parts;
    sizes.emplace();
    for (int64_t i = 0, left = extent; i < parts; ++i, left -= sizes->back())
      sizes->push_back(std::min(size, left));
  }
  if (static_cast<int64_t>(sizes->size()) != n.outputCount())
    return n.error(llvm::Twine(sizes->size()) + " parts do not fit " + llvm::Twine(n.outputCount()) +
                   " outputs");
  Values results;
  int64_t start = 0;
  for (int64_t size : *sizes) {
    if (size < 0 || size > extent - start)
      return n.error("parts " + text(*sizes) + " do not add up to extent " + llvm::Twine(extent));
    results.push_back(n.body().sliceAxis(x, axis, size == 0 ? 0 : start, size));
    start += size;
  }
  if (start != extent)
    return n.error("parts " + text(*sizes) + " do not add up to extent " + llvm::Twine(extent));
  return results;
}

/// Block size of DepthToSpace and SpaceToDepth.
int64_t blockSize(NodeContext &n) {
  int64_t size = n.intAttr("blocksize", 0);
  if (size < 1 || rankOf(n.input(0)) != 4)
    fault("a positive blocksize and an input of rank 4 are required");
  return size;
}

Result importDepthToSpace(NodeContext &n) {
  int64_t size = blockSize(n);
  IntsRef s = shapeOf(n.input(0));
  std::string mode = n.stringAttr("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    return n.error("mode must be DCR or CRD, not '" + mode + "'");
  int64_t depth = s[1] / size / size;
  if (depth * size * size != s[1])
    return n.error(llvm::Twine(s[1]) + " channels do not split into blocks of " + llvm::Twine(size));
  bool blockFirst = mode == "DCR";
  Ints split =
      blockFirst ? Ints{s[0], size, size, depth, s[2], s[3]} : Ints{s[0], depth, size, size, s[2], s[3]};
  Ints permutation = blockFirst ? Ints{0, 3, 4, 1, 5, 2} : Ints{0, 1, 4, 2, 5, 3};
  return n.composite1({n.input(0)}, [&](Body &b, ValueRange x) {
    Value moved = b.transpose(b.reshape(x[0], split), permutation);
    return b.reshape(moved, {s[0], depth, product({s[2], size}), product({s[3], size})});
  });
}

Result importSpaceToDepth(NodeContext &n) {
  int64_t size = blockSize(n);
  IntsRef s = shapeOf(n.input(0));
  int64_t rows = s[2] / size, columns = s[3] / size;
  if (rows * size != s[2] || columns * size != s[3])
    return n.error("extents " + text(s.drop_front(2)) + " do not split into blocks of " + llvm::Twine(size));
  return n.composite1({n.input(0)}, [&](Body &b, ValueRange x) {
    Value split = b.reshape(x[0], {s[0], s[1], rows, size, columns, size});
    return b.reshape(b.transpose(split, {0, 3, 5, 1, 2, 4}),
                     {s[0], product({s[1], size, size}), rows, columns});
  });
}

Result importConstantOfShape(NodeContext &n) {
  Ints shape = shapeInput(n, 0, "the shape");
  Tensor value = n.tensorAttr("value").value_or(Tensor::scalar(DataType::Float32, 0));
  if (value.size() != 1)
    return n.error("attribute 'value' must have one element");
  product(shape);
  return Values{n.body().broadcast(n.body().constant(value.reshaped({})), shape)};
}

/// start, start + delta, ... below limit. The number of elements is part of the graph.
Result importRange(NodeContext &n) {
  Tensor start = n.constantInput(0, "the start"), limit = n.constantInput(1, "the limit"),
         delta = n.constantInput(2, "the step");
  if (start.size() != 1 || limit.size() != 1 || delta.size() != 1)
    return n.error("start, limit and delta must have one element");
  DataType type = start.type();
  double count;
  if (isFloat(type)) {
    count = std::ceil((limit.doubleAt(0) - start.doubleAt(0)) / delta.doubleAt(0));
  } else {
    __int128 span = static_cast<__int128>(limit.intAt(0)) - start.intAt(0), step = delta.intAt(0);
    if (step == 0)
      return n.error("the step is 0");
    __int128 steps = span / step + (span % step != 0 && (span < 0) == (step < 0) ? 1 : 0);
    count = static_cast<double>(steps);
  }
  if (!(count < 1e12)) // also NaN
    return n.error("the range is unbounded or too long");
  int64_t size = count > 0 ? static_cast<int64_t>(count) : 0; // -inf as well
  Body &b = n.body();
  DataType wide = isFloat(type) ? wideType(type) : type;
  Value steps = b.mul(b.iota({size}, 0, wide), b.cast(b.constant(delta.reshaped({})), wide));
  return Values{b.cast(b.add(steps, b.cast(b.constant(start.reshaped({})), wide)), type)};
}

Result importEyeLike(NodeContext &n) {
  Value x = n.input(0);
  if (rankOf(x) != 2)
    return n.error("the input must have rank 2, not shape " + text(shapeOf(x)));
  DataType type = n.hasAttr("dtype") ? dataType(n.intAttr("dtype", 1)) : typeOf(x);
  Body &b = n.body();
  Value column = b.iota(shapeOf(x), 1, DataType::Int64), row = b.iota(shapeOf(x), 0, DataType::Int64);
  Value k = b.constant(Tensor::scalarInt(DataType::Int64, n.intAttr("k", 0)));
  return Values{b.cast(b.compare(tk::Predicate::Equal, b.sub(column, row), k), type)};
}

} // namespace

void registerShape(Registry &registry) {
  registry.add("Concat", importConcat);
  registry.add("ConstantOfShape", importConstantOfShape);
  registry.add("DepthToSpace", importDepthToSpace);
  registry.add("Expand", importExpand);
  registry.add("EyeLike", importEyeLike);
  registry.add("Flatten", importFlatten);
  registry.add("Range", importRange);
  registry.add("Reshape", importReshape);
  registry.add("Shape", importShape);
  registry.add("Size", importSize);
  registry.add("SpaceToDepth", importSpaceToDepth);
  registry.add("Split", importSplit);
  registry.add("Squeeze", importSqueeze);
  registry.add("Tile", importTile);
  registry.add("Transpose", importTranspose);
  registry.add("Unsqueeze", importUnsqueeze);
}

} // namespace tokamak::import
