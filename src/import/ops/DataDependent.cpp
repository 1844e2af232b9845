//===- DataDependent.cpp - operators whose result's shape depends on the data --------------===//
// They are computed here where the inputs that decide are constants, and refused otherwise.
#include "import/ops/Common.h"
#include "llvm/ADT/STLExtras.h"

namespace tokamak::import {

namespace {

llvm::Error refusal(NodeContext &n, llvm::StringRef what) {
  return n.error("the shape of its result depends on the data; make " + what +
                 " constant (--bind NAME=FILE.npy binds an input) or take the operator out of the model");
}

/// Coordinates [rank, count] of the elements that are not 0; a rank-0 input counts as [1].
Result importNonZero(NodeContext &n) {
  std::optional<Tensor> x = n.ifConstant(0);
  if (!x)
    return refusal(n, "its input");
  Ints shape(x->shape());
  if (shape.empty())
    shape.push_back(1);
  std::vector<int64_t> found;
  for (int64_t i = 0; i < x->size(); ++i)
    if (isFloat(x->type()) ? x->doubleAt(i) != 0 : x->intAt(i) != 0)
      found.push_back(i);
  int64_t rank = static_cast<int64_t>(shape.size()), count = static_cast<int64_t>(found.size());
  Tensor result(DataType::Int64, {rank, count});
  for (int64_t j = 0; j < count; ++j)
    for (int64_t axis = rank - 1, rest = found[j]; axis >= 0; --axis) {
      result.setInt(axis * count + j, rest % shape[axis]);
      rest /= shape[axis];
    }
  return Values{n.body().constant(result)};
}

/// Makes `x` flat where the node names no axis. Returns the axis.
static int64_t axisOrFlat(NodeContext &n, Value &x) {
  if (n.hasAttr("axis"))
    return normalizeAxis(n.intAttr("axis", 0), rankOf(x));
  x = n.body().reshape(x, {product(shapeOf(x))});
  return 0;
}

/// A constant condition makes it a gather.
Result importCompress(NodeContext &n) {
  std::optional<Tensor> condition = n.ifConstant(1);
  if (!condition)
    return refusal(n, "the condition");
  Value x = n.input(0);
  Body &b = n.body();
  const int64_t axis = axisOrFlat(n, x);
  Ints chosen;
  for (int64_t i = 0; i < condition->size(); ++i)
    if (condition->intAt(i) != 0)
      chosen.push_back(i);
  if (!chosen.empty() && chosen.back() >= shapeOf(x)[axis])
    return n.error("the condition chooses index " + llvm::Twine(chosen.back()) + " of extent " +
                   llvm::Twine(shapeOf(x)[axis]));
  return Values{b.gather(x, b.constant(Tensor::fromInts(chosen)), axis)};
}

/// The tensor as [outer, extent of axis, inner] for Unique, whose items are the slices at one index of the
/// axis.
struct Slices {
  const Tensor &x;
  int64_t outer, extent, inner;

  /// Three-way comparison of two slices, element by element.
  int compare(int64_t a, int64_t b) const {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        int64_t left = (o * extent + a) * inner + i, right = (o * extent + b) * inner + i;
        if (isFloat(x.type())) {
          double l = x.doubleAt(left), r = x.doubleAt(right);
          if (l != r && !(l != l && r != r)) // NaN sorts last and equals itself
            return l != l ? 1 : r != r ? -1 : l < r ? -1 : 1;
        } else if (x.intAt(left) != x.intAt(right)) {
          bool less = x.type() == DataType::UInt64
                          ? static_cast<uint64_t>(x.intAt(left)) < static_cast<uint64_t>(x.intAt(right))
                          : x.intAt(left) < x.intAt(right);
          return less ? -1 : 1;
        }
      }
    return 0;
  }
};

/// Unique slices, the first index of each, the inverse indices, and the counts.
Result importUnique(NodeContext &n) {
  std::optional<Tensor> x = n.ifConstant(0);
  if (!x)
    return refusal(n, "its input");
  Value input = n.input(0);
  Body &b = n.body();
  const int64_t axis = axisOrFlat(n, input);
  IntsRef shape = shapeOf(input);
  Slices slices{*x, product(shape.take_front(axis)), shape[axis], product(shape.drop_front(axis + 1))};

  Ints order = axisRange(0, shape[axis]);
  llvm::sort(order, [&](int64_t l, int64_t r) {
    int compared = slices.compare(l, r);
    return compared != 0 ? compared < 0 : l < r;
  });
  // Groups of equal slices; each begins with its first occurrence, since ties are in order.
  std::vector<Ints> groups;
  for (int64_t i : order)
    if (!groups.empty() && slices.compare(groups.back().front(), i) == 0)
      groups.back().push_back(i);
    else
      groups.push_back({i});
  if (n.intAttr("sorted", 1) == 0)
    llvm::sort(groups, [](const Ints &l, const Ints &r) { return l.front() < r.front(); });

  Ints first, counts, inverse(shape[axis], 0);
  for (auto [g, group] : llvm::enumerate(groups)) {
    first.push_back(group.front());
    counts.push_back(static_cast<int64_t>(group.size()));
    for (int64_t i : group)
      inverse[i] = static_cast<int64_t>(g);
  }
  Value indices = b.constant(Tensor::fromInts(first));
  return Values{b.gather(input, indices, axis), indices, b.constant(Tensor::fromInts(inverse)),
                b.constant(Tensor::fromInts(counts))};
}

/// A box as corners with lower <= upper.
struct Box {
  double y1, x1, y2, x2;
  double area() const { return (y2 - y1) * (x2 - x1); }
};

Box boxAt(const Tensor &boxes, int64_t index, bool centred) {
  double v[4];
  for (int64_t i = 0; i < 4; ++i)
    v[i] = boxes.doubleAt(index * 4 + i);
  if (centred) // x, y, width, height
    return {v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2};
  return {std::min(v[0], v[2]), std::min(v[1], v[3]), std::max(v[0], v[2]), std::max(v[1], v[3])};
}

double intersectionOverUnion(const Box &a, const Box &b) {
  double height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1),
         width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  if (height <= 0 || width <= 0 || a.area() <= 0 || b.area() <= 0)
    return 0;
  double shared = height * width;
  return shared / (a.area() + b.area() - shared);
}

