//===- SimplifySlices.cpp - slices, concatenations and what they undo of each other ------------===//
// slice(slice), slice(concat) -> a slice of the one part that it lies in, or of fewer parts; slice(pad) that
// leaves out the padding; concat(concat); concat of neighbouring slices of one value -> one slice, or the
// value itself. Contract: exact, no element is computed.
#include "mlir/IR/PatternMatch.h"
#include "rewrite/Passes.h"
#include "rewrite/RewriteDriver.h"
#include "llvm/ADT/STLExtras.h"

namespace tokamak {
#define GEN_PASS_DEF_SIMPLIFYSLICES
#include "rewrite/Passes.h.inc"
} // namespace tokamak

using namespace mlir;
using namespace tokamak;

using Extents = llvm::SmallVector<int64_t>;

static Value createSlice(PatternRewriter &rewriter, Location loc, Type type, Value input,
                         ArrayRef<int64_t> starts, ArrayRef<int64_t> sizes, ArrayRef<int64_t> steps) {
  return rewriter.create<tk::SliceOp>(loc, type, input, starts, sizes, steps);
}

/// slice(slice(x)) -> slice(x).
static LogicalResult joinSlices(tk::SliceOp outer, PatternRewriter &rewriter) {
  auto inner = outer.getInput().getDefiningOp<tk::SliceOp>();
  if (!inner)
    return failure();
  Extents starts, steps;
  for (size_t axis = 0; axis < outer.getStarts().size(); ++axis) {
    starts.push_back(inner.getStarts()[axis] + outer.getStarts()[axis] * inner.getSteps()[axis]);
    // Of one element the step is not used; 1 lets equal slices be equal operators.
    steps.push_back(outer.getSizes()[axis] == 1 ? 1 : outer.getSteps()[axis] * inner.getSteps()[axis]);
  }
  // An empty slice starts where it likes, but in range.
  if (outer.getType().getNumElements() == 0)
    return failure();
  Location loc = mergeLocations(inner.getLoc(), outer.getLoc());
  rewriter.replaceOp(
      outer, createSlice(rewriter, loc, outer.getType(), inner.getInput(), starts, outer.getSizes(), steps));
  return success();
}

/// The parts of a concatenation that a forward slice meets, whole but the one where it lies in a single part.
static LogicalResult sliceParts(tk::SliceOp slice, PatternRewriter &rewriter) {
  auto concat = slice.getInput().getDefiningOp<tk::ConcatOp>();
  if (!concat || slice.getType().getNumElements() == 0)
    return failure();
  const auto axis = static_cast<size_t>(concat.getAxis());
  const int64_t step = slice.getSteps()[axis], first = slice.getStarts()[axis];
  const int64_t last = first + (slice.getSizes()[axis] - 1) * step;
  const int64_t low = std::min(first, last), high = std::max(first, last);

  llvm::SmallVector<Value> parts;
  int64_t begin = 0, end = 0, offset = 0; // of the part at hand; of the first that the slice meets
  for (Value part : concat.getInputs()) {
    end = begin + tk::tensorType(part).getDimSize(axis);
    if (begin <= high && low < end && end > begin) {
      if (parts.empty())
        offset = begin;
      parts.push_back(part);
    }
    begin = end;
  }
  if (parts.size() == concat.getInputs().size())
    return failure();
  // A concatenation of fewer parts is another copy where something else still needs all of them.
  if (parts.size() > 1 && !concat->hasOneUse())
    return failure();
  Location loc = mergeLocations(slice.getLoc(), concat.getLoc());
  Value source = parts.front();
  if (parts.size() > 1) {
    Extents shape(concat.getType().getShape());
    shape[axis] = 0;
    for (Value part : parts)
      shape[axis] += tk::tensorType(part).getDimSize(axis);
    source = rewriter.create<tk::ConcatOp>(concat.getLoc(), concat.getType().clone(shape), parts,
                                           concat.getAxis());
  }
  Extents starts(slice.getStarts());
  starts[axis] -= offset;
  rewriter.replaceOp(
      slice, createSlice(rewriter, loc, slice.getType(), source, starts, slice.getSizes(), slice.getSteps()));
  return success();
}

/// A slice that leaves out all padding is one of what was padded.
static LogicalResult sliceUnpadded(tk::SliceOp slice, PatternRewriter &rewriter) {
  auto pad = slice.getInput().getDefiningOp<tk::PadOp>();
  if (!pad || slice.getType().getNumElements() == 0)
    return failure();
  Extents starts;
  for (auto [axis, extent] : llvm::enumerate(tk::tensorType(pad.getInput()).getShape())) {
    const int64_t first = slice.getStarts()[axis] - pad.getLow()[axis];
    const int64_t last = first + (slice.getSizes()[axis] - 1) * slice.getSteps()[axis];
    if (std::min(first, last) < 0 || std::max(first, last) >= extent)
      return failure();
    starts.push_back(first);
  }
  Location loc = mergeLocations(slice.getLoc(), pad.getLoc());
  rewriter.replaceOp(slice, createSlice(rewriter, loc, slice.getType(), pad.getInput(), starts,
                                        slice.getSizes(), slice.getSteps()));
  return success();
}

