//===- RandomAnchors.cpp - random tk graphs: reductions, products, convolutions, windows
//--------------------===//
#include "RandomGraph.h"
#include <cmath>

namespace tokamak::test {

using namespace mlir;

namespace {

DataType typeOf(Value value) { return *fromMlir(tk::tensorType(value).getElementType()); }
ArrayRef<int64_t> shapeOf(Value value) { return tk::tensorType(value).getShape(); }

Bounds anything() { return {-1e30, 1e30, 0, true}; }

} // namespace

Bounds sumBounds(DataType type, double count, double term, double low, double high, double error,
                 bool integral) {
  bool isHalf = type == DataType::Float16 || type == DataType::BFloat16;
  DataType sums = isHalf ? DataType::Float32 : type;
  double most = count * term;
  bool exact = error == 0 && integral && most * roundingError(sums) <= 0.5;
  double total = count * error;
  if (!exact)
    total +=
        2 * (count + 2) * roundingError(sums) * most + 2 * (isHalf ? roundingError(type) : 0) * most + 1e-35;
  return {count * low, count * high, total, integral && exact};
}

void RandomGraph::reduce() {
  Value x = value([](Value v) { return typeOf(v) != DataType::Bool; });
  if (!x)
    return;
  auto from = shapeOf(x);
  DataType type = typeOf(x);
  Shape axes;
  double count = 1;
  bool trailing = chance(40);
  for (size_t i = 0; i < from.size(); ++i)
    if (trailing ? i * 2 >= from.size() : chance(40)) {
      axes.push_back(static_cast<int64_t>(i));
      count *= static_cast<double>(from[i]);
    }
  auto kind = static_cast<tk::ReduceKind>(pick(0, 3));
  if (domain == Domain::Special && isFloat(type))
    kind = chance(50) ? tk::ReduceKind::Max : tk::ReduceKind::Min;
  Bounds known = boundsOf(x), result = known;
  double most = known.magnitude();
  if (!isFloat(type)) {
    result = kind == tk::ReduceKind::Max || kind == tk::ReduceKind::Min ? known : anything();
    if (count == 0)
      result = anything();
  } else if (kind == tk::ReduceKind::Sum) {
    result = sumBounds(type, count, most, known.low, known.high, known.error, known.integral);
  } else if (kind == tk::ReduceKind::Product) {
    if (count > 6 || most > 8)
      return;
    double all = std::pow(std::max(most, 1.0), count);
    bool exact = known.error == 0 && known.integral;
    double error = exact ? 0 : count * all * (known.error + 4 * roundingError(type)) + 1e-35;
    result = {-all, all, error, exact};
  } else if (count == 0) {
    return; // infinities: tested on their own
  }
  add(emit("reduce", x,
           {choice<tk::ReduceKindAttr>("kind", kind), ints("axes", axes), flag("keep_dims", chance(50))}),
      result);
}

void RandomGraph::argReduce() {
  Value x = value([&](Value v) {
    return typeOf(v) != DataType::Bool && boundsOf(v).error == 0 && tk::tensorType(v).getRank() > 0;
  });
  if (!x)
    return;
  int64_t axis = pick(0, tk::tensorType(x).getRank() - 1);
  auto kind = chance(50) ? tk::ReduceKind::Max : tk::ReduceKind::Min;
  add(emit("arg_reduce", x,
           {choice<tk::ReduceKindAttr>("kind", kind), integer("axis", axis), flag("keep_dims", chance(50)),
            flag("select_last", chance(50))}),
      {0, static_cast<double>(std::max<int64_t>(shapeOf(x)[axis] - 1, 0)), 0, true});
}

void RandomGraph::softmax() {
  Value x = value([](Value v) {
    return isFloat(typeOf(v)) && tk::tensorType(v).getRank() > 0 && tk::tensorType(v).getNumElements() > 0;
  });
  if (x && domain != Domain::Special)
    softmaxOf(x);
}

Value RandomGraph::softmaxOf(Value x) {
  x = clamp(x, -8, 8);
  if (!x)
    return x;
  DataType type = typeOf(x);
  int64_t axis = chance(60) ? tk::tensorType(x).getRank() - 1 : pick(0, tk::tensorType(x).getRank() - 1);
  auto along = [&](StringRef name, Value v, tk::ReduceKind kind) {
    return emit(name, v,
                {choice<tk::ReduceKindAttr>("kind", kind), ints("axes", axis), flag("keep_dims", true)});
  };
  Value most = along("reduce", x, tk::ReduceKind::Max);
  Value e = emit("exp", emit("sub", {x, most}));
  Value result = emit("div", {e, along("reduce", e, tk::ReduceKind::Sum)});
  double count = static_cast<double>(shapeOf(x)[axis]);
  double rounding = roundingError(type);
  return add(
      result,
      {0, 1, 4 * boundsOf(x).error + 2e-5 * (type != DataType::Float64) + (count + 24) * rounding, false});
}

/// Few queries and so many keys that a kernel sees them block by block, scaled and masked.
void RandomGraph::attention() {
  if (isolated || domain == Domain::Special)
    return;
  const int64_t queries = pick(1, 4), keys = oneOf<int64_t>({1, 3, 511, 513, 600, 1030}), depth = pick(1, 3),
                width = pick(1, 4);
  Shape batch = chance(40) ? Shape{} : chance(50) ? Shape{pick(1, 2)} : Shape{2, pick(1, 2)};
  auto with = [](Shape shape, int64_t rows, int64_t columns) {
    shape.append({rows, columns});
    return shape;
  };
  auto made = [&](const Shape &shape) { return fresh(DataType::Float32, shape, -2, 2, true); };
  Shape shared = chance(30) ? Shape{} : batch; // keys and values of all
  const size_t before = visible.size();
  Value q = made(with(batch, queries, depth)), k = made(with(shared, keys, depth)),
        v = made(with(shared, keys, width));
  Value scores = multiply(q, k, false, true);
  if (scores && chance(50))
    scores = arithmetic("mul", scores, made({}));
  if (scores && chance(60))
    scores =
        arithmetic("add", scores, made(chance(50) ? Shape{keys} : with({}, queries, chance(50) ? keys : 1)));
  Value weights = scores ? softmaxOf(scores) : Value();
  Value result = weights ? multiply(weights, v, false, false) : Value();
  if (result && chance(80)) { // nobody else reads what is between
    visible.resize(before);
    visible.push_back(result);
  }
}

void RandomGraph::matMul() {
  Value x = value([](Value v) { return typeOf(v) != DataType::Bool && tk::tensorType(v).getRank() >= 2; });
  if (!x || domain == Domain::Special)
    return;
  DataType type = typeOf(x);
  auto left = shapeOf(x);
  bool transposeLhs = chance(25), transposeRhs = chance(25);
  int64_t depth = left[left.size() - (transposeLhs ? 2 : 1)];
  Shape right;
  for (int64_t n :
       left.drop_back(2).drop_front(static_cast<size_t>(pick(0, static_cast<int64_t>(left.size()) - 2))))
    right.push_back(chance(30) ? 1 : n);
  int64_t columns = extent();
  if (transposeRhs)
    right.append({columns, depth});
  else
    right.append({depth, columns});
  Value y = isolated ? value([&](Value v) { return typeOf(v) == type && shapeOf(v) == ArrayRef(right); })
                     : partner(type, right);
  if (!y)
    return;
  multiply(x, y, transposeLhs, transposeRhs);
}

Value RandomGraph::multiply(Value x, Value y, bool transposeLhs, bool transposeRhs) {
  DataType type = typeOf(x);
  auto depth = static_cast<double>(shapeOf(x)[shapeOf(x).size() - (transposeLhs ? 2 : 1)]);
  Bounds a = boundsOf(x), c = boundsOf(y);
  double ma = a.magnitude(), mc = c.magnitude(), most = ma * mc;
  Attributes attributes{flag("transpose_lhs", transposeLhs), flag("transpose_rhs", transposeRhs)};
  return add(emit("matmul", {x, y}, attributes),
             isFloat(type)
                 ? sumBounds(type, depth, most, -most, most, ma * c.error + mc * a.error + a.error * c.error,
                             a.integral && c.integral)
                 : anything());
}

void RandomGraph::convolution() {
  if (isolated || domain == Domain::Special)
    return;
  bool transposed = chance(25);
  // Blocked values come from convolutions: prefer them, so that layouts meet.
  Value x = value([&](Value v) {
    auto rank = tk::tensorType(v).getRank();
    return typeOf(v) == DataType::Float32 && rank >= 3 && rank <= 5;
  });
  if (!x || chance(15)) {
    DataType type = chance(80) ? DataType::Float32 : elementType();
    if (type == DataType::Bool || (transposed && !isFloat(type)))
      return;
    Shape extents = shape(pick(3, 5));
    if (chance(60))
      extents[1] = oneOf<int64_t>({3, 8, 16, 17, 32, 33});
    x = fresh(type, extents);
  }
  DataType type = typeOf(x);
  if (transposed && !isFloat(type))
    return;
  Shape from(shapeOf(x));
  if (llvm::is_contained(from, 0) && chance(70))
    return;
  int64_t channels = from[1], group = 1;
  if (chance(40) && channels > 0)
    do
      group = chance(50) ? channels : pick(1, channels);
    while (channels % group != 0);
  int64_t perGroup =
      group == 1 ? oneOf<int64_t>({1, 2, 5, 8, 16, 17, 24, 32, 33}) : pick(1, group > 8 ? 2 : 5);
  Shape weight = transposed ? Shape{channels, perGroup} : Shape{group * perGroup, channels / group};
  Shape strides, dilations, low, high;
  for (int64_t n : ArrayRef<int64_t>(from).drop_front(2)) {
    int64_t kernel = oneOf<int64_t>({1, 1, 2, 3, 3, 4, 5, 7});
    int64_t dilation = chance(80) ? 1 : pick(2, 3);
    int64_t before = chance(60) ? kernel / 2 * dilation : pick(0, 4),
            after = chance(60) ? before : pick(0, 4);
    if (!transposed && (kernel - 1) * dilation + 1 > n + before + after)
      kernel = 1;
    weight.push_back(kernel);
    strides.push_back(chance(60) ? 1 : pick(1, 4)), dilations.push_back(dilation);
    low.push_back(before), high.push_back(after);
  }
  SmallVector<Value> operands{x, fresh(type, weight, isUnsigned(type) ? 0 : -2, 2, chance(90))};
  double bias = 0;
  if (chance(60)) {
    operands.push_back(
        fresh(type, {transposed ? group * perGroup : weight[0]}, isUnsigned(type) ? 0 : -3, 3, chance(90)));
    bias = boundsOf(operands[2]).magnitude();
  }
  Attributes attributes{ints("strides", strides), ints("dilations", dilations), ints("pads_low", low),
                        ints("pads_high", high), integer("group", group)};
  if (transposed) {
    Shape padding;
    for (int64_t stride : strides)
      padding.push_back(pick(0, stride - 1));
    attributes.push_back(ints("output_padding", padding));
  }
  int64_t groupChannels = channels / std::max<int64_t>(group, 1);
  double taps = static_cast<double>(groupChannels) + 1;
  for (int64_t kernel : ArrayRef<int64_t>(weight).drop_front(2))
    taps *= static_cast<double>(kernel);
  if (taps * static_cast<double>(group * perGroup) > 20000)
    return;
  Bounds a = boundsOf(x), c = boundsOf(operands[1]);
  double ma = a.magnitude(), mc = c.magnitude(), most = ma * mc + bias;
  add(emit(transposed ? "conv_transpose" : "conv", operands, attributes),
      isFloat(type) ? sumBounds(type, taps, most, -most, most, mc * a.error, a.integral && c.integral)
                    : anything());
}

void RandomGraph::window() {
  Value x = value([](Value v) { return typeOf(v) != DataType::Bool && tk::tensorType(v).getRank() >= 3; });
  if (!x)
    return;
  DataType type = typeOf(x);
  Shape kernel, strides, dilations, low, high;
  double taps = 1;
  for (int64_t n : shapeOf(x).drop_front(2)) {
    int64_t size = std::min<int64_t>(oneOf<int64_t>({1, 2, 3, 3, 5}), std::max<int64_t>(n, 1));
    kernel.push_back(size);
    dilations.push_back(size > 1 && (size - 1) * 2 + 1 <= n && chance(20) ? 2 : 1);
    strides.push_back(pick(1, 3));
    // Every window meets an element: infinities are tested on their own.
    low.push_back(chance(50) ? 0 : pick(0, size - 1)), high.push_back(chance(50) ? 0 : pick(0, size - 1));
    taps *= static_cast<double>(size);
  }
  bool isMax = domain == Domain::Special || chance(50);
  if (isMax && llvm::is_contained(shapeOf(x), 0))
    return;
  if (isMax && llvm::any_of(dilations, [](int64_t d) { return d > 1; }))
    low.assign(low.size(), 0), high.assign(high.size(), 0);
  Bounds known = boundsOf(x), result = known;
  if (!isFloat(type))
    result = isMax ? known : anything();
  else if (!isMax)
    result = sumBounds(type, taps, known.magnitude(), std::min(known.low, 0.0), std::max(known.high, 0.0),
                       known.error, known.integral);
  auto kind = isMax ? tk::ReduceKind::Max : tk::ReduceKind::Sum;
  add(emit("window", x,
           {choice<tk::ReduceKindAttr>("kind", kind), ints("kernel", kernel), ints("strides", strides),
            ints("dilations", dilations), ints("pads_low", low), ints("pads_high", high)}),
      result);
}

} // namespace tokamak::test
