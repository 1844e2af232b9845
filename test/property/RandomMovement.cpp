//===- RandomMovement.cpp - random tk graphs: operators that move elements
//----------------------------------===//
#include "RandomGraph.h"
#include <algorithm>
#include <numeric>

namespace tokamak::test {

using namespace mlir;

namespace {
DataType typeOf(Value value) { return *fromMlir(tk::tensorType(value).getElementType()); }
ArrayRef<int64_t> shapeOf(Value value) { return tk::tensorType(value).getShape(); }
} // namespace

void RandomGraph::movement() {
  Value x = anyValue();
  if (!x)
    return;
  auto from = shapeOf(x);
  auto rank = static_cast<int64_t>(from.size());
  Bounds known = boundsOf(x);
  switch (pick(0, 4)) {
  case 0: { // broadcast
    Shape to(from);
    for (int64_t &n : to)
      if (n == 1 && chance(50))
        n = extent();
    if (chance(40))
      to.insert(to.begin(), pick(1, 3));
    add(emit("broadcast", x, {ints("shape", to)}), known);
    return;
  }
  case 1: { // reshape: merge axes, split them, add and drop ones
    Shape to(from);
    for (int64_t i = pick(1, 3); i > 0; --i) {
      int64_t at = pick(0, static_cast<int64_t>(to.size()) - 1);
      switch (pick(0, 3)) {
      case 0:
        if (to.size() > 1) {
          at = std::min<int64_t>(at, static_cast<int64_t>(to.size()) - 2);
          to[at] *= to[at + 1];
          to.erase(to.begin() + at + 1);
        }
        break;
      case 1:
        if (!to.empty() && to.size() < 7)
          for (int64_t factor : {2, 3, 5, 16})
            if (to[at] > factor && to[at] % factor == 0) {
              to[at] /= factor;
              to.insert(to.begin() + at + pick(0, 1), factor);
              break;
            }
        break;
      case 2:
        if (to.size() < 7)
          to.insert(to.begin() + pick(0, static_cast<int64_t>(to.size())), 1);
        break;
      default:
        if (!to.empty() && to[at] == 1)
          to.erase(to.begin() + at);
      }
    }
    add(emit("reshape", x, {ints("shape", to)}), known);
    return;
  }
  case 2: { // transpose
    Shape permutation(from.size());
    std::iota(permutation.begin(), permutation.end(), 0);
    std::shuffle(permutation.begin(), permutation.end(), random);
    add(emit("transpose", x, {ints("permutation", permutation)}), known);
    return;
  }
  case 3: { // slice
    Shape starts, sizes, steps;
    for (int64_t n : from) {
      int64_t step = oneOf<int64_t>({1, 1, 1, 2, 3, -1, -2});
      if (n == 0) {
        starts.push_back(0), sizes.push_back(0), steps.push_back(step);
        continue;
      }
      int64_t start = chance(50) ? (step > 0 ? 0 : n - 1) : pick(0, n - 1);
      int64_t most = step > 0 ? (n - 1 - start) / step + 1 : start / -step + 1;
      starts.push_back(start), steps.push_back(step);
      sizes.push_back(chance(60) ? most : pick(chance(5) ? 0 : 1, most));
    }
    add(emit("slice", x, {ints("starts", starts), ints("sizes", sizes), ints("steps", steps)}), known);
    return;
  }
  default: { // iota
    if (rank == 0)
      return;
    DataType type = elementType();
    if (type == DataType::Bool)
      return;
    int64_t axis = pick(0, rank - 1);
    double last = static_cast<double>(std::max<int64_t>(from[axis] - 1, 0));
    if (last > 100)
      return;
    add(emit("iota", {}, {ints("shape", from), integer("axis", axis), this->type("to", type)}),
        {0, last, 0, true});
  }
  }
}

void RandomGraph::concatOrPad() {
  Value x = value([](Value v) { return tk::tensorType(v).getRank() > 0; });
  if (!x)
    return;
  auto from = shapeOf(x);
  Bounds known = boundsOf(x);
  if (chance(50)) {
    Value fill = fresh(typeOf(x), {});
    Shape low, high;
    for (size_t i = 0; i < from.size(); ++i) {
      low.push_back(chance(50) ? 0 : pick(1, 3));
      high.push_back(chance(50) ? 0 : pick(1, 17));
    }
    Bounds f = boundsOf(fill);
    add(emit("pad", {x, fill}, {ints("low", low), ints("high", high)}),
        {std::min(known.low, f.low), std::max(known.high, f.high), std::max(known.error, f.error),
         known.integral && f.integral});
    return;
  }
  int64_t axis = pick(0, static_cast<int64_t>(from.size()) - 1);
  SmallVector<Value> parts{x};
  for (int64_t i = pick(0, 3); i > 0; --i) {
    Value part = value([&](Value v) {
      auto shape = shapeOf(v);
      bool fits = typeOf(v) == typeOf(x) && shape.size() == from.size();
      for (size_t a = 0; fits && a < shape.size(); ++a)
        fits = static_cast<int64_t>(a) == axis || shape[a] == from[a];
      return fits;
    });
    if (chance(30) && !isolated) {
      Shape extents(from);
      extents[axis] = extent();
      part = partner(typeOf(x), extents);
    }
    parts.insert(chance(50) ? parts.begin() : parts.end(), part);
  }
  Bounds all = known;
  for (Value part : parts) {
    Bounds p = boundsOf(part);
    all = {std::min(all.low, p.low), std::max(all.high, p.high), std::max(all.error, p.error),
           all.integral && p.integral};
  }
  add(emit("concat", parts, {integer("axis", axis)}), all);
}

void RandomGraph::gather() {
  Value x = value([](Value v) { return tk::tensorType(v).getRank() > 0; });
  if (!x || isolated)
    return;
  auto from = shapeOf(x);
  auto rank = static_cast<int64_t>(from.size());
  int64_t axis = pick(0, rank - 1);
  Bounds known = boundsOf(x);
  switch (pick(0, 2)) {
  case 0:
    add(emit("gather", {x, indices(shape(pick(0, 2)), from[axis])}, {integer("axis", axis)}), known);
    return;
  case 1: {
    Shape at(from);
    for (int64_t &n : at)
      if (chance(40))
        n = pick(0, n);
    at[axis] = extent();
    add(emit("gather_elements", {x, indices(at, from[axis])}, {integer("axis", axis)}), known);
    return;
  }
  default: {
    int64_t batch = pick(0, std::min<int64_t>(rank - 1, 2)), count = pick(0, rank - batch);
    Shape at(from.take_front(batch));
    for (int64_t n : shape(pick(0, 2)))
      at.push_back(n);
    at.push_back(count);
    // One range for all axes indexed.
    int64_t least = count == 0 ? 1 : *std::min_element(from.begin() + batch, from.begin() + batch + count);
    add(emit("gather_nd", {x, indices(at, least)}, {integer("batch_dims", batch)}), known);
  }
  }
}

} // namespace tokamak::test