/// Parts of a joined concatenation at most: code for one asks part after part.
static constexpr size_t mostParts = 64;

/// concat(.., concat(..), ..) -> concat, along one axis.
static LogicalResult joinConcats(tk::ConcatOp outer, PatternRewriter &rewriter) {
  llvm::SmallVector<Value> parts;
  Location loc = outer.getLoc();
  for (Value part : outer.getInputs()) {
    auto inner = part.hasOneUse() ? part.getDefiningOp<tk::ConcatOp>() : nullptr;
    if (!inner || inner.getAxis() != outer.getAxis() ||
        parts.size() + inner.getInputs().size() + outer.getInputs().size() > mostParts) {
      parts.push_back(part);
      continue;
    }
    llvm::append_range(parts, inner.getInputs());
    loc = mergeLocations(loc, inner.getLoc());
  }
  if (parts.size() == outer.getInputs().size())
    return failure();
  rewriter.replaceOp(outer, rewriter.create<tk::ConcatOp>(loc, outer.getType(), parts, outer.getAxis()));
  return success();
}

/// Whether `second` goes on in `axis` where `first` ends, both slices of one value.
static bool continues(tk::SliceOp first, tk::SliceOp second, size_t axis) {
  if (first.getInput() != second.getInput())
    return false;
  for (size_t i = 0; i < first.getStarts().size(); ++i) {
    const bool isSame = first.getStarts()[i] == second.getStarts()[i] &&
                        first.getSizes()[i] == second.getSizes()[i] &&
                        first.getSteps()[i] == second.getSteps()[i];
    const bool goesOn = first.getSteps()[i] == 1 && second.getSteps()[i] == 1 &&
                        second.getStarts()[i] == first.getStarts()[i] + first.getSizes()[i];
    if (i == axis ? !goesOn : !isSame)
      return false;
  }
  return true;
}

/// Neighbouring slices side by side in a concatenation are one slice.
static LogicalResult joinNeighbours(tk::ConcatOp concat, PatternRewriter &rewriter) {
  const auto axis = static_cast<size_t>(concat.getAxis());
  llvm::SmallVector<Value> parts;
  OperandRange inputs = concat.getInputs();
  for (size_t i = 0; i < inputs.size();) {
    auto first = inputs[i].getDefiningOp<tk::SliceOp>(), last = first;
    Location loc = inputs[i].getLoc();
    size_t end = i + 1;
    for (; first && end < inputs.size(); ++end) {
      auto next = inputs[end].getDefiningOp<tk::SliceOp>();
      if (!next || !continues(last, next, axis))
        break;
      loc = mergeLocations(loc, next.getLoc());
      last = next;
    }
    Value part = inputs[i];
    if (end > i + 1) {
      Extents sizes(first.getSizes());
      sizes[axis] = last.getStarts()[axis] + last.getSizes()[axis] - first.getStarts()[axis];
      part = createSlice(rewriter, loc, first.getType().clone(sizes), first.getInput(), first.getStarts(),
                         sizes, first.getSteps());
    }
    parts.push_back(part);
    i = end;
  }
  if (parts.size() == inputs.size())
    return failure();
  rewriter.replaceOp(
      concat, rewriter.create<tk::ConcatOp>(concat.getLoc(), concat.getType(), parts, concat.getAxis()));
  return success();
}

/// Parts without elements add nothing.
static LogicalResult dropEmptyParts(tk::ConcatOp concat, PatternRewriter &rewriter) {
  llvm::SmallVector<Value> parts;
  for (Value part : concat.getInputs())
    if (tk::tensorType(part).getDimSize(concat.getAxis()) != 0)
      parts.push_back(part);
  if (parts.empty() || parts.size() == concat.getInputs().size())
    return failure();
  rewriter.replaceOp(
      concat, rewriter.create<tk::ConcatOp>(concat.getLoc(), concat.getType(), parts, concat.getAxis()));
  return success();
}

namespace {
struct SimplifySlices : tokamak::impl::SimplifySlicesBase<SimplifySlices> {
  explicit SimplifySlices(PassStatePtr state) : state(std::move(state)) {}

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(joinSlices)
        .add(sliceParts)
        .add(sliceUnpadded)
        .add(joinConcats)
        .add(joinNeighbours)
        .add(dropEmptyParts);
    rewrite::applyRewrites(getOperation(), std::move(patterns), *state, getArgument());
  }

  PassStatePtr state;
};
} // namespace

std::unique_ptr<Pass> tokamak::createSimplifySlicesPass(PassStatePtr state) {
  return std::make_unique<SimplifySlices>(orFresh(std::move(state)));
}
