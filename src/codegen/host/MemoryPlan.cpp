//===- MemoryPlan.cpp - where each value of the program lies
//----------------------------------------------===//
#include "codegen/host/MemoryPlan.h"
#include "analysis/WaveMembers.h"
#include <algorithm>

namespace tokamak::codegen {

using namespace mlir;

namespace {

bool byAddress(Value a, Value b) { return a.getAsOpaquePointer() < b.getAsOpaquePointer(); }

/// True for a value that memory is planned for (no view, no constant).
bool needsMemory(Value value) {
  return !value.getDefiningOp<tk::ReshapeOp>() && !value.getDefiningOp<tk::ConstantOp>();
}

/// The position in the function's results if `value` can be computed straight into the caller's buffer.
std::optional<int64_t> outputOf(func::FuncOp program, Value value) {
  auto *terminator = program.getBody().front().getTerminator();
  std::optional<int64_t> number;
  for (auto [i, operand] : llvm::enumerate(terminator->getOperands()))
    if (viewedValue(operand) == value && !number)
      number = static_cast<int64_t>(i);
  return number;
}

} // namespace

/// Positions in the order of execution; an operation with regions spans those inside. The kernels of a wave
/// have one position, so what one of them reads or writes is no place for what another one writes.
void MemoryPlan::number(Block &block) {
  for (Operation &op : block) {
    if (positions.contains(&op))
      continue;
    int64_t first = nextPosition++;
    if (isa<tk::IfOp, tk::LoopOp>(op))
      for (Region &region : op.getRegions())
        number(region.front());
    const std::pair<int64_t, int64_t> position = {first, nextPosition++};
    for (Operation *member : analysis::waveFrom(&op))
      positions[member] = position;
  }
}

int64_t MemoryPlan::lastUse(Value value) {
  int64_t last = 0;
  Region *home = value.getParentRegion();
  std::function<void(Value)> visit = [&](Value v) {
    for (Operation *user : v.getUsers()) {
      last = std::max(last, positions.lookup(user).second);
      // A use inside a loop happens again in each iteration.
      for (Operation *parent = user->getParentOp(); parent && home->isProperAncestor(user->getParentRegion());
           parent = parent->getParentOp()) {
        if (isa<tk::LoopOp>(parent) && home->isAncestor(parent->getParentRegion()))
          last = std::max(last, positions.lookup(parent).second);
        if (parent->getParentRegion() == home)
          break;
      }
      if (auto reshape = dyn_cast<tk::ReshapeOp>(user))
        visit(reshape.getResult());
    }
  };
  visit(value);
  return last;
}

Place MemoryPlan::placeOf(Value value) const {
  ViewAssignment::Location location = views.locate(value);
  Place place = places.at(location.base);
  place.bytes +=
      location.elements * static_cast<int64_t>(byteSize(*fromMlir(tk::tensorType(value).getElementType())));
  return place;
}

MemoryPlan::MemoryPlan(func::FuncOp program, const LayoutAssignment &layouts, const ViewAssignment &views)
    : views(views), places(byAddress) {
  Block &entry = program.getBody().front();
  number(entry);
  for (BlockArgument argument : entry.getArguments())
    places[argument] = {Place::Kind::Input, argument.getArgNumber()};

  std::vector<Interval> intervals;
  auto bytesOf = [&](Value value) {
    auto type = tk::tensorType(value);
    return layouts.layoutOf(value).physicalSize(type.getShape()) *
           static_cast<int64_t>(byteSize(*fromMlir(type.getElementType())));
  };
  auto inArena = [&](Value value, int64_t first, int64_t last) {
    intervals.push_back({bytesOf(value), first, last,
                         [this, value](int64_t offset) { places[value] = {Place::Kind::Arena, offset}; }});
  };
  program.walk([&](Operation *op) {
    if (op->getParentOfType<tk::FusionOp>() || op->getParentOfType<tk::CompositeOp>() || op == program)
      return;
    auto [first, end] = positions.lookup(op);
    for (Value result : op->getResults()) {
      if (!needsMemory(result) || views.locate(result).base != result)
        continue;
      if (auto output = outputOf(program, result)) {
        places[result] = {Place::Kind::Output, *output};
        continue;
      }
      int64_t begin = first, last = std::max(end, lastUse(result));
      for (Value part : views.partsOf(result)) {
        begin = std::min(begin, positions.lookup(part.getDefiningOp()).first);
        last = std::max(last, lastUse(part));
      }
      inArena(result, begin, last);
    }
    if (auto loop = dyn_cast<tk::LoopOp>(op)) {
      // The iteration number and the condition; carried values live in the loop's results.
      Block &body = loop.getBody().front();
      inArena(body.getArgument(0), first, end);
      inArena(body.getArgument(1), first, end);
      Operation *yield = body.getTerminator();
      for (size_t i = 0; i < loop.getCarried().size(); ++i) {
        auto source = dyn_cast<BlockArgument>(viewedValue(yield->getOperand(static_cast<unsigned>(1 + i))));
        bool isOtherCarried = source && source.getOwner() == &body && source.getArgNumber() != i + 2;
        if (isOtherCarried)
          intervals.push_back({bytesOf(loop.getCarried()[i]), first, end,
                               [this, op, i](int64_t offset) { staging[{op, i}] = offset; }});
      }
    }
  });
  pack(intervals);
  // Carried arguments show the loop's results, which now have their places.
  program.walk<WalkOrder::PreOrder>([&](tk::LoopOp loop) {
    Block &body = loop.getBody().front();
    for (size_t i = 0; i < loop.getCarried().size(); ++i)
      places[body.getArgument(static_cast<unsigned>(i + 2))] =
          places.at(loop.getResult(static_cast<unsigned>(i)));
  });
}

/// Greedy by size: each buffer takes the lowest gap among those placed before whose lives overlap its own
/// (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020).
void MemoryPlan::pack(std::vector<Interval> &intervals) {
  constexpr int64_t alignment = 64;
  struct Placed {
    int64_t offset, end, first, last;
  };
  std::stable_sort(intervals.begin(), intervals.end(), [](auto &a, auto &b) { return a.bytes > b.bytes; });
  std::vector<Placed> placed; // by offset
  for (Interval &interval : intervals) {
    int64_t bytes = (interval.bytes + alignment - 1) / alignment * alignment, offset = 0;
    for (const Placed &other : placed) {
      if (other.last < interval.first || interval.last < other.first)
        continue;
      if (other.offset >= offset + bytes)
        break;
      offset = std::max(offset, other.end);
    }
    Placed own{offset, offset + bytes, interval.first, interval.last};
    placed.insert(std::upper_bound(placed.begin(), placed.end(), own,
                                   [](const Placed &a, const Placed &b) { return a.offset < b.offset; }),
                  own);
    total = std::max(total, own.end);
    interval.assign(offset);
  }
}

} // namespace tokamak::codegen
