//===- RandomMotifs.cpp - random tk graphs: the shapes that rewrites look for ---------------------------===//
// Chains, twins and detours that a pass may join, merge or remove. They are made of the same operators as the
// rest and vary in what the passes have to check: other users, shapes that broadcast, types, constants that
// are not.
#include "RandomGraph.h"
#include <algorithm>
#include <numeric>

namespace tokamak::test {

using namespace mlir;

namespace {

DataType typeOf(Value value) { return *fromMlir(tk::tensorType(value).getElementType()); }
ArrayRef<int64_t> shapeOf(Value value) { return tk::tensorType(value).getShape(); }
bool isReal(Value value) { return isFloat(typeOf(value)); }

} // namespace

void RandomGraph::motif() {
  static constexpr void (RandomGraph::*motifs[])() = {
      &RandomGraph::constantChain, &RandomGraph::constantChain, &RandomGraph::identities,
      &RandomGraph::clipChain,     &RandomGraph::movementChain, &RandomGraph::slicesAndConcats,
      &RandomGraph::castChain,     &RandomGraph::sharedTerms,   &RandomGraph::normalization};
  (this->*motifs[pick(0, std::size(motifs) - 1)])();
}

/// ((x + a) * b) / c ..., the constants scalars, rows or whole tensors, on either side.
void RandomGraph::constantChain() {
  Value x = value(isReal);
  for (int64_t i = pick(2, 4); i > 0 && x; --i) {
    DataType type = typeOf(x);
    Shape shape(shapeOf(x).drop_front(static_cast<size_t>(pick(0, tk::tensorType(x).getRank()))));
    for (int64_t &n : shape)
      if (chance(40))
        n = 1;
    StringRef op = oneOf({"add", "add", "sub", "mul", "mul", "div"});
    Value c = chance(80) ? fresh(type, shape, -3, 3, true) : broadcastPartner(x, type);
    if (op == "div")
      c = scalar(type, oneOf({2.0, 4.0, 3.0, -0.5, 0.5, 1.0}));
    x = chance(25) && op != "div" ? arithmetic(op, c, x) : arithmetic(op, x, c);
  }
}

/// Operators that may be none: x + 0, 1 * x, --x, x ** 1, of every type.
void RandomGraph::identities() {
  Value x = value([](Value v) { return typeOf(v) != DataType::Bool; });
  if (!x)
    return;
  DataType type = typeOf(x);
  Bounds known = boundsOf(x);
  auto same = [&](Value v) { add(v, known); };
  Value zero = scalar(type, chance(50) || !isFloat(type) ? 0.0 : -0.0), one = scalar(type, 1);
  switch (pick(0, 8)) {
  case 0:
    return same(emit("add", {x, zero}));
  case 1:
    return same(emit("sub", {x, zero}));
  case 2:
    return same(chance(50) ? emit("mul", {x, one}) : emit("mul", {one, x}));
  case 3:
    return same(emit("div", {x, one}));
  case 4:
    return same(emit("neg", emit("neg", x)));
  case 5: {
    Value none = emit("mul", {x, zero});
    add(none, {0, 0, domain == Domain::Special ? boundsOf(x).error : 0, true});
    return;
  }
  case 6: {
    Value none = emit("sub", {x, x});
    add(none, {0, 0, domain == Domain::Special ? boundsOf(x).error : 2 * known.error, true});
    return;
  }
  case 7: {
    Value size = emit("abs", emit(oneOf({"neg", "abs"}), x));
    add(size,
        isFloat(type) ? Bounds{0, known.magnitude(), known.error, known.integral} : Bounds{-1e30, 1e30});
    return;
  }
  default:
    if (domain != Domain::Special || !isFloat(type))
      same(emit("select", {fresh(DataType::Bool, shapeOf(x)), x, x}));
  }
}

/// min(max(min(x, a), b), c): the bounds in any order, scalars or tensors.
void RandomGraph::clipChain() {
  Value x = value(isReal);
  for (int64_t i = pick(2, 4); i > 0 && x; --i) {
    Value bound =
        chance(80) ? scalar(typeOf(x), static_cast<double>(pick(-4, 6))) : broadcastPartner(x, typeOf(x));
    x = chance(80) ? arithmetic(oneOf({"max", "min"}), x, bound)
                   : arithmetic(oneOf({"max", "min"}), bound, x);
  }
}

/// Reshapes and transposes behind each other, some of which cancel, elementwise operators between.
void RandomGraph::movementChain() {
  Value x = anyValue();
  if (!x)
    return;
  Shape before(shapeOf(x)), permutation(before.size());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::shuffle(permutation.begin(), permutation.end(), random);
  Bounds known = boundsOf(x);
  bool reshapes = chance(50);
  Value moved = reshapes ? emit("reshape", x, {ints("shape", tk::tensorType(x).getNumElements())})
                         : emit("transpose", x, {ints("permutation", permutation)});
  if (!add(moved, known))
    return;
  if (chance(40) && isReal(moved))
    moved = arithmetic(oneOf({"max", "min"}), moved, scalar(typeOf(moved), 1));
  if (!moved)
    return;
  known = boundsOf(moved);
  if (reshapes) {
    add(emit("reshape", moved, {ints("shape", before)}), known);
    return;
  }
  Shape back(permutation.size());
  for (auto [i, p] : llvm::enumerate(permutation))
    back[static_cast<size_t>(p)] = static_cast<int64_t>(i);
  if (chance(30))
    std::shuffle(back.begin(), back.end(), random);
  add(emit("transpose", moved, {ints("permutation", back)}), known);
}

/// A tensor cut into parts that are joined again, perhaps in another order; a part of a concatenation.
void RandomGraph::slicesAndConcats() {
  Value x = value([](Value v) { return tk::tensorType(v).getRank() > 0; });
  if (!x)
    return;
  Shape from(shapeOf(x));
  int64_t rank = static_cast<int64_t>(from.size()), axis = pick(0, rank - 1), n = from[axis];
  Bounds known = boundsOf(x);
  auto part = [&](Value v, int64_t begin, int64_t end) {
    Shape starts(from.size(), 0), sizes(shapeOf(v)), steps(from.size(), 1);
    starts[axis] = begin, sizes[axis] = end - begin;
    return emit("slice", v, {ints("starts", starts), ints("sizes", sizes), ints("steps", steps)});
  };
  if (n >= 2 && chance(60)) {
    int64_t cut = pick(1, n - 1), gap = chance(25) ? pick(0, n - cut - 1) : 0;
    SmallVector<Value> parts{part(x, 0, cut), part(x, cut + gap, n)};
    for (Value &v : parts)
      if (chance(25))
        v = add(v, known);
    if (llvm::is_contained(parts, Value()))
      return;
    if (chance(20))
      std::swap(parts[0], parts[1]);
    add(emit("concat", parts, {integer("axis", axis)}), known);
    return;
  }
  Value other = partner(typeOf(x), from);
  if (!other)
    return;
  Bounds second = boundsOf(other);
  Bounds all{std::min(known.low, second.low), std::max(known.high, second.high),
             std::max(known.error, second.error), known.integral && second.integral};
  Value joined = add(emit("concat", {x, other}, {integer("axis", axis)}), all);
  if (!joined)
    return;
  int64_t begin = chance(40) ? 0 : chance(50) ? n : pick(0, 2 * n), most = 2 * n - begin;
  add(part(joined, begin, begin + (chance(40) ? std::min(n, most) : pick(0, most))), all);
}

/// To another type and back, or on to a third.
void RandomGraph::castChain() {
  Value x = anyValue();
  if (!x || boundsOf(x).error > 0 || (isReal(x) && !boundsOf(x).integral && domain != Domain::Special))
    return;
  Bounds known = boundsOf(x);
  Value now = x;
  for (DataType to : {elementType(), chance(60) ? typeOf(x) : elementType()}) {
    now = emit("cast", now, {type("to", to)});
    // Half types round and overflow; what jumps or is wrong for them has its own tests.
    if (!now || (isFloat(to) && domain != Domain::Special && known.magnitude() * roundingError(to) > 0.5))
      return;
    if (!isFloat(to)) {
      double most = std::exp2(static_cast<double>(byteSize(to) * 8));
      known =
          to == DataType::Bool ? Bounds{0, 1, 0, true} : Bounds{isUnsigned(to) ? 0 : -most, most, 0, true};
    }
  }
  add(now, known);
}

/// x + x, x * a + x * b, x / sqrt(y): what has a factor in common.
void RandomGraph::sharedTerms() {
  Value x = value(isReal);
  if (!x)
    return;
  DataType type = typeOf(x);
  switch (pick(0, 3)) {
  case 0:
    arithmetic(oneOf({"add", "mul", "max"}), x, x);
    return;
  case 1: {
    Value a = arithmetic("mul", x, fresh(type, {}, -3, 3, chance(80)));
    Value c = arithmetic("mul", x, fresh(type, {}, -3, 3, chance(80)));
    arithmetic(oneOf({"add", "sub"}), a, c);
    return;
  }
  case 2: {
    // A multiply-add, the factor and the term by channel or by element.
    Value y = arithmetic("mul", x, broadcastPartner(x, type));
    if (y)
      arithmetic(oneOf({"add", "sub"}), y, broadcastPartner(y, type));
    return;
  }
  default: {
    if (domain == Domain::Special)
      return;
    Value square =
        add(emit("mul", {x, x}), {0, boundsOf(x).magnitude() * boundsOf(x).magnitude(),
                                  2 * boundsOf(x).magnitude() * boundsOf(x).error +
                                      jitter(type, boundsOf(x).magnitude() * boundsOf(x).magnitude()),
                                  false});
    if (!square)
      return;
    Value above = arithmetic("max", square, scalar(type, 0.25));
    if (!above)
      return;
    Bounds known = boundsOf(above);
    Value root = emit("sqrt", above);
    add(root, {0.5, std::sqrt(std::max(known.high, 0.25)) * 1.01,
               known.error + jitter(type, std::sqrt(known.high)), false});
    // The slope of 1 / r is 4 at a half.
    Bounds r = boundsOf(root);
    Value inverse = emit("div", {scalar(type, 1), root});
    add(inverse, {0, 2.01, 4 * r.error + 2 * jitter(type, 4), false});
  }
  }
}

/// (x - mean) / sqrt(variance + epsilon) * scale + bias over trailing axes, or a softmax's pieces, by hand.
void RandomGraph::normalization() {
  Value x = value([](Value v) {
    auto type = tk::tensorType(v);
    return isReal(v) && type.getRank() > 0 && type.getNumElements() > 0;
  });
  if (!x || domain == Domain::Special)
    return;
  x = clamp(x, -4, 4);
  if (!x || boundsOf(x).error > 1e-3)
    return;
  Shape from(shapeOf(x));
  bool isGrouped = from.size() > 1 && chance(40);
  if (isGrouped) { // the channels of a group and what lies behind them as one axis
    Bounds known = boundsOf(x);
    size_t axis = static_cast<size_t>(pick(0, static_cast<int64_t>(from.size()) - 2));
    int64_t groups = from[axis];
    for (int64_t divisor = 2; divisor < groups; ++divisor)
      if (groups % divisor == 0 && chance(50))
        groups /= divisor;
    Shape grouped(ArrayRef<int64_t>(from).take_front(axis));
    int64_t before = groups;
    for (int64_t n : grouped)
      before *= n;
    grouped.push_back(groups);
    grouped.push_back(before ? tk::tensorType(x).getNumElements() / before : 0);
    x = add(emit("reshape", x, {ints("shape", grouped)}), known);
    if (!x)
      return;
  }
  DataType type = typeOf(x);
  int64_t rank = tk::tensorType(x).getRank();
  Shape axes;
  double count = 1;
  for (int64_t axis = pick(std::max<int64_t>(0, rank - 2), rank - 1); axis < rank; ++axis)
    axes.push_back(axis), count *= static_cast<double>(shapeOf(x)[static_cast<size_t>(axis)]);
  auto mean = [&](Value v) {
    Value sum = emit("reduce", v,
                     {choice<tk::ReduceKindAttr>("kind", tk::ReduceKind::Sum), ints("axes", axes),
                      flag("keep_dims", true)});
    return chance(50) ? emit("mul", {sum, scalar(type, 1 / count)}) : emit("div", {sum, scalar(type, count)});
  };
  Value centred = emit("sub", {x, mean(x)});
  Value variance = mean(emit("mul", {centred, centred}));
  Value root = emit("sqrt", emit("add", {variance, scalar(type, 0.25)}));
  Value scaled = chance(50) ? emit("div", {centred, root})
                            : emit("mul", {centred, emit("div", {scalar(type, 1), root})});
  // |centred| <= 8, so the variance is at most 64, and the root at least a half; each step rounds.
  double rounding = roundingError(type),
         sums = std::max(rounding, roundingError(DataType::Float32) * (type != DataType::Float64));
  double error = 64 * (boundsOf(x).error + 8 * (count * sums + 8 * rounding));
  if (isGrouped)
    scaled = emit("reshape", scaled, {ints("shape", from)});
  Value result = add(scaled, {-16, 16, error, false});
  if (result && chance(60)) {
    Shape tail(isGrouped ? ArrayRef<int64_t>(from).drop_front() : shapeOf(x).take_back(axes.size()));
    if (isGrouped && chance(70))
      std::fill(tail.begin() + 1, tail.end(), 1);
    result = arithmetic("mul", result, fresh(type, tail, -2, 2, true));
    if (result)
      arithmetic("add", result, fresh(type, tail, -2, 2, true));
  }
}

/// A convolution that keeps the spatial extents, stride 1, with constant weights and perhaps a bias.
Value RandomGraph::convolve(Value x, int64_t channels, int64_t kernel) {
  DataType type = typeOf(x);
  Shape from(shapeOf(x)), weight{channels, from[1]};
  Shape ones(from.size() - 2, 1), pads(from.size() - 2, kernel / 2);
  double taps = static_cast<double>(from[1]) + 1;
  for (size_t i = 2; i < from.size(); ++i)
    weight.push_back(kernel), taps *= static_cast<double>(kernel);
  if (taps * static_cast<double>(channels) > 20000)
    return nullptr;
  SmallVector<Value> operands{x, fresh(type, weight, -2, 2, true)};
  if (chance(50))
    operands.push_back(fresh(type, {channels}, -3, 3, true));
  Bounds a = boundsOf(x);
  double mc = boundsOf(operands[1]).magnitude(), most = a.magnitude() * mc + 3;
  return add(
      emit("conv", operands,
           {ints("strides", ones), ints("dilations", ones), ints("pads_low", pads), ints("pads_high", pads),
            integer("group", 1)}),
      sumBounds(type, taps, most, -most, most, mc * a.error, a.integral && boundsOf(operands[1]).integral));
}

/// What may be folded into a convolution's weights: factors, terms and batch norms by channel before and
/// behind it, padding, another convolution.
void RandomGraph::convolutionChain() {
  Value x = value([](Value v) {
    auto type = tk::tensorType(v);
    return typeOf(v) == DataType::Float32 && type.getRank() >= 3 && type.getRank() <= 5 &&
           type.getNumElements() > 0;
  });
  if (!x || isolated || domain == Domain::Special)
    return;
  auto perChannel = [&](Value v) -> Value {
    Shape shape(tk::tensorType(v).getRank() - 1, 1);
    shape[0] = shapeOf(v)[1];
    if (chance(30))
      shape.insert(shape.begin(), 1);
    if (chance(20))
      shape.back() = shapeOf(v).back();
    return arithmetic(oneOf({"mul", "add", "sub", "mul"}), v, fresh(typeOf(v), shape, -2, 2, chance(90)));
  };
  if (chance(40))
    x = perChannel(x);
  if (x && chance(25)) {
    Shape pads(shapeOf(x).size(), 0);
    for (size_t i = 2; i < pads.size(); ++i)
      pads[i] = pick(0, 2);
    Bounds known = boundsOf(x);
    double fill = chance(80) ? 0 : 1;
    x = add(emit("pad", {x, scalar(typeOf(x), fill)}, {ints("low", pads), ints("high", pads)}),
            {std::min(known.low, fill), std::max(known.high, fill), known.error, known.integral});
  }
  for (int64_t i = pick(1, 2); i > 0 && x; --i) {
    x = convolve(x, oneOf<int64_t>({1, 2, 8, 16, 17}), oneOf<int64_t>({1, 1, 3}));
    for (int64_t k = pick(0, 2); k > 0 && x; --k)
      x = chance(70) ? perChannel(x) : arithmetic("max", x, scalar(typeOf(x), 0));
  }
}

/// Convolutions that each read the one before: expanding, depthwise, projecting, in any order, with strides
/// and uneven padding, activations between that are not zero at zero, and perhaps a sum with the first input.
void RandomGraph::anchorChain() {
  if (isolated || domain == Domain::Special)
    return;
  Shape extents{pick(1, 2), oneOf<int64_t>({8, 9, 16, 24}), pick(1, 12), pick(1, 12)};
  Value first = fresh(DataType::Float32, extents), x = first, last = first;
  for (int64_t i = pick(2, 4); i > 0 && x; --i) {
    Shape from(shapeOf(x)), strides, dilations, low, high;
    bool depthwise = chance(40);
    int64_t kernel = chance(depthwise ? 10 : 60) ? 1 : oneOf<int64_t>({3, 3, 5, 2});
    int64_t channels = depthwise ? from[1] : oneOf<int64_t>({8, 16, 17, 24, 40});
    for (size_t axis : {2, 3}) {
      dilations.push_back(chance(85) ? 1 : 2);
      low.push_back(chance(70) ? kernel / 2 : pick(0, 2)),
          high.push_back(chance(70) ? low.back() : pick(0, 2));
      if ((kernel - 1) * dilations.back() + 1 > from[axis] + low.back() + high.back())
        low.back() = high.back() = (kernel - 1) * dilations.back();
      strides.push_back(chance(75) ? 1 : pick(2, 3));
    }
    int64_t inputs = depthwise ? 1 : from[1];
    double taps = static_cast<double>(inputs * kernel * kernel) + 1;
    if (taps * static_cast<double>(channels) > 20000)
      break;
    SmallVector<Value> operands{x, fresh(typeOf(x), {channels, inputs, kernel, kernel}, -2, 2, true)};
    if (chance(50))
      operands.push_back(fresh(typeOf(x), {channels}, -3, 3, true));
    Bounds a = boundsOf(x);
    double mc = boundsOf(operands[1]).magnitude(), most = a.magnitude() * mc + 3;
    Bounds known = sumBounds(typeOf(x), taps, most, -most, most, mc * a.error,
                             a.integral && boundsOf(operands[1]).integral);
    size_t before = visible.size();
    x = add(emit("conv", operands,
                 {ints("strides", strides), ints("dilations", dilations), ints("pads_low", low),
                  ints("pads_high", high), integer("group", depthwise ? channels : 1)}),
            known);
    if (x && chance(60))
      x = arithmetic(oneOf({"max", "add"}), x, scalar(typeOf(x), oneOf({0.0, 2.0})));
    last = x ? x : last;
    if (i > 1 && chance(90)) // nobody else reads it
      visible.resize(before);
  }
  if (!llvm::is_contained(visible, last))
    visible.push_back(last);
  if (shapeOf(last) == shapeOf(first))
    arithmetic("add", last, first);
  for (int64_t i = chance(50) ? pick(1, 2) : 0; i > 0; --i)
    squeeze(last);
}

/// The sum or the maximum of each channel of a plane, and perhaps the plane times that.
void RandomGraph::squeeze(Value x) {
  const bool isMax = chance(40), keepsAxes = chance(70);
  const auto count = static_cast<double>(shapeOf(x)[2] * shapeOf(x)[3]);
  const Bounds known = boundsOf(x);
  Value sum = add(emit("reduce", x,
                       {choice<tk::ReduceKindAttr>("kind", isMax ? tk::ReduceKind::Max : tk::ReduceKind::Sum),
                        ints("axes", {2, 3}), flag("keep_dims", keepsAxes)}),
                  isMax ? known
                        : sumBounds(typeOf(x), count, known.magnitude(), known.low, known.high, known.error,
                                    known.integral));
  if (sum && keepsAxes && chance(50))
    arithmetic("mul", x, sum);
}

/// Matrix products that each read the one before, as attention, perceptrons and the cells of recurrent
/// networks do: operands cut from columns and moved, scores normalised, gates added and multiplied.
void RandomGraph::productChain() {
  if (isolated || domain == Domain::Special)
    return;
  const int64_t heads = pick(1, 3), width = oneOf<int64_t>({1, 3, 8, 17}), parts = pick(1, 3);
  Shape rows = chance(50) ? Shape{pick(1, 9)} : Shape{pick(1, 2), pick(1, 9)};
  auto with = [](Shape shape, std::initializer_list<int64_t> more) {
    shape.append(more.begin(), more.end());
    return shape;
  };
  Value x = fresh(DataType::Float32, with(rows, {pick(1, 6)}), -2, 2, true);
  const size_t before = visible.size();
  auto weights = [&](Value v, int64_t columns) {
    return fresh(DataType::Float32, {shapeOf(v).back(), columns}, -2, 2, true);
  };
  Value wide = multiply(x, weights(x, parts * heads * width), false, false);
  if (wide && chance(50))
    wide = arithmetic("add", wide, fresh(DataType::Float32, {parts * heads * width}, -2, 2, true));
  if (!wide)
    return;
  auto part = [&](Value v, int64_t number, int64_t size) -> Value {
    const size_t axis = shapeOf(v).size() - 1;
    Shape starts(axis + 1, 0), sizes(shapeOf(v)), steps(axis + 1, 1);
    starts[axis] = number * size, sizes[axis] = size;
    return add(emit("slice", v, {ints("starts", starts), ints("sizes", sizes), ints("steps", steps)}),
               boundsOf(v));
  };
  if (chance(40)) { // gates
    Value sum = part(wide, 0, heads * width);
    for (int64_t i = 1; i < parts && sum; ++i)
      if (Value gate = part(wide, i, heads * width))
        sum = arithmetic(oneOf({"add", "mul", "max"}),
                         chance(30) ? arithmetic("max", gate, scalar(typeOf(gate), 0)) : gate, sum);
    x = sum;
  } else {
    auto head = [&](int64_t number) -> Value {
      Value v = part(wide, number % parts, heads * width);
      if (!v)
        return v;
      Bounds known = boundsOf(v);
      v = add(emit("reshape", v, {ints("shape", with(rows, {heads, width}))}), known);
      Shape order(rows.size() + 2);
      std::iota(order.begin(), order.end(), 0);
      std::swap(order[rows.size()], order[rows.size() - 1]);
      return v ? add(emit("transpose", v, {ints("permutation", order)}), known) : v;
    };
    Value q = head(0), k = head(1), v = head(2);
    Value scores = q && k && v ? multiply(q, k, false, true) : Value();
    if (scores && chance(70))
      scores = softmaxOf(scores);
    x = scores ? multiply(scores, v, false, false) : Value();
  }
  if (x && chance(50))
    x = multiply(x, weights(x, pick(1, 20)), false, false);
  if (x && chance(80)) { // nobody else reads what is between
    visible.resize(before);
    visible.push_back(x);
  }
}

/// Convolutions, or products, of one value: joined, added or used apart; a convolution that takes a part of
/// another one's channels.
void RandomGraph::siblings() {
  if (isolated || domain == Domain::Special)
    return;
  if (chance(40)) {
    Value x = value([](Value v) { return isReal(v) && tk::tensorType(v).getRank() >= 2; });
    if (!x)
      return;
    DataType type = typeOf(x);
    int64_t depth = shapeOf(x).back(), columns = extent();
    SmallVector<Value> products;
    for (int64_t i = pick(2, 3); i > 0; --i) {
      Value w = fresh(type, {depth, chance(70) ? columns : extent()}, -2, 2, true);
      Bounds a = boundsOf(x), c = boundsOf(w);
      double most = a.magnitude() * c.magnitude();
      Value y = add(emit("matmul", {x, w}), sumBounds(type, static_cast<double>(depth), most, -most, most,
                                                      c.magnitude() * a.error, a.integral && c.integral));
      if (y)
        products.push_back(y);
    }
    if (products.size() >= 2 && products[0].getType() == products[1].getType() && chance(50))
      arithmetic("add", products[0], products[1]);
    return;
  }
  Value x = value([](Value v) {
    auto type = tk::tensorType(v);
    return typeOf(v) == DataType::Float32 && type.getRank() >= 3 && type.getRank() <= 5 &&
           type.getNumElements() > 0;
  });
  if (!x)
    return;
  int64_t channels = oneOf<int64_t>({1, 4, 8, 16, 17}), kernel = oneOf<int64_t>({1, 3});
  SmallVector<Value> branches;
  for (int64_t i = pick(2, 3); i > 0; --i)
    if (Value y = convolve(x, chance(70) ? channels : pick(1, 9), chance(60) ? kernel : 4 - kernel))
      branches.push_back(y);
  if (branches.size() < 2)
    return;
  if (chance(30))
    for (Value &branch : branches)
      if (Value bounded = arithmetic("max", branch, scalar(typeOf(branch), 0)))
        branch = bounded;
  if (branches[0].getType() == branches[1].getType() && chance(50)) {
    arithmetic("add", branches[0], branches[1]);
    return;
  }
  Bounds all = boundsOf(branches.front());
  for (Value branch : branches) {
    Bounds own = boundsOf(branch);
    all = {std::min(all.low, own.low), std::max(all.high, own.high), std::max(all.error, own.error),
           all.integral && own.integral};
  }
  add(emit("concat", branches, {integer("axis", 1)}), all);
}

} // namespace tokamak::test
