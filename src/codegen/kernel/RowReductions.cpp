//===- RowReductions.cpp - how the elements of a row are combined ----------------------------------===//
#include "codegen/kernel/RowReductions.h"
#include "codegen/expression/Combine.h"
#include "codegen/expression/ElementType.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <algorithm>

namespace tokamak::codegen {

using namespace mlir;

bool reducesContiguously(tk::ReduceOp reduce) {
  auto shape = tk::tensorType(reduce.getInput()).getShape();
  int64_t last = static_cast<int64_t>(shape.size()) - 1;
  while (last > 0 && shape[static_cast<size_t>(last)] == 1)
    --last;
  return llvm::is_contained(reduce.getAxes(), last);
}

namespace {

/// Independent chains that a reduction over loops is: an addition's result is late by as many cycles.
constexpr int64_t chains = 4;

class RowReduction {
public:
  RowReduction(RowTask &task, tk::ReduceOp reduce, const Buffer &memory)
      : task(task), reduce(reduce), memory(memory), k(task.k), plan(task.plan), space(task.space), e(task.e),
        type(elementOf(reduce.getInput())) {
    for (int64_t axis : reduce.getAxes())
      extents.push_back(tk::tensorType(reduce.getInput()).getShape()[static_cast<size_t>(axis)]);
  }

  bool emit() {
    if (reduce.getAxes().empty())
      return false;
    if (plan.lanesAreRows())
      plan.vectorsAtOnce > 1 ? emitColumns() : emitChains();
    else if (reducesContiguously(reduce))
      emitAlongRow();
    else if (isSumOfLines())
      emitSums();
    else
      return false;
    return true;
  }

private:
  /// Of the elements of the input that make up `index` of the result the one that `reduced` names.
  Value element(ElementBuilder &builder, ArrayRef<Index> index, ArrayRef<Index> reduced) {
    SmallVector<Index> at(tk::tensorType(reduce.getInput()).getShape().size());
    size_t next = 0, r = 0;
    for (size_t axis = 0; axis < at.size(); ++axis) {
      bool isReduced = llvm::is_contained(reduce.getAxes(), static_cast<int64_t>(axis));
      at[axis] = isReduced ? reduced[r++] : index[next];
      next += !isReduced || reduce.getKeepDims();
    }
    return builder.element(reduce.getInput(), at);
  }
  Value neutral() { return identity(e, reduce.getKind(), type); }
  Value combine(Value a, Value b) { return codegen::combine(e, reduce.getKind(), type, a, b); }

  /// Lanes run along the reduced axes: partial results a lane, combined at the end.
  void emitAlongRow() {
    ElementBuilder::Scope outerScope(e);
    task.forElements(reduce.getResult(), [&](ArrayRef<Index> index) {
      VectorNest nest;
      nest.lanes = k.lanes();
      nest.extents = extents;
      task.chooseCollapse(
          nest, [&](ElementBuilder &probe, ArrayRef<Index> reduced) { element(probe, index, reduced); });
      e.setLanes(nest.lanes);
      auto sums = emitNest(e, nest, {neutral()}, [&](ArrayRef<Index> reduced, ValueRange sum) {
        Value combined = combine(sum[0], element(e, index, reduced));
        if (e.mask())
          combined = k.builder.create<arith::SelectOp>(k.loc, e.mask(), combined, sum[0]);
        return SmallVector<Value>{combined};
      });
      Value total = combineLanes(e, reduce.getKind(), type, sums[0]);
      e.setLanes(1);
      e.store(e.round(total, type), memory, index);
    });
  }

  /// Loops over the reduced axes but the last, whose elements `add(first, count, sums)` takes several at
  /// once.
  using AddElements = function_ref<SmallVector<Value>(const Index &, int64_t, ValueRange)>;
  SmallVector<Value> forReduced(int64_t width, SmallVector<Index> &reduced, ValueRange carried,
                                AddElements add) {
    const int64_t extent = extents[reduced.size()];
    if (reduced.size() + 1 < extents.size())
      return e.loop(extent, carried, [&](const Index &i, ValueRange inner) {
        reduced.push_back(i);
        auto sums = forReduced(width, reduced, inner, add);
        reduced.pop_back();
        return sums;
      });
    SmallVector<Value> sums(carried);
    if (int64_t whole = extent / width)
      sums = e.loop(whole, sums, [&](const Index &i, ValueRange inner) {
        return add(space.scale(i, width), width, inner);
      });
    ElementBuilder::Scope scope(e);
    int64_t rest = extent % width;
    return rest ? add(Index(extent - rest), rest, sums) : sums;
  }

