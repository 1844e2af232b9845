//===- IndexBoxes.cpp - loops over results in pieces, each with an expression of its own --------------===//
#include "codegen/kernel/IndexBoxes.h"
#include "codegen/kernel/ScratchFunction.h"

namespace tokamak::codegen {

using namespace mlir;

IndexBox IndexBox::whole(ArrayRef<int64_t> extents) {
  return {SmallVector<int64_t>(extents.size(), 0), SmallVector<int64_t>(extents)};
}

int64_t IndexBox::elements() const {
  int64_t product = 1;
  for (int64_t extent : extents)
    product *= extent;
  return product;
}

SmallVector<Index> IndexBox::absolute(IndexSpace &space, ArrayRef<Index> index) const {
  SmallVector<Index> result;
  for (auto [i, first] : llvm::zip_equal(index, begin))
    result.push_back(space.add(i, Index(first)));
  return result;
}

namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b > 0); }

/// Notes in `cuts` where on an axis it changes whether `index >= bound`: for all other indices at one place,
/// or for some of them at one and for all at another, with only what lies between left to ask.
void noteCuts(const IndexSpace &space, const Index &index, int64_t bound, ArrayRef<Index> axes,
              MutableArrayRef<std::set<int64_t>> cuts) {
  if (index.isConstant())
    return;
  auto [leading, factor] =
      *llvm::max_element(index.terms, [](const auto &a, const auto &b) { return a.second < b.second; });
  if (factor <= 0)
    return;
  Index rest = index;
  llvm::erase_if(rest.terms, [atom = leading](const auto &term) { return term.first == atom; });
  const Range others = space.range(rest);
  const IndexSpace::Atom &atom = space.atom(leading);
  for (int64_t place : {ceilDiv(bound - others.high, factor), ceilDiv(bound - others.low, factor)}) {
    if (place <= atom.range.low || place > atom.range.high)
      continue;
    if (atom.kind == IndexSpace::Kind::Quotient) // floor(x / d) >= place where x >= place * d
      noteCuts(space, atom.numerator, place * atom.divisor, axes, cuts);
    for (auto [axis, ofAxis] : llvm::zip_equal(axes, cuts))
      if (!axis.isConstant() && axis.terms.front().first == leading)
        ofAxis.insert(place);
  }
}

std::vector<IndexBox> cutAlong(ArrayRef<IndexBox> boxes, size_t axis, const std::set<int64_t> &cuts) {
  std::vector<IndexBox> result;
  for (IndexBox box : boxes) {
    const int64_t end = box.begin[axis] + box.extents[axis];
    for (auto cut = cuts.upper_bound(box.begin[axis]); cut != cuts.end() && *cut < end; ++cut) {
      IndexBox front = box;
      front.extents[axis] = *cut - box.begin[axis];
      result.push_back(std::move(front));
      box.begin[axis] = *cut, box.extents[axis] = end - *cut;
    }
    result.push_back(std::move(box));
  }
  return result;
}

} // namespace

SmallVector<size_t> collapses(ArrayRef<int64_t> extents) {
  SmallVector<size_t> numbers{std::min<size_t>(1, extents.size())};
  for (size_t number = 2; number <= extents.size(); ++number)
    if (extents[extents.size() - number] != 1)
      numbers.push_back(number);
  return numbers;
}

SmallVector<std::set<int64_t>> findCuts(MLIRContext *context, Location loc, ArrayRef<int64_t> extents,
                                        llvm::function_ref<void(ElementBuilder &, ArrayRef<Index>)> emit) {
  SmallVector<std::set<int64_t>> cuts(extents.size());
  if (llvm::is_contained(extents, 0))
    return cuts;
  ScratchFunction scratch(context, loc);
  IndexSpace space;
  ElementBuilder e(scratch.builder, loc, space, /*lanes=*/1);
  Value unknown = e.indexConstant(0); // code that is never lowered
  SmallVector<Index> axes;
  for (int64_t extent : extents)
    axes.push_back(extent < 2 ? Index(0) : space.uniform(unknown, 0, extent - 1));
  e.setRangeObserver([&](const Index &index, int64_t low, int64_t high) {
    for (int64_t bound : {low, high})
      noteCuts(space, index, bound, axes, cuts);
  });
  emit(e, axes);
  return cuts;
}

std::vector<IndexBox> cutWherePays(ArrayRef<int64_t> extents, ArrayRef<std::set<int64_t>> cuts,
                                   BoxCost costOf) {
  std::vector<IndexBox> boxes{IndexBox::whole(extents)};
  auto sum = [&](ArrayRef<IndexBox> all) {
    double cycles = 0;
    for (const IndexBox &box : all)
      cycles += costOf(box) + cyclesOfLoops;
    return cycles;
  };
  constexpr double worthCode = 0.9; // each box has its own
  double least = sum(boxes);
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    if (cuts[axis].empty())
      continue;
    std::vector<IndexBox> finer = cutAlong(boxes, axis, cuts[axis]);
    const double cycles = sum(finer);
    if (cycles >= worthCode * least)
      continue;
    boxes = std::move(finer), least = cycles;
  }
  return boxes;
}

} // namespace tokamak::codegen
