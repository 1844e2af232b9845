//===- RandomOpaque.cpp - random tk graphs: library calls, control flow, composites
//-------------------------===//
#include "RandomGraph.h"
#include <cmath>

namespace tokamak::test {

using namespace mlir;

namespace {
DataType typeOf(Value value) { return *fromMlir(tk::tensorType(value).getElementType()); }
ArrayRef<int64_t> shapeOf(Value value) { return tk::tensorType(value).getShape(); }
} // namespace

void RandomGraph::library() {
  Value x = value([&](Value v) {
    return typeOf(v) != DataType::Bool && tk::tensorType(v).getRank() > 0 && boundsOf(v).error == 0;
  });
  if (!x || domain == Domain::Special)
    return;
  DataType type = typeOf(x);
  auto from = shapeOf(x);
  int64_t axis = pick(0, static_cast<int64_t>(from.size()) - 1);
  Bounds known = boundsOf(x);
  switch (pick(0, 4)) {
  case 0: {
    double count = static_cast<double>(from[axis]), most = count * known.magnitude();
    bool exact = !isFloat(type) || (known.integral && most * roundingError(DataType::Float32) < 0.5);
    double error = exact ? 0 : 2 * count * roundingError(type) * most;
    add(emit("cumsum", x,
             {integer("axis", axis), flag("exclusive", chance(50)), flag("reverse", chance(50))}),
        isFloat(type) ? Bounds{-most, most, error, exact} : Bounds{-1e30, 1e30});
    return;
  }
  case 1: {
    Value values = emit("top_k", x,
                        {integer("k", pick(0, from[axis])), integer("axis", axis),
                         flag("largest", chance(50)), flag("sorted", chance(50))});
    if (!add(values, known))
      return;
    add(values.getDefiningOp()->getResult(1),
        {0, static_cast<double>(std::max<int64_t>(from[axis] - 1, 0)), 0, true});
    return;
  }
  case 2: {
    Shape at(from);
    for (int64_t &n : at)
      if (chance(40))
        n = pick(0, n);
    auto reduction = static_cast<tk::ScatterReduction>(oneOf({0, 0, 3, 4}));
    Value updates = partner(type, at);
    if (boundsOf(updates).error > 0 || (from[axis] == 0 && at[axis] > 0))
      return;
    Bounds u = boundsOf(updates);
    add(emit("scatter_elements", {x, indices(at, from[axis]), updates},
             {integer("axis", axis), choice<tk::ScatterReductionAttr>("reduction", reduction)}),
        {std::min(u.low, known.low), std::max(u.high, known.high), 0, u.integral && known.integral});
    return;
  }
  case 3: {
    auto count = pick(1, static_cast<int64_t>(from.size()));
    int64_t least = *std::min_element(from.begin(), from.begin() + count);
    Shape at = shape(pick(0, 2)), into(at);
    at.push_back(count);
    into.append(from.begin() + count, from.end());
    if (llvm::is_contained(from, 0))
      return;
    auto reduction = static_cast<tk::ScatterReduction>(oneOf({0, 0, 3, 4}));
    Value updates = partner(type, into);
    Bounds u = boundsOf(updates);
    if (u.error > 0)
      return;
    add(emit("scatter_nd", {x, indices(at, least), updates},
             {choice<tk::ScatterReductionAttr>("reduction", reduction)}),
        {std::min(u.low, known.low), std::max(u.high, known.high), 0, u.integral && known.integral});
    return;
  }
  default: {
    Shape kernel, strides, pads;
    if (from.size() < 3 || llvm::is_contained(from, 0))
      return;
    for (int64_t n : from.drop_front(2)) {
      kernel.push_back(pick(1, std::min<int64_t>(n, 3)));
      strides.push_back(pick(1, 2));
      pads.push_back(pick(0, kernel.back() - 1));
    }
    Value values =
        emit("max_pool_indices", x,
             {ints("kernel", kernel), ints("strides", strides), ints("dilations", Shape(kernel.size(), 1)),
              ints("pads_low", pads), ints("pads_high", pads), flag("column_major", chance(50))});
    if (!add(values, known))
      return;
    add(values.getDefiningOp()->getResult(1), {0, 1e9, 0, true});
  }
  }
}

void RandomGraph::sampling() {
  Value x = value([](Value v) {
    return isFloat(typeOf(v)) && typeOf(v) != DataType::BFloat16 && typeOf(v) != DataType::Float16 &&
           tk::tensorType(v).getRank() >= 3 && !llvm::is_contained(shapeOf(v), 0);
  });
  if (!x || domain == Domain::Special)
    return;
  DataType type = typeOf(x);
  auto from = shapeOf(x);
  Bounds known = boundsOf(x);
  // Positions are computed in float: an input of some 30 elements is off by 30 roundings times its slope.
  double error = known.error * 4 + known.magnitude() * 4e4 * roundingError(type);
  auto widened = [&](double factor) {
    return Bounds{-factor * known.magnitude(), factor * known.magnitude(), error, false};
  };
  Domain saved = std::exchange(domain, Domain::Reals);
  switch (pick(0, 2)) {
  case 0:
    if (from.size() <= 5) {
      Shape grid{from[0]};
      for (size_t i = 2; i < from.size(); ++i)
        grid.push_back(pick(1, 5));
      grid.push_back(static_cast<int64_t>(from.size()) - 2);
      auto padding = static_cast<tk::GridPadding>(pick(0, 2));
      add(emit("grid_sample", {x, fresh(type, grid, -2, 2, false)},
               {choice<tk::GridModeAttr>("mode", tk::GridMode::Linear),
                choice<tk::GridPaddingAttr>("padding", padding), flag("align_corners", chance(50))}),
          widened(1));
    }
    break;
  case 1:
    if (from.size() == 4) {
      int64_t count = pick(1, 3);
      Tensor rois(type, {count, 4});
      for (int64_t i = 0; i < count; ++i)
        for (int64_t c = 0; c < 4; ++c)
          rois.setDouble(i * 4 + c,
                         pickReal(0.1, 0.4) + (c > 1 ? static_cast<double>(from[c == 2 ? 3 : 2]) * 0.5 : 0));
      add(emit("roi_align",
               {x, constant(rois),
                fresh(DataType::Int64, {count}, 0, static_cast<double>(from[0] - 1), false)},
               {flag("max_mode", false), flag("half_pixel", chance(50)), integer("height", 2),
                integer("width", 3), integer("sampling_ratio", 2),
                b.getNamedAttr("spatial_scale", b.getF64FloatAttr(1.0))}),
          widened(1));
    }
    break;
  default: {
    Value matrix = fresh(type, {pick(1, 2), 3, 3}, -2, 2, false);
    add(emit("det", matrix), {-200, 200, 500 * roundingError(type), false});
  }
  }
  domain = saved;
}

Value RandomGraph::sameTypeAs(Value like) {
  for (int64_t i = pick(1, 4); i > 0; --i)
    anyOperator(false, true);
  return value([&](Value v) { return v.getType() == like.getType(); });
}

void RandomGraph::branch() {
  Value condition =
      value([](Value v) { return typeOf(v) == DataType::Bool && tk::tensorType(v).getNumElements() == 1; });
  if (!condition)
    condition = fresh(DataType::Bool, {});
  Region regions[2];
  Block *blocks[2] = {&regions[0].emplaceBlock(), &regions[1].emplaceBlock()};
  SmallVector<Value> models;
  for (int64_t i = pick(1, 2); i > 0; --i)
    models.push_back(anyValue());
  SmallVector<Bounds> all(models.size());
  for (int side : {0, 1}) {
    inside(*blocks[side], false, [&] {
      SmallVector<Value> yielded;
      for (auto [i, model] : llvm::enumerate(models)) {
        yielded.push_back(sameTypeAs(model));
        Bounds own = boundsOf(yielded.back());
        all[i] = side == 0 ? own
                           : Bounds{std::min(own.low, all[i].low), std::max(own.high, all[i].high),
                                    std::max(own.error, all[i].error), own.integral && all[i].integral};
      }
      b.create<tk::YieldOp>(loc, yielded);
    });
  }
  auto op = b.create<tk::IfOp>(loc, ValueRange(models).getTypes(), condition);
  op.getThenRegion().takeBody(regions[0]);
  op.getElseRegion().takeBody(regions[1]);
  for (auto [result, known] : llvm::zip(op.getResults(), all))
    add(result, known);
}

void RandomGraph::loop() {
  constexpr double most = 8;
  // Carried values stay in one interval and exact, whatever the number of iterations.
  SmallVector<Value> carried;
  for (int64_t i = pick(1, 3); i > 0; --i)
    if (Value v = value([&](Value v) { return boundsOf(v).error == 0; }))
      if (Value start = isFloat(typeOf(v)) ? clamp(v, -most, most) : v)
        carried.push_back(start);
  int64_t trips = pick(0, 4);
  bool scans = chance(50);
  Value limit, condition;
  if (scans || chance(70)) {
    Tensor count = Tensor::scalarInt(DataType::Int64, trips);
    if (chance(50) || isolated) {
      limit = constant(count);
    } else {
      limit = entry->addArgument(count.mlirType(b.getContext()), loc);
      inputs.push_back(count);
    }
  }
  bool stops = !scans && (!limit || chance(50));
  if (!scans && chance(50))
    condition = fresh(DataType::Bool, chance(50) ? Shape{} : Shape{1});
  Region region;
  Block &body = region.emplaceBlock();
  auto argument = [&](Type type, Bounds known) { bounds[body.addArgument(type, loc)] = known; };
  argument(RankedTensorType::get({}, b.getI64Type()), {0, 4, 0, true});
  argument(RankedTensorType::get({}, b.getI1Type()), {0, 1, 0, true});
  bool integral = domain == Domain::Integers;
  for (Value v : carried) {
    Bounds any = isFloat(typeOf(v)) ? Bounds{-most, most, 0, boundsOf(v).integral && integral}
                                    : Bounds{-1e30, 1e30, 0, true};
    if (!isFloat(typeOf(v))) {
      double size = static_cast<double>(byteSize(typeOf(v)) * 8);
      any = isUnsigned(typeOf(v)) ? Bounds{0, std::exp2(size), 0, true}
                                  : Bounds{-std::exp2(size), std::exp2(size), 0, true};
    }
    argument(v.getType(), any);
  }
  SmallVector<Bounds> scanBounds;
  SmallVector<Type> types(ValueRange(carried).getTypes());
  inside(body, false, [&] {
    SmallVector<Value> next;
    for (size_t i = 0; i < carried.size(); ++i) {
      BlockArgument own = body.getArgument(static_cast<unsigned>(i + 2));
      for (int64_t k = pick(0, 3); k > 0; --k)
        anyOperator(false, true);
      Value candidate = value([&](Value v) {
        Bounds known = boundsOf(v);
        return v.getType() == own.getType() && known.error == 0 &&
               (!isFloat(typeOf(v)) || known.integral || !boundsOf(own).integral);
      });
      if (candidate && isFloat(typeOf(candidate)))
        candidate = clamp(candidate, -most, most);
      next.push_back(candidate ? candidate : own);
    }
    Value goesOn;
    if (stops) {
      Value few = constant(Tensor::scalarInt(DataType::Int64, trips));
      goesOn = emit("compare", {body.getArgument(0), few},
                    {choice<tk::PredicateAttr>("predicate", tk::Predicate::Less)});
      // A carried flag may end the loop as well; with a limit it may be all that does.
      if (Value carriedFlag = value([&](Value v) {
            return typeOf(v) == DataType::Bool && tk::tensorType(v).getNumElements() == 1;
          })) {
        if (limit && chance(50))
          goesOn = carriedFlag;
        else if (chance(30) && tk::tensorType(carriedFlag).getRank() == 0)
          goesOn = emit("and", {goesOn, carriedFlag});
      }
    } else {
      goesOn = constant(Tensor::scalarInt(DataType::Bool, 1));
    }
    SmallVector<Value> yielded{goesOn};
    llvm::append_range(yielded, next);
    for (int64_t i = scans ? pick(1, 2) : 0; i > 0; --i) {
      Value row = anyValue();
      yielded.push_back(row);
      scanBounds.push_back(boundsOf(row));
      Shape shape{trips};
      llvm::append_range(shape, shapeOf(row));
      types.push_back(RankedTensorType::get(shape, tk::tensorType(row).getElementType()));
    }
    b.create<tk::YieldOp>(loc, yielded);
  });
  auto op = b.create<tk::LoopOp>(loc, types, limit, condition, carried, scans ? trips : 0);
  op.getBody().takeBody(region);
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    add(result, i < carried.size() ? boundsOf(op.getBody().getArgument(static_cast<unsigned>(i + 2)))
                                   : scanBounds[i - carried.size()]);
}

void RandomGraph::composite() {
  SmallVector<Value> operands;
  for (int64_t i = pick(1, 3); i > 0; --i)
    operands.push_back(anyValue());
  Region region;
  Block &body = region.emplaceBlock();
  for (Value operand : operands) {
    BlockArgument argument = body.addArgument(operand.getType(), loc);
    bounds[argument] = boundsOf(operand);
  }
  SmallVector<Value> yielded;
  SmallVector<Bounds> known;
  inside(body, true, [&] {
    if (chance(40)) // one heavy operator at most
      chance(50) ? matMul() : window();
    for (int64_t i = pick(1, 6); i > 0; --i)
      anyOperator(false, false);
    SmallVector<Value> made;
    for (Value v : visible)
      if (v.getParentBlock() == &body && v.getDefiningOp() && !v.getDefiningOp<tk::ConstantOp>())
        made.push_back(v);
    for (Value v : llvm::reverse(made))
      if (v.use_empty() && yielded.size() < 2)
        yielded.push_back(v), known.push_back(boundsOf(v));
    b.create<tk::YieldOp>(loc, yielded);
  });
  if (yielded.empty())
    return;
  auto op = b.create<tk::CompositeOp>(loc, ValueRange(yielded).getTypes(), operands, "Random");
  op.getBody().takeBody(region);
  for (auto [result, bound] : llvm::zip(op.getResults(), known))
    add(result, bound);
}

} // namespace tokamak::test