  /// Two by two.
  Value combineAll(SmallVector<Value> values) {
    while (values.size() > 1) {
      size_t half = (values.size() + 1) / 2;
      for (size_t i = 0; half + i < values.size(); ++i)
        values[i] = combine(values[i], values[half + i]);
      values.truncate(half);
    }
    return values.front();
  }

  /// Lanes are rows: several elements of the last reduced axis at once, each added to a sum of its own.
  void emitChains() {
    const int64_t width = std::clamp<int64_t>(extents.back(), 1, chains);
    task.forElements(reduce.getResult(), [&](ArrayRef<Index> index) {
      SmallVector<Index> reduced;
      SmallVector<Value> none(static_cast<size_t>(width), neutral());
      auto sums = forReduced(width, reduced, none, [&](const Index &first, int64_t count, ValueRange before) {
        SmallVector<Value> sums(before);
        for (int64_t i = 0; i < count; ++i) {
          reduced.push_back(space.add(first, Index(i)));
          auto &sum = sums[static_cast<size_t>(i)];
          sum = combine(sum, element(e, index, reduced));
          reduced.pop_back();
        }
        return sums;
      });
      task.storeWhole(e.round(combineAll(sums), type), memory, index);
    });
  }

  using SumBody = function_ref<void(ArrayRef<Index>)>;
  /// Vectors side by side, too many for registers: their sums are in scratch. Several lines at once, so that
  /// these are loaded and stored less often. `forSums(body)` calls `body` with the index of each vector of
  /// them; `hasRoom` says that behind a ragged one there is nothing that it must not touch.
  void emitLineByLine(bool hasRoom, function_ref<void(SumBody)> forSums) {
    auto store = [&](Value sum, ArrayRef<Index> at) {
      hasRoom ? task.storeWhole(sum, memory, at) : e.store(sum, memory, at);
    };
    const int64_t width = std::clamp<int64_t>(extents.back(), 1, chains);
    forSums([&](ArrayRef<Index> at) { store(neutral(), at); });
    SmallVector<Index> reduced;
    forReduced(width, reduced, {}, [&](const Index &first, int64_t count, ValueRange) {
      forSums([&](ArrayRef<Index> at) {
        SmallVector<Value> elements;
        for (int64_t i = 0; i < count; ++i) {
          reduced.push_back(space.add(first, Index(i)));
          elements.push_back(element(e, at, reduced));
          reduced.pop_back();
        }
        Value sum = combineAll(elements);
        store(combine(e.load(memory, at), sum), at);
      });
      return SmallVector<Value>();
    });
  }

  /// Lanes are columns, a task's in a row.
  void emitColumns() {
    task.forScalars(plan.innerExtents(reduce.getResult()), [&](ArrayRef<Index> inner) {
      emitLineByLine(/*hasRoom=*/true, [&](SumBody body) {
        task.forVectors([&] { body(task.rowIndex(reduce.getResult(), inner)); });
      });
    });
  }

  /// Lanes run along the sums, which are contiguous inside a row.
  void emitSums() {
    VectorNest nest;
    nest.extents = plan.innerExtents(reduce.getResult());
    nest.lanes = k.lanes();
    ElementBuilder::Scope scope(e);
    const bool hasRoom = nest.innerExtent() == plan.innerElements(reduce.getResult());
    emitLineByLine(hasRoom, [&](SumBody body) {
      emitNest(e, nest, {}, [&](ArrayRef<Index> inner, ValueRange) {
        body(task.rowIndex(reduce.getResult(), inner));
        return SmallVector<Value>();
      });
    });
    e.setLanes(1);
  }

  /// Whether the sums had better be in memory: a loop for each of them would walk through the lines by
  /// columns.
  bool isSumOfLines() {
    constexpr int64_t fewestLines = 4, fewestVectors = 4;
    int64_t lines = 1;
    for (int64_t extent : extents)
      lines *= extent;
    SmallVector<int64_t> sums = plan.innerExtents(reduce.getResult());
    while (!sums.empty() && sums.back() == 1)
      sums.pop_back();
    return lines >= fewestLines && !sums.empty() &&
           sums.size() == plan.innerExtents(reduce.getResult()).size() &&
           sums.back() >= fewestVectors * k.lanes() && byteSize(elementOf(reduce.getResult())) >= 4;
  }

  RowTask &task;
  tk::ReduceOp reduce;
  const Buffer &memory;
  KernelContext &k;
  const RowPlan &plan;
  IndexSpace &space;
  ElementBuilder &e;
  DataType type;
  SmallVector<int64_t> extents; ///< of the reduced axes, in order
};

} // namespace

bool emitRowReduction(RowTask &task, tk::ReduceOp reduce, const Buffer &memory) {
  return RowReduction(task, reduce, memory).emit();
}

} // namespace tokamak::codegen