/// Greedy suppression a batch and class: (batch, class, box) of every box that no better box overlaps too
/// much.
Result importNonMaxSuppression(NodeContext &n) {
  std::optional<Tensor> boxes = n.ifConstant(0), scores = n.ifConstant(1);
  if (!boxes || !scores)
    return refusal(n, "its boxes and scores");
  if (boxes->rank() != 3 || scores->rank() != 3 || boxes->shape()[2] != 4 ||
      boxes->shape()[0] != scores->shape()[0] || boxes->shape()[1] != scores->shape()[2])
    return n.error("boxes " + text(boxes->shape()) + " do not fit scores " + text(scores->shape()));
  auto option = [&](int64_t i, double fallback, llvm::StringRef what) {
    if (!n.has(i))
      return fallback;
    Tensor t = n.constantInput(i, what);
    return t.size() > 0 ? t.doubleAt(0) : fallback;
  };
  double limit = option(2, 0, "max_output_boxes_per_class"), overlap = option(3, 0, "iou_threshold"),
         lowest = option(4, -std::numeric_limits<double>::infinity(), "score_threshold");
  bool centred = n.intAttr("center_point_box", 0) != 0;
  int64_t classes = scores->shape()[1], count = scores->shape()[2];
  // Every box is compared with every box that was kept.
  double kept = std::min(std::max(limit, 0.0), static_cast<double>(count));
  if (kept * static_cast<double>(count) * static_cast<double>(classes * scores->shape()[0]) > 1e10)
    return n.error("there are too many boxes; run the suppression outside the model");
  std::vector<int64_t> chosen; // triples
  for (int64_t batch = 0; batch < scores->shape()[0]; ++batch)
    for (int64_t c = 0; c < classes; ++c) {
      auto score = [&](int64_t i) { return scores->doubleAt((batch * classes + c) * count + i); };
      Ints order;
      for (int64_t i = 0; i < count; ++i)
        if (score(i) > lowest)
          order.push_back(i);
      llvm::sort(order,
                 [&](int64_t l, int64_t r) { return score(l) != score(r) ? score(l) > score(r) : l < r; });
      Ints accepted;
      for (int64_t i : order) {
        if (static_cast<double>(accepted.size()) >= limit)
          break;
        Box box = boxAt(*boxes, batch * count + i, centred);
        if (llvm::any_of(accepted, [&](int64_t k) {
              return intersectionOverUnion(box, boxAt(*boxes, batch * count + k, centred)) > overlap;
            }))
          continue;
        accepted.push_back(i);
        chosen.insert(chosen.end(), {batch, c, i});
      }
    }
  return Values{n.body().constant(intTensor(chosen, {static_cast<int64_t>(chosen.size()) / 3, 3}))};
}

} // namespace

void registerDataDependent(Registry &registry) {
  registry.add("Compress", importCompress);
  registry.add("NonMaxSuppression", importNonMaxSuppression);
  registry.add("NonZero", importNonZero);
  registry.add("Unique", importUnique);
}

} // namespace tokamak::import
