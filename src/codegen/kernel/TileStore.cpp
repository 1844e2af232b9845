//===- TileStore.cpp - results of a register tile whose lanes lie apart in memory ---------------===//
#include "codegen/kernel/TileStore.h"
#include "codegen/anchors/PackTransposed.h"
#include "codegen/kernel/AnchorOperands.h"
#include "codegen/kernel/VectorLoops.h"

namespace tokamak::codegen {

using namespace mlir;

/// The index in its result of the element in `lane`, with lanes along the columns from `first` on.
SmallVector<Index> TileStore::columnIndex(ElementBuilder &e, const Kept &first, int64_t lane) {
  IndexSpace &space = e.space();
  PointPlace place = placeOf(e, tk::tensorType(anchored).getShape(), first.point);
  size_t vectorAxis = first.point.before.size();
  place.index[vectorAxis] = space.add(space.scale(place.block, lanes), Index(lane));
  place.index.back() = space.add(place.index.back(), e.laneIndex());
  return indexInResult(space, anchored, place.index, results[first.number]);
}

bool TileStore::takes(ElementBuilder &e, const AccumulatorPoint &point, size_t number, Value element) {
  const Buffer &buffer = buffers[number];
  bool isAlone = kept.empty() && point.endsTile;
  if (lanes == 1 || isAlone || point.after.empty() || !isa<VectorType>(element.getType()) ||
      byteSize(buffer.type) > 4 || buffer.type == DataType::Bool)
    return false;
  Kept candidate{point, number};
  IndexSpace &space = e.space();
  PointPlace place = placeOf(e, tk::tensorType(anchored).getShape(), point);
  auto strideOf = [&](ArrayRef<Index> index) { return space.laneStride(positionIn(buffer, space, index)); };
  std::optional<int64_t> own = strideOf(indexInResult(space, anchored, place.index, results[number]));
  if (own == 0 || own == 1 || strideOf(columnIndex(e, candidate, 0)) != 1)
    return false;
  candidate.point.value = element;
  kept.push_back(std::move(candidate));
  return true;
}

void TileStore::store(ElementBuilder &e, ArrayRef<Kept> columns) {
  const Kept &first = columns.front();
  const Buffer &buffer = buffers[first.number];
  auto count = static_cast<int64_t>(columns.size());
  if (count == 1) {
    PointPlace place = placeOf(e, tk::tensorType(anchored).getShape(), first.point);
    e.setMask(first.point.validLanes < lanes ? firstLanes(e, first.point.validLanes) : Value());
    e.store(first.point.value, buffer,
            indexInResult(e.space(), anchored, place.index, results[first.number]));
    return;
  }
  LoopBuilder loops(e.builder(), e.location(), lanes);
  LoopBuilder::Values vectors;
  for (const Kept &column : columns)
    vectors.push_back(column.point.value);
  while (static_cast<int64_t>(vectors.size()) < lanes)
    vectors.push_back(first.point.value); // anything: nobody stores it
  transposeSquare(loops, vectors);
  e.setMask(count < lanes ? firstLanes(e, count) : Value());
  for (int64_t lane = 0; lane < first.point.validLanes; ++lane)
    e.store(vectors[static_cast<size_t>(lane)], buffer, columnIndex(e, first, lane));
}

void TileStore::storeAll(OpBuilder &builder, Location loc) {
  IndexSpace space;
  ElementBuilder e(builder, loc, space, lanes);
  auto follows = [](const Kept &a, const Kept &b) {
    auto sameOffset = [](const PointIndex &x, const PointIndex &y) {
      return x.base == y.base && x.offset == y.offset;
    };
    auto &before = a.point.after, &after = b.point.after;
    return a.number == b.number && sameOffset(a.point.block, b.point.block) &&
           std::equal(before.begin(), before.end() - 1, after.begin(), sameOffset) &&
           before.back().base == after.back().base && before.back().offset + 1 == after.back().offset;
  };
  // Points come column by column; those of one row and block, in order, are what is stored together.
  std::vector<std::vector<Kept>> groups;
  for (Kept &next : kept) {
    auto group = llvm::find_if(groups, [&](const std::vector<Kept> &columns) {
      return static_cast<int64_t>(columns.size()) < lanes && follows(columns.back(), next);
    });
    if (group == groups.end())
      groups.push_back({std::move(next)});
    else
      group->push_back(std::move(next));
  }
  kept.clear();
  for (const std::vector<Kept> &columns : groups)
    store(e, columns);
}

} // namespace tokamak::codegen
